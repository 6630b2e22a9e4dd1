package groupmember

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// plan asks for everybody's assignment. Heartbeats go on meanwhile, so that a
// slow assignor does not cost the membership.
// A leader that is back in a group that has not changed asks too, without
// the need of a plan (KIP-814): it has to watch the group's topics again.
func (m *Member) plan(resp *kmsg.JoinGroupResponse) {
	why := "elected leader"
	if resp.SkipAssignment {
		why = "leader of an unchanged group"
	}
	m.enter(Planning, why)
	members := resp.Members
	joined := make([]Joined, 0, len(members))
	for _, j := range members {
		one := Joined{ID: j.MemberID, Metadata: j.ProtocolMetadata}
		if j.InstanceID != nil {
			one.InstanceID = *j.InstanceID
		}
		joined = append(joined, one)
	}
	m.ask = m.question()
	m.explaining.joined, m.skips = bare(joined), resp.SkipAssignment
	m.emit(Plan{Seq: m.ask.seq, Generation: m.generation, Protocol: m.protocol, Members: joined, Skip: resp.SkipAssignment})
}

// onPlanned sends the plan, or makes room for another leader.
func (m *Member) onPlanned(ev Planned) {
	if ev.Failure.Failed() && !m.skips {
		m.withdraw(Cause{Kind: PlanFailed, Text: "no plan for the group"}, ev.Failure)
		return
	}
	m.compare(m.explaining.joined, ev.Group)
	m.explaining.joined = nil
	if m.skips {
		if ev.Failure.Failed() {
			m.warn("the topics of the group cannot be watched, so that changes of them are noticed only after the next rebalance: " + ev.Failure.Text)
		}
		m.sync("plan kept", nil)
		return
	}
	m.sync("plan made", ev.Assignments)
}

// decode asks what the assignment's bytes mean.
func (m *Member) decode(assignment []byte) {
	m.enter(Decoding, "assignment received")
	m.ask = m.question()
	m.emit(Decode{Seq: m.ask.seq, Protocol: m.protocol, Assignment: assignment})
}

// onDecoded takes the assignment. What is not in it any more is given back
// first (KIP-429).
func (m *Member) onDecoded(ev Decoded) {
	if ev.Failure.Failed() {
		m.withdraw(Cause{Kind: AssignmentUnreadable, Text: "assignment cannot be read"}, ev.Failure)
		return
	}
	m.onForeign(ev.Foreign)
	m.heed(ev.Partitions)
	m.restamp(ev.Partitions)
	if gone := subtract(m.owned, ev.Partitions); len(gone) > 0 {
		m.target = ev.Partitions
		m.enter(Yielding, "partitions were assigned away")
		m.release(gone)
		return
	}
	m.settleDown(ev.Partitions)
}

// onForeign reacts to partitions that were not asked for: the leader knows an
// old subscription of ours, so another round will do, or it is wrong about
// them, so another round will not.
func (m *Member) onForeign(foreign Partitions) {
	if len(foreign) == 0 {
		m.rounds.foreign = 0
		return
	}
	if m.rounds.foreign++; m.rounds.foreign <= hurries {
		m.rounds.again = Cause{Kind: AssignmentMismatch, Text: "received assignment does not match the current subscription"}
		return
	}
	if m.rounds.foreign == hurries+1 {
		m.warn("the group's leader keeps assigning partitions that this member did not subscribe to: " + list(foreign))
	}
}

// heed looks, when a static member is given its first assignment, whether that may
// be what an earlier run of it subscribed to: a broker gives one that comes back what it had,
// without a round, even if it wants other topics now (KAFKA-12759). It cannot be told from a
// plan that has nothing of a topic for this member, and to force a round would be what static
// membership is to avoid, so it is only said.
func (m *Member) heed(assigned Partitions) {
	if m.heeded || m.instance == nil {
		return
	}
	m.heeded = true
	if m.leader && !m.skips {
		return // its own plan, for its present subscription
	}
	var missing []string
	for _, topic := range m.subscribed {
		if len(assigned[topic]) == 0 {
			missing = append(missing, topic)
		}
	}
	if len(missing) > 0 {
		m.warn(fmt.Sprintf("static member %s was given nothing of %v: if its subscription has changed since it last ran, the group may not have noticed before the next rebalance", *m.instance, missing))
	}
}

// settleDown ends the round: the member owns target and nothing else.
func (m *Member) settleDown(target Partitions) {
	added := subtract(target, m.owned)
	m.owned, m.ownedSince, m.target = target, m.generation, nil
	if len(target) == 0 {
		m.ownedSince = -1
	}
	m.enter(Stable, "assignment taken")
	m.rounds = rounds{again: m.rounds.again, foreign: m.rounds.foreign}
	m.quicken()
	m.emit(Assigned{Generation: m.generation, Added: added, Owned: target})
	m.explain(Settled)
	if m.rounds.again.Kind != NoCause {
		m.prepare(m.rounds.again)
	}
}

// withdraw leaves the group after a round that failed on our side, so that the
// others can go on, and comes back later; it gives up when that does not help.
func (m *Member) withdraw(c Cause, failure Failure) {
	m.rounds.failed++
	m.warn(c.Text + ": " + failure.Text)
	m.disturb(Cause{Kind: c.Kind, Text: failure.Text})
	if m.rounds.failed >= failedRounds {
		m.parting.failure = failure
		m.part(forGood, c)
		return
	}
	m.part(toReturn, c)
}
