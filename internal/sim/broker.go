package sim

import (
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/internal/sim/coordinator"
)

// broker is one node. At most one has the group loaded.
type broker struct {
	id    int
	up    bool
	group *coordinator.Group
	timer time.Time
	held  []*call // to be answered by the group
}

// serve has the broker answer a call, now or later.
func (w *world) serve(c *call) {
	b := c.link.broker
	if join, ok := c.req.(*kmsg.JoinGroupRequest); ok && join.MemberID != "" && w.now.Before(w.confusedTill) {
		w.reply(c, coordinator.Refuse(join, kerr.UnknownMemberID.Code))
		return
	}
	if b.group != nil {
		b.held = append(b.held, c)
		w.send(b, b.group.Ask(w.now, c.id, c.req, nil))
		return
	}
	code := kerr.NotCoordinator.Code
	if w.home == b {
		code = kerr.CoordinatorLoadInProgress.Code
		if _, beat := c.req.(*kmsg.HeartbeatRequest); beat {
			c.by = blindfold
		}
	}
	w.reply(c, coordinator.Refuse(c.req, code))
}

// send brings the group's answers on their way.
func (w *world) send(b *broker, answers []coordinator.Answer) {
	for _, a := range answers {
		for i, c := range b.held {
			if c.id == a.Call {
				if accepts(a.Resp) {
					c.by = knowing
				}
				b.held = append(b.held[:i], b.held[i+1:]...)
				w.reply(c, a.Resp)
				break
			}
		}
	}
	w.watchGroup(b)
	w.interrupt(b)
}

// interrupt has the group move, now and then, in the middle of a round: what the coordinator
// knows of it is lost.
func (w *world) interrupt(b *broker) {
	if w.faulty && b.group != nil && b.group.State() == coordinator.Completing && w.random.IntN(100) == 0 {
		w.after(w.between(0, 10*time.Millisecond), func() {
			if w.faulty && w.home == b {
				w.move()
			}
		})
	}
}

// accepts reports whether the coordinator says that the member is one.
func accepts(resp kmsg.Response) bool {
	switch resp := resp.(type) {
	case *kmsg.JoinGroupResponse:
		return resp.ErrorCode == 0
	case *kmsg.SyncGroupResponse:
		return resp.ErrorCode == 0
	case *kmsg.HeartbeatResponse:
		return resp.ErrorCode == 0 || resp.ErrorCode == kerr.RebalanceInProgress.Code
	}
	return false
}

// accepted reports whether an answer says to a member that it is one.
func accepted(resp kmsg.Response) bool {
	if commit, ok := resp.(*kmsg.OffsetCommitResponse); ok {
		for _, t := range commit.Topics {
			for _, p := range t.Partitions {
				if p.ErrorCode == 0 {
					return true
				}
			}
		}
	}
	return accepts(resp)
}

// watchGroup plans the next thing that the group does by itself.
func (w *world) watchGroup(b *broker) {
	if b.group == nil {
		return
	}
	at := b.group.Deadline()
	if at.IsZero() || at.Equal(b.timer) {
		return
	}
	b.timer = at
	group := b.group
	w.at(at, func() {
		if b.group == group && b.timer.Equal(at) {
			b.timer = time.Time{}
			w.send(b, group.Elapsed(w.now, nil))
		}
	})
}

// appoint makes b the coordinator. It has the group after a while.
func (w *world) appoint(b *broker, loading time.Duration) {
	w.note("broker %d becomes the coordinator, loaded in %v", b.id, loading)
	w.home = b
	w.moves++
	w.after(loading, func() {
		if w.home == b && b.up && b.group == nil {
			w.note("broker %d has loaded the group", b.id)
			b.timer = time.Time{}
			b.group = coordinator.Load(&w.log, w.plan.initialDelay, w.now)
			w.watchGroup(b)
		}
	})
}

// dismiss takes the group from the coordinator, in good order.
func (w *world) dismiss(b *broker) {
	if b.group == nil {
		return
	}
	answers := b.group.Unload()
	w.send(b, answers)
	b.group, b.held = nil, nil
}

// kill ends a broker and all its connections.
func (w *world) kill(b *broker) {
	w.note("broker %d dies", b.id)
	b.up, b.group, b.held = false, nil, nil
	for _, p := range w.processes {
		for _, l := range p.links {
			if l.broker == b && !l.broken {
				l.queue = nil
				w.breakLink(l, w.notice())
				for _, c := range l.open {
					c.lost = true
				}
			}
		}
	}
}

func (w *world) revive(b *broker) {
	if !b.up {
		w.note("broker %d is back", b.id)
		b.up = true
		if w.home == nil {
			w.appoint(b, w.loading())
		}
	}
}

// find looks the coordinator up, at any broker. What brokers know of it may be
// old.
func (p *process) find(a groupmember.Find) {
	w := p.world
	ev := groupmember.Found{Seq: a.Seq}
	home := w.home
	if w.faulty && w.random.IntN(4) == 0 {
		home = w.brokers[w.random.IntN(len(w.brokers))]
	}
	switch {
	case p.cutOff:
		ev.Failure = groupmember.Failure{Kind: groupmember.Unreachable, Text: "no broker answers"}
	case home == nil:
		ev.Code = kerr.CoordinatorNotAvailable.Code
	}
	w.after(w.delay()+w.delay(), func() {
		if ev.Code == 0 && !ev.Failure.Failed() {
			p.coordinator = home
		}
		p.deliver(ev, nil)
	})
}
