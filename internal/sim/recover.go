package sim

import (
	"slices"
	"time"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/internal/sim/coordinator"
)

// heal ends all faults.
func (w *world) heal() {
	w.note("the faults end")
	w.faulty, w.settling = false, true
	w.confusedTill = time.Time{}
	for _, b := range w.brokers {
		w.revive(b)
	}
	if w.home == nil {
		w.succeed()
	}
	if w.home.group == nil {
		w.appoint(w.home, 0)
	}
	for _, p := range slices.Clone(w.processes) {
		p.cutOff = false
		p.app.stuckTill, p.app.slowTill = time.Time{}, time.Time{}
		p.resume()
		p.step(groupmember.Asked{})
		for _, l := range p.links {
			if l.broken && !(l.silent && l.holding() && p.member.Status().MemberID != "") {
				w.after(w.notice(), func() { l.close("connection reset") })
			}
		}
	}
	w.occupy(w.seats[0])
}

// holding reports whether the process waits for something that it may believe to
// be held. That must end even if nothing is ever heard of the connection; only a
// first join has nothing else.
func (l *link) holding() bool {
	return slices.ContainsFunc(l.open, func(c *call) bool { return mayBeHeld(c.req) })
}

// patience is by when the group must have recovered: connections that are broken are
// noticed, sessions of those who are gone have ended, and a few rounds have passed.
func (w *world) patience() time.Duration {
	return 15*time.Second + 2*w.plan.session + 3*w.plan.rebalance
}

// calmFor is how long nothing may happen once the group has recovered.
const calmFor = 6 * time.Second

// settled is how long the group must look as if it were at rest to count as
// recovered: by then every member has heard from the coordinator.
const settled = 4 * time.Second

// recover says that the group comes to rest and stays so.
func (w *world) recover() {
	end := w.now.Add(w.patience())
	for since := w.now; w.violation == "" && w.now.Sub(since) < settled; {
		w.until(500 * time.Millisecond)
		w.occupy(w.seats[0]) // it may have been leaving
		unrest := w.unrest()
		if unrest == "" {
			continue
		}
		since = w.now
		if since.After(end) && w.owing {
			w.owing, end = false, since.Add(w.patience())
			w.rejoin()
		}
		if since.After(end) {
			w.fail("the group has not recovered %v after the faults: %s", w.patience(), unrest)
		}
	}
	if w.violation == "" {
		w.note("the group has recovered")
		w.rest()
	}
}

// rest says that nothing happens any more but work.
func (w *world) rest() {
	generation := w.home.group.Generation()
	before := make([]int64, len(w.parts))
	for i, at := range w.parts {
		before[i] = w.log.Offset(at.topic, at.id)
	}
	for _, p := range w.processes {
		p.beats = 0
	}
	w.until(calmFor)
	if now := w.home.group.Generation(); w.violation == "" && now != generation {
		w.fail("the group goes from generation %d to %d although nothing happens", generation, now)
	}
	for _, p := range w.processes {
		p.checkRest()
	}
	for i, at := range w.parts {
		if w.violation == "" && w.wanted(at) && w.log.Offset(at.topic, at.id) <= before[i] {
			w.fail("no commits arrive for %v", at)
		}
	}
}

// rejoin is somebody's wish for a new round. It is needed where a static
// cooperative member went away between a round and the one that it owed to the
// group, or lost its member ID there: whoever takes its place gets the assignment of
// the first round, and the coordinator does not mind. So it is where a topic grew while a
// static leader was away, which comes back to the plan that is in place.
func (w *world) rejoin() {
	for _, p := range slices.Clone(w.processes) { // a follower's may come to nothing
		p.step(groupmember.Rejoin{Why: "user enforced rebalance"})
	}
}

// unrest says what keeps the group from being at rest.
func (w *world) unrest() string {
	for _, p := range w.processes {
		switch {
		case p.seat.contested:
			return p.name + " has a rival for its instance ID"
		case p.leaving:
			return p.name + " has not left"
		case p.state != groupmember.Stable:
			return p.name + " is " + p.state.String()
		case p.seat.pattern && !slices.Equal(p.seat.topics, w.counts.existing()):
			return p.name + " has not seen the new topic"
		case !slices.Equal(p.app.offered, p.seat.topics):
			return p.name + " has not told the group what it subscribes to"
		case p.app.suspended:
			return p.name + " is suspended"
		case len(p.app.revokes) > 0:
			return p.name + " still lets go"
		}
	}
	if w.home.group == nil || w.home.group.State() != coordinator.Stable {
		return "the coordinator's group is not stable"
	}
	if w.home.group.Size() != len(w.processes) {
		return "the coordinator counts members in that are gone"
	}
	for _, p := range w.processes {
		if status := p.member.Status(); status.Generation != w.home.group.Generation() || !w.home.group.Has(status.MemberID) {
			return p.name + " is not a member of the present generation"
		}
	}
	for part, at := range w.parts {
		if n := len(w.owners[part]); w.wanted(at) && n != 1 {
			return at.String() + " does not have one owner"
		}
	}
	return ""
}

// wanted reports whether there is a partition and somebody who subscribes to it.
func (w *world) wanted(at place) bool {
	return w.exists(at) && slices.ContainsFunc(w.processes, func(p *process) bool { return contains(p.seat.topics, at.topic) })
}
