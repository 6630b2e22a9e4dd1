package groupmember

import (
	"cmp"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// commits are those that the application waits for, in the order asked.
type commits struct {
	waiting  []*commit
	flying   question  // the OffsetCommit or TxnOffsetCommit
	txn      bool      // which of them
	held     bool      // until the round is over
	at       time.Time // not to be sent before
	failures int       // in a row, for back-off
}

// commit is one Commit of the application.
type commit struct {
	ticket   Ticket
	producer *Producer // whose transaction it is part of; nil if of none
	as       identity  // under which the partitions were owned
	results  []OffsetResult
	left     []int // into results: without an outcome yet
	tries    int
	aboard   bool // part of the request that is under way
}

type partition struct {
	topic string
	id    int32
}

func partitionOf(offset Offset) partition { return partition{offset.Topic, offset.Partition} }

// onCommit takes a Commit in, or refuses it. Only what the member owns is
// committed: anything else may be another member's.
func (m *Member) onCommit(ev Commit) {
	if failure := m.refuses(ev); failure.Failed() {
		m.emit(Committed{Ticket: ev.Ticket, Failure: failure})
		return
	}
	c := &commit{ticket: ev.Ticket, producer: ev.Producer, as: m.identity}
	for i, offset := range ev.Offsets {
		result := OffsetResult{Offset: offset}
		if m.owned.has(offset.Topic, offset.Partition) {
			c.left = append(c.left, i)
		} else {
			result.Code = kerr.IllegalGeneration.Code
		}
		c.results = append(c.results, result)
	}
	m.commits.waiting = append(m.commits.waiting, c)
	if m.commits.at.Before(m.now) {
		m.commits.at = m.now
	}
	m.answerCommits()
}

// onWithdraw stops trying on behalf of an asker who does not wait any more. What
// is under way is left to its fate.
func (m *Member) onWithdraw(ev Withdraw) {
	for _, c := range m.commits.waiting {
		if c.ticket == ev.Ticket {
			m.commits.remove(c)
			m.emit(Committed{Ticket: c.ticket, Failure: Failure{Kind: Canceled, Unsent: c.tries == 0 && !c.aboard, Text: "the commit was withdrawn"}})
			return
		}
	}
}

// refuses says why a Commit cannot even be tried.
func (m *Member) refuses(ev Commit) Failure {
	if ev.Producer != nil && ev.Producer.TransactionalID == "" {
		return Failure{Kind: Rejected, Unsent: true, Text: "a producer without a transactional ID has no transaction to commit offsets in"}
	}
	if slices.ContainsFunc(ev.Offsets, func(o Offset) bool { return o.Next < 0 }) {
		return Failure{Kind: Rejected, Unsent: true, Text: "a negative offset cannot be committed"}
	}
	if m.trust.suspended {
		return Failure{Kind: Suspect, Unsent: true, Text: "the coordinator has not confirmed the membership in time"}
	}
	owns := func(o Offset) bool { return m.owned.has(o.Topic, o.Partition) }
	if len(ev.Offsets) > 0 && !slices.ContainsFunc(ev.Offsets, owns) {
		return Failure{Kind: Forfeited, Unsent: true, Text: "the member owns none of the partitions"}
	}
	return Failure{}
}

// commitDue is when the commits that wait may be sent. Between the answers to
// JoinGroup and SyncGroup the broker takes none, and what was asked in an
// earlier generation waits for the assignment to show whose it is now.
func (m *Member) commitDue() time.Time {
	if m.commits.flying.open() || m.commits.held || !m.coordinator.known || len(m.commits.waiting) == 0 {
		return time.Time{}
	}
	if m.trust.suspended || !m.now.Before(m.Trusted()) {
		return time.Time{} // until a heartbeat is accepted
	}
	if m.unsaved(m.coordinator.place) {
		return time.Time{} // until the next SyncGroup
	}
	switch m.state {
	case Idle, Planning, Syncing, Decoding, Resting, Exited:
		return time.Time{}
	case Leaving:
		if m.ask.open() {
			return time.Time{}
		}
	case Finding, Waiting, Releasing, Encoding, Joining, Yielding, Stable, Parting:
	}
	for _, c := range m.commits.waiting {
		if c.as != m.identity {
			return time.Time{}
		}
	}
	return m.commits.at
}

// inRound reports whether a JoinGroup is on its way or about to be, so that a
// broker may be a generation ahead of us.
func (m *Member) inRound() bool {
	switch m.state {
	case Finding, Waiting, Encoding, Joining, Planning, Syncing, Decoding:
		return true
	case Idle, Releasing, Yielding, Stable, Parting, Leaving, Resting, Exited:
	}
	return false
}

// restamp makes what is still ours a commit of the new generation and answers
// the rest. It is run once the assignment is known, before anything is given
// back by it.
func (m *Member) restamp(target Partitions) {
	m.commits.held, m.commits.at = false, m.now
	for _, c := range m.commits.waiting {
		if !c.aboard {
			m.restampOne(c, target)
		}
	}
	m.answerCommits()
}

// restampLate does the same for commits whose answer came after that, and for
// a member that leaves before.
func (m *Member) restampLate() {
	if m.generation < 0 || m.inRound() {
		return // restamp is still to come
	}
	for _, c := range m.commits.waiting {
		if c.as != m.identity && !c.aboard {
			m.restampOne(c, m.owned)
		}
	}
	m.answerCommits()
}

// restampOne keeps of c what was held without a gap, or was given back and
// comes again in the very next generation: then no other member can have
// committed in between, and nobody's progress is undone.
func (m *Member) restampOne(c *commit, target Partitions) {
	next := m.generation == c.as.generation+1
	c.left = slices.DeleteFunc(c.left, func(i int) bool {
		o := c.results[i].Offset
		if m.owned.has(o.Topic, o.Partition) && m.ownedSince <= c.as.generation || next && target.has(o.Topic, o.Partition) {
			return false
		}
		c.results[i].Code = kerr.IllegalGeneration.Code
		return true
	})
	c.as = m.identity
}

// answerCommits answers those that nothing is left of.
func (m *Member) answerCommits() {
	m.commits.waiting = slices.DeleteFunc(m.commits.waiting, func(c *commit) bool {
		if len(c.left) > 0 {
			return false
		}
		m.emit(Committed{Ticket: c.ticket, Results: c.results})
		return true
	})
}

// concern reports whether a commit for one of the partitions has no outcome yet.
// A look-up waits for it, since whoever went on from an older offset would commit
// that again.
func (c *commits) concern(partitions Partitions) bool {
	return slices.ContainsFunc(c.waiting, func(one *commit) bool {
		return slices.ContainsFunc(one.left, func(i int) bool {
			return partitions.has(one.results[i].Offset.Topic, one.results[i].Offset.Partition)
		})
	})
}

// board takes the first commit that waits aboard a request, with those behind it
// of the same producer, or of none. Their offsets come in the order of topics and partitions, one for
// each.
func (c *commits) board() (*Producer, []Offset) {
	producer := c.waiting[0].producer
	var all []Offset
	for _, one := range c.waiting {
		if !one.producer.is(producer) {
			break
		}
		one.aboard = true
		for _, i := range one.left {
			all = append(all, one.results[i].Offset)
		}
	}
	slices.SortStableFunc(all, func(a, b Offset) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	var last []Offset
	for i, offset := range all {
		if i+1 == len(all) || partitionOf(all[i+1]) != partitionOf(offset) { // else a later one follows
			last = append(last, offset)
		}
	}
	return producer, last
}

// is reports whether p and q are the same producer, or both none.
func (p *Producer) is(q *Producer) bool {
	if p == nil || q == nil {
		return p == q
	}
	return *p == *q
}

// land returns the commits of the request that was under way.
func (c *commits) land() []*commit {
	var landed []*commit
	for _, one := range c.waiting {
		if one.aboard {
			one.aboard = false
			landed = append(landed, one)
		}
	}
	return landed
}

func (c *commits) remove(one *commit) {
	c.waiting = slices.DeleteFunc(c.waiting, func(other *commit) bool { return other == one })
}

// forfeitCommits answers all commits after a loss, also those under way: of
// them nobody knows.
func (m *Member) forfeitCommits() {
	m.endCommits(Failure{Kind: Forfeited, Text: "the membership was lost before the commit was confirmed"})
}

func (m *Member) closeCommits() {
	m.endCommits(Failure{Kind: Closed, Text: "the member left the group before the commit was confirmed"})
}

func (m *Member) endCommits(failure Failure) {
	m.drop(&m.commits.flying)
	for _, c := range m.commits.waiting {
		m.emit(Committed{Ticket: c.ticket, Failure: failure})
	}
	m.commits = commits{}
}
