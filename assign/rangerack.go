package assign

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kbin"
)

// This file is the part of the range assignor that knows racks (KIP-881). It hands
// out what can be matched; the rest is dealt as if there were no racks.

// racksMatter reports whether racks can make a difference to a topic: some
// subscriber's rack has replicas, and not every partition has replicas in
// all of the topic's racks.
func (t *rangeTopic) racksMatter() bool {
	if !t.hasRackedSubscriber() {
		return false
	}
	racks := make(map[string]bool)
	for _, replicas := range t.racks {
		for _, rack := range replicas {
			racks[rack] = true
		}
	}
	inReach := func(s int32) bool { return t.members[s].Rack != "" && racks[t.members[s].Rack] }
	if !slices.ContainsFunc(t.subscribers, inReach) {
		return false
	}
	partial := func(replicas []string) bool { return len(sortedUnique(replicas)) < len(racks) }
	return len(t.racks) < len(t.owner) || slices.ContainsFunc(t.racks, partial)
}

func (t *rangeTopic) hasRackedSubscriber() bool {
	return slices.ContainsFunc(t.subscribers, func(s int32) bool { return t.members[s].Rack != "" })
}

// matchRacks hands out the partitions of all topics that can be read within a
// rack. Topics with the same subscribers and number of partitions are taken
// to be partitioned alike and go together, even if racks would not matter to them.
func matchRacks(topics []*rangeTopic) {
	alike := make(map[string][]*rangeTopic)
	for _, t := range topics {
		if t.hasRackedSubscriber() {
			key := t.likeness()
			alike[key] = append(alike[key], t)
		}
	}
	for _, together := range alike {
		switch {
		case len(together) > 1:
			dealInStep(together)
		case together[0].rackAware:
			together[0].dealWithinRacks()
		}
	}
}

// likeness is equal for topics with equal subscribers and number of partitions.
func (t *rangeTopic) likeness() string {
	key := kbin.AppendInt32(nil, int32(len(t.owner)))
	for _, s := range t.subscribers {
		key = kbin.AppendInt32(key, s)
	}
	return string(key)
}

// dealWithinRacks gives every subscriber, in order, the lowest free partitions
// in its rack that it has room for. One without a rack is at home everywhere.
func (t *rangeTopic) dealWithinRacks() {
	inRack := make(map[string][]int)
	for partition, replicas := range t.racks {
		for _, rack := range replicas {
			inRack[rack] = append(inRack[rack], partition)
		}
	}
	inRack[""] = make([]int, len(t.owner)) // for those without a rack
	for partition := range t.owner {
		inRack[""][partition] = partition
	}
	for s := range t.subscribers {
		queue := inRack[t.member(s).Rack]
		for room := t.room(s); room > 0 && len(queue) > 0; queue = queue[1:] {
			if t.owner[queue[0]] == 0 {
				t.give(s, queue[0])
				room--
			}
		}
		inRack[t.member(s).Rack] = queue
	}
}

// dealInStep hands out topics that are partitioned alike. Each partition number goes,
// in all topics at once, to the first subscriber with room in whose rack it
// has a replica in every topic. A number that suits nobody stays free. All topics
// stand alike at every moment, so the first one speaks for all.
func dealInStep(topics []*rangeTopic) {
	first := topics[0]
	waiting := make(map[string][]int) // rack to subscribers in order, "" for no rack
	for s := range first.subscribers {
		rack := first.member(s).Rack
		waiting[rack] = append(waiting[rack], s)
	}
	for partition := range first.owner {
		s, found := first.nextInRacks(waiting, append(commonRacks(topics, partition), ""))
		if !found {
			continue
		}
		for _, t := range topics {
			t.give(s, partition)
		}
	}
}

// nextInRacks returns the first subscriber with room that waits in one of the racks.
// Those without room leave their queues for good.
func (t *rangeTopic) nextInRacks(waiting map[string][]int, racks []string) (subscriber int, found bool) {
	for _, rack := range racks {
		queue := waiting[rack]
		for len(queue) > 0 && t.room(queue[0]) == 0 {
			queue = queue[1:]
		}
		waiting[rack] = queue
		if len(queue) > 0 && (!found || queue[0] < subscriber) {
			subscriber, found = queue[0], true
		}
	}
	return subscriber, found
}

// commonRacks returns the racks in which a partition has a replica in every topic.
func commonRacks(topics []*rangeTopic, partition int) []string {
	var common []string
	for _, rack := range topics[0].racksOf(partition) {
		elsewhere := func(t *rangeTopic) bool { return !slices.Contains(t.racksOf(partition), rack) }
		if !slices.ContainsFunc(topics[1:], elsewhere) {
			common = append(common, rack)
		}
	}
	return common
}

func (t *rangeTopic) racksOf(partition int) []string {
	if partition < len(t.racks) {
		return t.racks[partition]
	}
	return nil
}
