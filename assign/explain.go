package assign

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Reason says why a partition changes hands. Of several that hold, the first in
// this list is meant.
type Reason int8

const (
	// NewPartition had no owner before, whether it is new or was left over.
	NewPartition Reason = iota + 1
	// PartitionGone is no longer there: its topic is unknown or has fewer partitions.
	PartitionGone
	// Unwanted has no subscriber left.
	Unwanted
	// NotGiven is left to nobody although it has subscribers: usually because its old
	// owner must let go first (see Withhold).
	NotGiven
	// MemberLeft means that the old owner is not in the group any more.
	MemberLeft
	// Unsubscribed means that the old owner does not subscribe to the topic any more.
	Unsubscribed
	// MemberJoined means that the old owner makes room for a new member.
	MemberJoined
	// Balance means that the old owner has less than before, of what it could have kept.
	Balance
	// RackMatch means that the new owner reads within its rack, which the old one did not.
	RackMatch
	// Exchange means that the old owner gets as much as it gives: either partitions
	// are passed on between members that subscribe differently, or the assignor does
	// not look at who owned what.
	Exchange
)

// String returns a few words, as part of a line about one move.
func (r Reason) String() string {
	switch r {
	case NewPartition:
		return "had no owner"
	case PartitionGone:
		return "is gone"
	case Unwanted:
		return "has no subscriber"
	case NotGiven:
		return "is not given to anybody yet"
	case MemberLeft:
		return "old owner left"
	case Unsubscribed:
		return "old owner unsubscribed"
	case MemberJoined:
		return "new owner joined"
	case Balance:
		return "balance"
	case RackMatch:
		return "rack"
	case Exchange:
		return "exchange"
	}
	return "Reason(" + strconv.Itoa(int(r)) + ")"
}

// A Move is one partition that changes hands.
type Move struct {
	Topic     string
	Partition int32
	From      string // ID of the old owner; empty for nobody
	To        string // ID of the new owner; empty for nobody
	Why       Reason
}

// String returns the move as one line.
func (m Move) String() string {
	return fmt.Sprintf("%s-%d: %s to %s, %s", m.Topic, m.Partition, nameOf(m.From), nameOf(m.To), m.Why)
}

func nameOf(member string) string {
	if member == "" {
		return "nobody"
	}
	return strconv.Quote(member)
}

// A Spread sums up a plan.
type Spread struct {
	Least      int // fewest partitions of a member
	Most       int // most partitions of a member
	Mismatches int // partitions read by a member in whose rack they have no replica
}

// String returns the smallest and the largest load, and the rack mismatches.
func (s Spread) String() string {
	return fmt.Sprintf("loads %d to %d, rack mismatches %d", s.Least, s.Most, s.Mismatches)
}

// An Explanation says how a plan differs from the one before.
type Explanation struct {
	Moves  []Move // ascending by topic and partition
	Kept   int    // partitions whose owner stays
	Before Spread // mismatches are only known of members that are still in the group
	After  Spread
}

// Moved returns the number of partitions that go from one member to another.
func (e Explanation) Moved() int {
	moved := 0
	for _, m := range e.Moves {
		if m.From != "" && m.To != "" {
			moved++
		}
	}
	return moved
}

// String returns a summary, and one line for all partitions that go from
// one member to another for one reason.
func (e Explanation) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d partitions stay, %d move, %d others change\n", e.Kept, e.Moved(), len(e.Moves)-e.Moved())
	fmt.Fprintf(&text, "before: %s\nafter:  %s\n", e.Before, e.After)
	moves := slices.SortedStableFunc(slices.Values(e.Moves), Move.compareRoute)
	for i, m := range moves {
		if i == 0 || moves[i-1].compareRoute(m) != 0 {
			if i > 0 {
				text.WriteByte('\n')
			}
			fmt.Fprintf(&text, "%s to %s, %s:", nameOf(m.From), nameOf(m.To), m.Why)
		}
		fmt.Fprintf(&text, " %s-%d", m.Topic, m.Partition)
	}
	if len(moves) > 0 {
		text.WriteByte('\n')
	}
	return text.String()
}

// compareRoute is equal for moves that share a line.
func (m Move) compareRoute(other Move) int {
	return cmp.Or(
		cmp.Compare(m.From, other.From),
		cmp.Compare(m.To, other.To),
		cmp.Compare(m.Why, other.Why),
	)
}

// Owners returns who owns what in g by the claims in Member.Owned, in the form of the
// plan that has led there. Of several claims on a partition the one of the highest
// generation counts; if there are several of those, none does. A member that claims
// nothing and knows no generation has just joined: it has no entry.
func Owners(g Group) Plan {
	claims := resolveClaims(g)
	owners := make(Plan, len(g.Members))
	for i, m := range g.Members {
		if m.Owned.Count() == 0 && m.Generation < 0 {
			continue
		}
		own := make(Partitions)
		for topic, numbers := range m.Owned.normalise() {
			for _, n := range numbers {
				if claims[topic].valid(n, int32(i)+1) {
					own[topic] = append(own[topic], n)
				}
			}
		}
		owners[m.ID] = own
	}
	return owners
}

// valid reports whether a member, known by 1 + its index, has the one claim that
// counts. Partitions that do not exist any more are nobody else's.
func (t topicClaims) valid(number, member int32) bool {
	if int(number) >= len(t) {
		return true
	}
	return t[number].member == member && !t[number].disputed
}

// Explain says what changes when a group that has followed the plan before goes over to
// plan, which should pass Check for g. Before may hold members and partitions
// that have gone since; Owners makes one from what members claim. Equal arguments
// give equal explanations. Time is linear in the sizes of group and plans, but for
// sorting.
func Explain(before Plan, g Group, plan Plan) Explanation {
	e := newExplainer(before, g, plan)
	was, is := ownersByTopic(before), ownersByTopic(plan)
	topics := maps.Clone(was)
	maps.Copy(topics, is)
	for _, topic := range sortedKeys(topics) {
		e.topic(topic, was[topic], is[topic])
	}
	e.Before.loads(before)
	e.After.loads(plan)
	return e.Explanation
}

func (s *Spread) loads(plan Plan) {
	first := true
	for _, share := range plan {
		load := share.Count()
		if first {
			s.Least, first = load, false
		}
		s.Least, s.Most = min(s.Least, load), max(s.Most, load)
	}
}
