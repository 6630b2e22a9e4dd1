package sim

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// trouble makes something happen, and again after a while.
func (w *world) trouble() {
	w.after(time.Duration(w.random.ExpFloat64()*float64(w.plan.rhythm)), func() {
		if w.now.Sub(epoch) >= w.plan.storm {
			return
		}
		if w.faulty && w.random.IntN(3) > 0 {
			w.fault()
		} else {
			w.wish()
		}
		w.trouble()
	})
}

// wish is what people may do to a group at any time.
func (w *world) wish() {
	s := w.seats[w.random.IntN(len(w.seats))]
	p := s.process
	if p == nil {
		w.occupy(s)
		return
	}
	switch n := w.random.IntN(10); {
	case n < 1:
		w.insist(p)
	case n < 4:
		p.run(func() { p.step(groupmember.Rejoin{Why: "user enforced rebalance"}) })
	case n < 5 && w.counts != w.plan.partitions:
		w.grow()
	case n < 6 && p.config.InstanceID == "" && !s.pattern: // a static member that comes back is not asked what it wants
		p.run(func() {
			s.topics = w.subscription()
			p.step(groupmember.Rejoin{Why: "subscription has changed"})
		})
	case n < 8:
		p.run(func() { p.leave() })
	default:
		p.app.slowTill = w.now.Add(w.between(0, 20*time.Second))
	}
}

// insist has the application want one round after the other.
func (w *world) insist(p *process) {
	for range 2 + w.random.IntN(20) {
		w.after(w.between(0, 2*time.Second), func() {
			p.run(func() { p.step(groupmember.Rejoin{Why: "user enforced rebalance"}) })
		})
	}
}

// fault is what happens to a group that nobody wants.
func (w *world) fault() {
	s := w.seats[w.random.IntN(len(w.seats))]
	p := s.process
	if p == nil {
		w.occupy(s)
		return
	}
	switch n := w.random.IntN(100); {
	case n < 40:
		if len(p.links) > 0 {
			l := p.links[w.random.IntN(len(p.links))]
			w.note("%s loses its %v connection to broker %d", p.name, l.route, l.broker.id)
			w.breakLink(l, w.notice())
		}
	case n < 50:
		w.cutOff(p)
	case n < 60:
		p.pause()
		w.after(w.between(0, 15*time.Second), p.resume)
	case n < 66:
		p.crash()
		w.after(w.between(0, 12*time.Second), func() {
			if !w.settling {
				w.occupy(s)
			}
		})
	case n < 72:
		w.note("%s does not ask for records for a while", p.name)
		p.app.stuckTill = w.now.Add(w.between(time.Second, 30*time.Second))
	case n < 75 && p.config.InstanceID != "":
		w.start(s) // and the one before is fenced
	case n < 80 || w.plan.sluggish && n < 84:
		w.expel(p)
	case n < 88:
		w.move()
	case n < 89:
		w.note("the coordinator is confused")
		w.confusedTill = w.now.Add(w.between(0, 5*time.Second))
	default:
		w.killSomeBroker()
	}
}

// notice is how long a process takes to notice that a connection is broken.
func (w *world) notice() time.Duration {
	if w.faulty && w.random.IntN(8) == 0 {
		return never
	}
	if w.faulty && w.random.IntN(4) == 0 {
		return w.between(0, 12*time.Second)
	}
	return w.between(0, 20*time.Millisecond)
}

func (w *world) loading() time.Duration {
	if w.faulty {
		return w.between(0, 3*time.Second)
	}
	return 0
}

// cutOff takes a process off the network for a while.
func (w *world) cutOff(p *process) {
	w.note("%s is cut off", p.name)
	p.cutOff = true
	for _, l := range p.links {
		w.breakLink(l, w.notice())
	}
	w.after(w.between(0, 15*time.Second), func() { p.cutOff = false })
}

// expel is an administrator who removes a member from the group.
func (w *world) expel(p *process) {
	id := p.member.Status().MemberID
	if w.home == nil || w.home.group == nil || !w.home.group.Has(id) {
		return
	}
	w.note("%s is removed from the group", p.name)
	p.removed = id
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Version = 5
	member := kmsg.NewLeaveGroupRequestMember()
	member.MemberID = id
	req.Members = append(req.Members, member)
	w.send(w.home, w.home.group.Ask(w.now, 0, req, nil))
}

// move gives the group to another broker in good order.
func (w *world) move() {
	from := w.home
	if from == nil {
		return
	}
	to := w.brokers[(from.id+1)%len(w.brokers)]
	if !to.up {
		return
	}
	w.dismiss(from)
	w.appoint(to, w.loading())
}

func (w *world) killSomeBroker() {
	b := w.brokers[w.random.IntN(len(w.brokers))]
	if !b.up {
		return
	}
	w.kill(b)
	if w.home == b {
		w.home = nil
		w.after(w.between(0, 3*time.Second), w.succeed)
	}
	w.after(w.between(time.Second, 15*time.Second), func() { w.revive(b) })
}

// succeed makes a broker that is up the coordinator if there is none.
func (w *world) succeed() {
	for _, b := range w.brokers {
		if w.home == nil && b.up {
			w.appoint(b, w.loading())
		}
	}
}

// occupy starts a process in a seat that is free.
func (w *world) occupy(s *seat) {
	if s.process == nil {
		w.start(s)
	}
}

// leave asks the member to leave. Its caller may not want to wait for long.
func (p *process) leave() {
	w := p.world
	p.step(groupmember.Leave{Why: "consumer being closed", Remain: !w.plan.calm && w.random.IntN(4) == 0})
	if !w.plan.calm && w.random.IntN(2) == 0 {
		w.after(w.between(0, 8*time.Second), func() { p.run(func() { p.step(groupmember.Abandon{}) }) })
	}
}
