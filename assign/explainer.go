package assign

import (
	"cmp"
	"slices"
)

// An ownership is one partition of some topic and who has it.
type ownership struct {
	number int32
	owner  string
}

// ownersByTopic turns a plan round: by topic, who has what, ascending by number. Of
// several owners the first by ID is kept.
func ownersByTopic(plan Plan) map[string][]ownership {
	byTopic := make(map[string][]ownership)
	for id, share := range plan {
		for topic, numbers := range share {
			list := slices.Grow(byTopic[topic], len(numbers))
			for _, n := range numbers {
				list = append(list, ownership{number: n, owner: id})
			}
			byTopic[topic] = list
		}
	}
	for topic, list := range byTopic {
		slices.SortFunc(list, func(a, b ownership) int {
			return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.owner, b.owner))
		})
		byTopic[topic] = slices.CompactFunc(list, func(a, b ownership) bool { return a.number == b.number })
	}
	return byTopic
}

// explainer collects an explanation topic by topic.
type explainer struct {
	Explanation
	group      Group
	subscribed map[string]bool     // topics that anybody subscribes to
	topics     map[string][]string // by ID of a member of the group
	joined     map[string]bool     // members that the old plan does not have
	lighter    map[string]bool     // members that have less than they could have kept
	near       func(member, topic string, number int32) bool
}

func newExplainer(before Plan, g Group, plan Plan) *explainer {
	e := &explainer{
		group:      g,
		subscribed: make(map[string]bool),
		topics:     make(map[string][]string, len(g.Members)),
		joined:     make(map[string]bool),
		lighter:    make(map[string]bool),
		near:       rackMatches(g),
	}
	for _, m := range g.Members {
		e.topics[m.ID] = sortedUnique(m.Topics)
		for _, topic := range m.Topics {
			e.subscribed[topic] = true
		}
	}
	for _, m := range g.Members {
		old, known := before[m.ID]
		e.joined[m.ID] = !known
		e.lighter[m.ID] = plan[m.ID].Count() < e.keepable(m.ID, old)
	}
	return e
}

// keepable returns how many partitions of an old share the member could keep.
func (e *explainer) keepable(member string, share Partitions) int {
	n := 0
	for topic, numbers := range share {
		if e.subscribes(member, topic) {
			end, _ := slices.BinarySearch(numbers, e.group.Topics[topic].Partitions)
			n += end
		}
	}
	return n
}

func (e *explainer) subscribes(member, topic string) bool {
	_, found := slices.BinarySearch(e.topics[member], topic)
	return found
}

// topic goes through the old and the new owners of one topic side by side.
func (e *explainer) topic(topic string, was, is []ownership) {
	for len(was) > 0 || len(is) > 0 {
		m := Move{Topic: topic}
		switch {
		case len(is) == 0 || len(was) > 0 && was[0].number < is[0].number:
			m.Partition, m.From = was[0].number, was[0].owner
			was = was[1:]
		case len(was) == 0 || is[0].number < was[0].number:
			m.Partition, m.To = is[0].number, is[0].owner
			is = is[1:]
		default:
			m.Partition, m.From, m.To = is[0].number, was[0].owner, is[0].owner
			was, is = was[1:], is[1:]
		}
		e.partition(m)
	}
}

// partition enters one partition, which stays if From is To.
func (e *explainer) partition(m Move) {
	if !e.near(m.From, m.Topic, m.Partition) {
		e.Before.Mismatches++
	}
	if !e.near(m.To, m.Topic, m.Partition) {
		e.After.Mismatches++
	}
	if m.From == m.To {
		e.Kept++
		return
	}
	m.Why = e.why(m)
	e.Moves = append(e.Moves, m)
}

// why goes through the reasons in the order in which they are listed.
func (e *explainer) why(m Move) Reason {
	_, stays := e.topics[m.From]
	switch {
	case m.From == "":
		return NewPartition
	case m.Partition >= e.group.Topics[m.Topic].Partitions:
		return PartitionGone
	case !e.subscribed[m.Topic]:
		return Unwanted
	case m.To == "":
		return NotGiven
	case !stays:
		return MemberLeft
	case !e.subscribes(m.From, m.Topic):
		return Unsubscribed
	case e.lighter[m.From] && e.joined[m.To]:
		return MemberJoined
	case e.lighter[m.From]:
		return Balance
	case e.near(m.To, m.Topic, m.Partition) && !e.near(m.From, m.Topic, m.Partition):
		return RackMatch
	}
	return Exchange
}

// rackMatches returns a function that reports whether a member reads a partition
// within its rack. It does not say so only where a sticky assignor would count a mismatch.
func rackMatches(g Group) func(member, topic string, number int32) bool {
	always := func(string, string, int32) bool { return true }
	r, err := newRoster(g, compareIDs)
	if err != nil {
		return always // no plan passes Check for this group
	}
	k := newRacks(r, g.Topics)
	if k == nil {
		return always
	}
	rack := make(map[string]int32, len(r.members))
	for i, m := range r.members {
		rack[m.ID] = k.of[i]
	}
	return func(member, topic string, number int32) bool {
		t, known := r.number[topic]
		if !known || number < 0 || number >= r.size(t) {
			return true
		}
		return !k.mismatch(k.set[r.first[t]+number], rack[member])
	}
}
