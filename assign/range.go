package assign

import (
	"slices"
)

// Range returns Kafka's "range" assignor. Topic by topic, the members that subscribe
// to it take equal runs of its partitions in turn; the first ones take one more where the
// number does not divide. Where members and replicas have racks (KIP-881), members
// first take partitions with a replica in their rack, and topics with the same subscribers
// and number of partitions are handed out in step, so that partition 3 of each goes to
// one member. The plan is the one that Java's RangeAssignor gives, for every group.
//
// Time and memory are linear in the sizes of the group and of the plan, but for
// sorting.
func Range() Assignor { return rangeAssignor{} }

type rangeAssignor struct{}

func (rangeAssignor) Name() string { return "range" }

func (rangeAssignor) Cooperative() bool { return false }

func (a rangeAssignor) Assign(g Group) (Plan, error) { return assignBy(a, g) }

func (rangeAssignor) decide(g Group) (decision, error) {
	r, err := newRoster(g, compareMembers)
	if err != nil {
		return decision{}, err
	}
	owner := make([]int32, r.partitions())
	topics := r.rangeTopics(g.Topics, owner)
	if slices.ContainsFunc(topics, func(t *rangeTopic) bool { return t.rackAware }) {
		matchRacks(topics)
	}
	for _, t := range topics {
		t.deal()
		t.settle()
	}
	return decision{roster: r, owner: owner}, nil
}

// rangeTopics returns the topics of a roster, ready to be handed out into owner.
func (r *roster) rangeTopics(known map[string]Topic, owner []int32) []*rangeTopic {
	racked := slices.ContainsFunc(r.members, func(m Member) bool { return m.Rack != "" })
	topics := make([]*rangeTopic, len(r.topics))
	for i, subscribers := range r.subscribers() {
		t := &rangeTopic{members: r.members, subscribers: subscribers}
		t.owner = owner[r.first[i]:r.first[i+1]]
		t.given = make([]int32, len(subscribers))
		t.each = len(t.owner) / len(subscribers)
		t.extra = len(t.owner) % len(subscribers)
		if racked {
			racks := known[r.topics[i]].Racks
			t.racks = racks[:min(len(racks), len(t.owner))]
			t.rackAware = t.racksMatter()
		}
		topics[i] = t
	}
	return topics
}

// A rangeTopic is one topic while it is handed out. A subscriber is known by its
// place in subscribers.
type rangeTopic struct {
	members     []Member // of the whole group, in order
	subscribers []int32  // indexes into members, ascending
	racks       [][]string
	rackAware   bool // racks can make a difference

	owner []int32 // by partition, 1 + place of the subscriber; 0 while free
	given []int32 // by subscriber, how many it has
	each  int     // what every subscriber gets at least
	extra int     // how many may still get one more
}

func (t *rangeTopic) member(subscriber int) *Member {
	return &t.members[t.subscribers[subscriber]]
}

// room returns how many partitions a subscriber may still take. It never grows,
// as what one takes beyond its even share is no longer there for the others.
func (t *rangeTopic) room(subscriber int) int {
	most := t.each
	if t.extra > 0 {
		most++
	}
	return max(0, most-int(t.given[subscriber]))
}

// give hands over a free partition to a subscriber that has room.
func (t *rangeTopic) give(subscriber, partition int) {
	t.owner[partition] = int32(subscriber) + 1
	t.given[subscriber]++
	if int(t.given[subscriber]) > t.each {
		t.extra--
	}
}

// deal gives every subscriber, in order, the lowest free partitions that it has
// room for. Nothing is free afterwards.
func (t *rangeTopic) deal() {
	next := 0
	for s := range t.subscribers {
		if next == len(t.owner) {
			break
		}
		for room := t.room(s); room > 0 && next < len(t.owner); next++ {
			if t.owner[next] == 0 {
				t.give(s, next)
				room--
			}
		}
	}
}

// settle puts members in place of subscribers into owner.
func (t *rangeTopic) settle() {
	for p, place := range t.owner {
		t.owner[p] = t.subscribers[place-1]
	}
}
