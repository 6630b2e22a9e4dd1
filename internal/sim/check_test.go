package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/internal/sim/coordinator"
)

// The checks find what they are for: each is shown a world in which it is
// broken.
func TestChecksFindWhatTheyAreFor(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(w *world, a, b *process)
		want string
	}{
		{"two owners", func(w *world, a, b *process) {
			part := ownedBy(t, a)
			b.app.parts[part].owned = true
			b.app.count++
			w.given(b, part, 99)
			w.check(b)
		}, "both own"},
		{"delivery after a loss", func(w *world, a, b *process) {
			part := ownedBy(t, a)
			w.given(b, part, 99)
			w.delivered(a, part)
		}, "delivers from"},
		{"undone offset", func(w *world, a, _ *process) {
			a.checkCommit(ownedBy(t, a), 1_000_000, a.syncedIn)
		}, "has done less"},
		{"offset going back", func(w *world, _, _ *process) { w.offsetStored("orders", 0, 5, 4) }, "goes back"},
		{"second JoinGroup", func(_ *world, a, _ *process) { a.send(joinOf(a)); a.send(joinOf(a)) }, "while another one is open"},
		{"join storm", func(_ *world, a, _ *process) {
			for range storm + 1 {
				a.checkJoin(joinOf(a).Req.(*kmsg.JoinGroupRequest))
			}
		}, "within a second"},
		{"late delivery", func(w *world, a, _ *process) {
			a.heard = w.now.Add(-a.config.SessionTimeout)
			w.delivered(a, ownedBy(t, a))
		}, "has accepted nothing"},
		{"commit that nobody asked for", func(w *world, a, _ *process) {
			part := ownedBy(t, a)
			a.app.commits = nil
			a.checkCommit(part, a.app.parts[part].most, a.syncedIn)
		}, "was not asked for"},
		{"commit of another's partition", func(w *world, a, b *process) {
			part := ownedBy(t, b)
			a.app.parts[part].most, a.app.parts[part].hadIn = 7, -1
			a.app.commits = []request{{parts: []int{part}, offsets: []groupmember.Offset{{Topic: w.parts[part].topic, Partition: w.parts[part].id, Next: 7}}}}
			a.checkCommit(part, 7, a.syncedIn)
		}, "which it does not have"},
		{"request behind a held one", func(_ *world, a, _ *process) {
			a.send(joinOf(a))
			a.send(groupmember.Send{Seq: a.last + 2, Req: kmsg.NewPtrHeartbeatRequest()})
		}, "over the group connection"},
		{"nameless request", func(_ *world, a, _ *process) {
			a.send(groupmember.Send{Seq: a.last + 1, Req: kmsg.NewPtrHeartbeatRequest()})
		}, `as member ""`},
		{"join without a reason", func(_ *world, a, _ *process) {
			join := joinOf(a)
			join.Req.(*kmsg.JoinGroupRequest).Reason = nil
			a.send(join)
		}, "without a reason"},
		{"eager owner that joins", func(_ *world, a, _ *process) {
			a.config.Cooperative = false
			a.send(joinOf(a))
		}, "is eager and joins"},
		{"old question", func(_ *world, a, _ *process) { a.asked(a.last) }, "asks question"},
		{"flood", func(_ *world, a, _ *process) {
			for range flood + 1 {
				a.asked(a.last + 1)
			}
		}, "more than 80 times"},
		{"cancellation of nothing", func(_ *world, a, _ *process) { a.onCancel(a.last + 1) }, "which is not open"},
		{"illegal move", func(_ *world, a, _ *process) {
			a.checkMove(groupmember.Moved{From: groupmember.Stable, To: groupmember.Joining})
		}, "moves from Stable to Joining"},
		{"untrue subscription", func(_ *world, a, _ *process) {
			a.checkEncode(groupmember.Encode{Generation: a.assignedIn})
		}, "joins as owner of"},
		{"untold assignment", func(_ *world, a, _ *process) {
			a.checkAssigned(groupmember.Assigned{Generation: a.assignedIn})
		}, "is told that it owns"},
		{"partition taken back twice", func(w *world, a, _ *process) {
			part := ownedBy(t, a)
			one := groupmember.Partitions{w.parts[part].topic: {w.parts[part].id}}
			a.app.revoke(groupmember.Revoke{Seq: a.last + 1, Partitions: one})
			a.app.revoke(groupmember.Revoke{Seq: a.last + 2, Partitions: one})
		}, "taken back twice"},
		{"loss of a part", func(w *world, a, _ *process) {
			a.app.revoke(groupmember.Revoke{Seq: a.last + 1, Lost: true})
		}, "of what it owns"},
		{"cooperative member that lets go to join", func(w *world, a, _ *process) {
			part := ownedBy(t, a)
			a.config.Cooperative, a.state = true, groupmember.Releasing
			a.app.revoke(groupmember.Revoke{Seq: a.last + 1, Partitions: groupmember.Partitions{w.parts[part].topic: {w.parts[part].id}}})
		}, "is cooperative and lets go"},
		{"partition given back that was assigned", func(w *world, a, _ *process) {
			part := ownedBy(t, a)
			a.state = groupmember.Yielding
			a.app.revoke(groupmember.Revoke{Seq: a.last + 1, Partitions: groupmember.Partitions{w.parts[part].topic: {w.parts[part].id}}})
		}, "which it was assigned again"},
		{"trust without end", func(w *world, a, _ *process) {
			ownedBy(t, a)
			w.now = w.now.Add(time.Hour)
			a.checkStep()
		}, "has not been suspended"},
		{"application that asks for nothing", func(w *world, a, _ *process) {
			a.config.PollInterval, a.polled = time.Second, w.now.Add(-time.Minute)
			a.checkStep()
		}, "was not asked for records"},
		{"suspended twice", func(_ *world, a, _ *process) {
			ownedBy(t, a)
			a.app.suspend(true)
			a.app.suspend(true)
		}, "for nothing"},
		{"look-up of the future", func(w *world, a, _ *process) {
			part := ownedBy(t, a)
			a.app.lookups = []request{{ticket: 99, parts: []int{part}, stored: []int64{-1}}}
			a.app.lookedUp(groupmember.LookedUp{Ticket: 99, Results: []groupmember.OffsetResult{
				{Offset: groupmember.Offset{Topic: w.parts[part].topic, Partition: w.parts[part].id, Next: 1_000_000}},
			}})
		}, "is told that"},
		{"exit that answers nobody", func(_ *world, a, _ *process) {
			a.leaving = true
			a.app.commits = append(a.app.commits, request{ticket: 99})
			a.exit(groupmember.Failure{})
		}, "unanswered"},
		{"exit without a word", func(_ *world, a, _ *process) {
			a.leaving = true
			a.app.commits, a.app.lookups = nil, nil
			a.exit(groupmember.Failure{})
		}, "has not been told"},
		{"slow leave", func(w *world, a, _ *process) {
			a.leaving, a.leftAs, a.freeSince = true, "m", w.now.Add(-time.Second)
			a.app.commits, a.app.lookups = nil, nil
			w.home.group = coordinator.Load(&coordinator.Log{}, 0, w.now)
			a.exit(groupmember.Failure{})
		}, "to leave after"},
		{"heartbeats without an end", func(_ *world, a, _ *process) {
			a.beats = 99
			a.checkRest()
		}, "sends 99 heartbeats"},
		{"ticket without an answer", func(w *world, a, _ *process) {
			a.beats = 1
			a.app.commits = append(a.app.commits, request{ticket: 99, at: w.now.Add(-calmFor)})
			a.checkRest()
		}, "has not answered ticket 99"},
		{"exit without a reason", func(_ *world, a, _ *process) {
			a.exit(groupmember.Failure{Kind: groupmember.Unreachable})
		}, "exits by itself"},
		{"needless loss", func(w *world, a, _ *process) { w.needless(a, "lost") }, "nothing went wrong"},
		{"unowned partition", func(w *world, a, _ *process) {
			part := ownedBy(t, a)
			w.dropped(a, part)
			w.recover()
		}, "does not have one owner"},
		{"group without rest", func(w *world, a, _ *process) {
			a.pause()
			w.recover()
		}, "although nothing happens"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := calmWorld(t)
			c.harm(w, w.processes[0], w.processes[1])
			require.Contains(t, w.violation, c.want)
		})
	}
}

// calmWorld returns a group without faults that has come to rest, of two cooperative members or
// more that own something.
func calmWorld(t *testing.T) *world {
	for seed := range uint64(10_000) {
		w := newWorld(seed, nil)
		if !w.plan.calm || len(w.seats) < 2 || !w.seats[0].config.Cooperative || w.plan.beginning[0] < 4 {
			continue
		}
		w.appoint(w.brokers[0], 0)
		for _, s := range w.seats {
			w.occupy(s)
		}
		w.until(w.patience())
		require.Empty(t, w.violation)
		require.Empty(t, w.unrest())
		return w
	}
	require.FailNow(t, "no such group")
	return nil
}

func ownedBy(t *testing.T, p *process) int {
	for i := range p.app.parts {
		if p.app.parts[i].owned {
			return i
		}
	}
	require.FailNow(t, p.name+" owns nothing")
	return 0
}

// joinOf is a JoinGroup that p may send.
func joinOf(p *process) groupmember.Send {
	req := kmsg.NewPtrJoinGroupRequest()
	reason := "made up"
	req.Reason = &reason
	if id := p.config.InstanceID; id != "" {
		req.InstanceID = &id
	}
	req.SessionTimeoutMillis = int32(p.config.SessionTimeout.Milliseconds())
	req.RebalanceTimeoutMillis = int32(p.config.RebalanceTimeout.Milliseconds())
	return groupmember.Send{Seq: p.last + 1, Route: groupmember.RouteGroup, Req: req}
}
