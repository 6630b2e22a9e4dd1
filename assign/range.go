package assign

import (
	"fmt"
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

func (rangeAssignor) Assign(g Group) (Plan, error) {
	if err := g.validate(); err != nil {
		return nil, fmt.Errorf("range: %w", err)
	}
	members := slices.Clone(g.Members)
	slices.SortFunc(members, compareMembers)
	topics := rangeTopics(g.Topics, members)
	if slices.ContainsFunc(topics, func(t *rangeTopic) bool { return t.rackAware }) {
		matchRacks(topics)
	}
	plan := make(Plan, len(members))
	for _, m := range members {
		plan[m.ID] = make(Partitions, len(m.Topics))
	}
	for _, t := range topics {
		t.deal()
		t.write(plan)
	}
	return plan, nil
}

// rangeTopics returns the topics that have both partitions and subscribers,
// ascending by name. Members come in the order in which they are served.
func rangeTopics(known map[string]Topic, members []Member) []*rangeTopic {
	byName := make(map[string]*rangeTopic)
	for i, m := range members {
		for _, name := range sortedUnique(m.Topics) {
			if known[name].Partitions == 0 {
				continue
			}
			t := byName[name]
			if t == nil {
				t = &rangeTopic{name: name, members: members}
				byName[name] = t
			}
			t.subscribers = append(t.subscribers, int32(i))
		}
	}
	topics := make([]*rangeTopic, 0, len(byName))
	for _, name := range sortedKeys(byName) {
		byName[name].start(known[name])
		topics = append(topics, byName[name])
	}
	return topics
}

// A rangeTopic is one topic while it is handed out. A subscriber is known by its
// place in subscribers.
type rangeTopic struct {
	name        string
	members     []Member // of the whole group, in order
	subscribers []int32  // indexes into members, ascending
	racks       [][]string
	rackAware   bool // racks can make a difference

	owner []int32 // by partition, 1 + place of the subscriber; 0 while free
	given []int   // by subscriber, how many it has
	each  int     // what every subscriber gets at least
	extra int     // how many may still get one more
}

func (t *rangeTopic) start(known Topic) {
	t.racks = known.Racks[:min(len(known.Racks), int(known.Partitions))]
	t.owner = make([]int32, known.Partitions)
	t.given = make([]int, len(t.subscribers))
	t.each = len(t.owner) / len(t.subscribers)
	t.extra = len(t.owner) % len(t.subscribers)
	t.rackAware = t.racksMatter()
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
	return max(0, most-t.given[subscriber])
}

// give hands over a free partition to a subscriber that has room.
func (t *rangeTopic) give(subscriber, partition int) {
	t.owner[partition] = int32(subscriber) + 1
	t.given[subscriber]++
	if t.given[subscriber] > t.each {
		t.extra--
	}
}

// deal gives every subscriber, in order, the lowest free partitions that it has
// room for. Nothing is free afterwards.
func (t *rangeTopic) deal() {
	next := 0
	for s := range t.subscribers {
		for room := t.room(s); room > 0 && next < len(t.owner); next++ {
			if t.owner[next] == 0 {
				t.give(s, next)
				room--
			}
		}
	}
}

// write enters the owners into the plan. All lists are parts of one block.
func (t *rangeTopic) write(plan Plan) {
	block := make([]int32, len(t.owner))
	lists := make([][]int32, len(t.subscribers))
	for s, n := range t.given {
		lists[s], block = block[:0:n], block[n:]
	}
	for partition, owner := range t.owner {
		lists[owner-1] = append(lists[owner-1], int32(partition))
	}
	for s, list := range lists {
		if len(list) > 0 {
			plan[t.member(s).ID][t.name] = list
		}
	}
}
