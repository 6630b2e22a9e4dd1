package groupmember

import (
	"maps"
	"slices"
)

// subtract returns what is in p and not in q.
func subtract(p, q Partitions) Partitions {
	left := make(Partitions, len(p))
	for topic, partitions := range p {
		keep := make([]int32, 0, len(partitions))
		for _, partition := range partitions {
			if !q.has(topic, partition) {
				keep = append(keep, partition)
			}
		}
		if len(keep) > 0 {
			left[topic] = keep
		}
	}
	return left
}

// union returns what is in p or in q.
func union(p, q Partitions) Partitions {
	if len(p) == 0 {
		return q
	}
	both := maps.Clone(p)
	for topic, ids := range q {
		all := slices.Concat(both[topic], ids)
		slices.Sort(all)
		both[topic] = slices.Compact(all)
	}
	return both
}

func (p Partitions) has(topic string, partition int32) bool {
	return slices.Contains(p[topic], partition)
}

// topics returns the topics, ascending, so that nothing that leaves the
// member depends on the order of a map.
func (p Partitions) topics() []string {
	return slices.Sorted(maps.Keys(p))
}
