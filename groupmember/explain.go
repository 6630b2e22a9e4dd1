package groupmember

import (
	"fmt"
	"time"
)

// setbacks is how many are named in one explanation.
const namedSetbacks = 8

// explaining is what the member remembers of the rebalance that it is in, and of
// those before.
type explaining struct {
	number int        // of the last one
	open   *Rebalance // nil if the member is settled, or out of the group
	before Partitions // what it owned at the beginning
	at     time.Time  // up to which the time spent is counted
	last   *Rebalance // the last one that was emitted; nil if none
	led    composed   // the group when the member last led it
	joined []Joined   // the members for whom a plan is being made
}

// disturb notes what sets a rebalance off, or sets back the one that is under way.
func (m *Member) disturb(c Cause) {
	if r := m.explaining.open; r != nil {
		m.setBack(r, c)
		return
	}
	m.explaining.number++
	m.explaining.at, m.explaining.before = m.now, m.owned
	m.explaining.open = &Rebalance{
		Number: m.explaining.number, Trigger: c,
		MemberID: m.id, InstanceID: m.cfg.InstanceID, Before: m.generation, After: -1,
		Group: GroupChange{Since: -1},
	}
	if m.trust.suspended {
		m.setBack(m.explaining.open, silence)
	}
}

// disturbMembership is disturb for a member that ends its membership: one that has
// none disturbs nobody.
func (m *Member) disturbMembership(c Cause) {
	if m.explaining.open != nil || m.id != "" {
		m.disturb(c)
	}
}

// silence is the cause that suspends.
var silence = Cause{Kind: SessionDoubtful, Text: "the coordinator has confirmed nothing in time"}

func (m *Member) setBack(r *Rebalance, c Cause) {
	n := len(r.Setbacks)
	switch {
	case r.Trigger == c || n > 0 && r.Setbacks[n-1].like(c):
	case n == namedSetbacks:
		r.MoreSetbacks++
	default:
		r.Setbacks = append(r.Setbacks, c)
	}
}

// like reports whether c is of the same kind as d, whatever the words.
func (c Cause) like(d Cause) bool { return c.Kind == d.Kind && c.Code == d.Code }

// spend counts the time up to now for the present state.
func (m *Member) spend() {
	r := m.explaining.open
	if r == nil {
		return
	}
	d := m.now.Sub(m.explaining.at)
	m.explaining.at = m.now
	r.Took += d
	if spent := r.Spent.of(m.state); spent != nil {
		*spent += d
	}
}

// longRebalance is after how many JoinGroups a person should know.
const longRebalance = 10

// attempt notes what the broker is told of the reason.
func (m *Member) attempt(reason *string, joins int) {
	if r := m.explaining.open; r != nil {
		r.Reason = *reason
		r.Attempts += joins
		if r.Attempts == longRebalance && joins > 0 && m.rounds.warned == "" && !m.coordinator.warned {
			m.warn(fmt.Sprintf("the member is not settled after %d attempts, trying on: %s", r.Attempts, *reason))
		}
	}
}

// noteJoined notes what a JoinGroup that succeeded has said.
func (m *Member) noteJoined(leader string) {
	if r := m.explaining.open; r != nil {
		r.Protocol, r.Leader, r.LeaderID = m.protocol, m.leader, leader
	}
}

// noteGivenBack notes partitions that the application has let go of in order.
func (m *Member) noteGivenBack(gone Partitions) {
	if r := m.explaining.open; r != nil {
		r.Revoked = union(r.Revoked, gone)
	}
}

// noteLost notes partitions that were taken without asking.
func (m *Member) noteLost(gone Partitions) {
	if r := m.explaining.open; r != nil {
		r.Lost = union(r.Lost, gone)
	}
}

// explain ends the explanation that is open, if one is.
func (m *Member) explain(outcome Outcome) {
	r := m.explaining.open
	if r == nil {
		return
	}
	m.spend()
	r.Outcome = outcome
	if m.id != "" {
		r.MemberID = m.id
	}
	if outcome == Settled {
		r.After = m.generation
	} else {
		r.Leader = false
	}
	r.Gained = subtract(m.owned, subtract(m.explaining.before, r.Lost))
	r.Kept = subtract(m.owned, r.Gained)
	r.Group.Guess = r.guess(m.explaining.before)
	m.explaining.open, m.explaining.last, m.explaining.before = nil, r, nil
	m.emit(Rebalanced{Rebalance: r})
}

// guess concludes from what a follower was given and what it had before what may
// have happened in the group.
func (r *Rebalance) guess(before Partitions) string {
	if r.Outcome != Settled || r.Leader || r.Trigger.Kind != GroupRebalancing {
		return ""
	}
	shrunk := len(subtract(before, r.Kept)) > 0
	switch grown := len(r.Gained) > 0; {
	case grown && !shrunk:
		return "others have given partitions up, or there are more: a member may have gone, or a topic grown (inferred)"
	case shrunk && !grown:
		return "others have got partitions: a member may have joined (inferred)"
	}
	return ""
}
