package assign_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/musterkafka/muster/assign"
)

// drawGroup makes a small random group: static and dynamic members, uneven
// subscriptions, racks that are partly missing, ownership claims that may clash.
func drawGroup(t *rapid.T) assign.Group {
	group := assign.Group{Topics: map[string]assign.Topic{}}
	names := []string{"A", "B", "C", "D", "unknown"}
	alike := rapid.Int32Range(0, 9).Draw(t, "usual partition count")
	uneven := rapid.Bool().Draw(t, "uneven subscriptions")
	for _, name := range names[:rapid.SampledFrom([]int{4, 3, 2, 1, 0}).Draw(t, "topics")] {
		group.Topics[name] = drawTopic(t, alike)
	}
	ids := rapid.SliceOfNDistinct(drawID(), 0, 7, rapid.ID[string]).Draw(t, "IDs")
	for i, id := range ids {
		m := assign.Member{
			ID:         id,
			Rack:       rapid.SampledFrom([]string{"", "a", "b", "c", "x"}).Draw(t, "rack"),
			Topics:     names,
			Owned:      drawPartitions(names).Draw(t, "owned"),
			Generation: rapid.Int32Range(-2, 1).Draw(t, "generation"),
		}
		if rapid.Bool().Draw(t, "static") {
			// The number keeps instance IDs apart, in no order.
			m.InstanceID = fmt.Sprintf("%c%d", "zbk"[i%3], i)
		}
		if uneven && rapid.Bool().Draw(t, "own subscription") {
			m.Topics = rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string]).Draw(t, "topics")
			slices.Sort(m.Topics)
		}
		group.Members = append(group.Members, m)
	}
	return group
}

// drawID draws IDs whose order in UTF-16 is not their order in bytes.
func drawID() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom([]rune{'a', 'b', 0xd7ff, 0xff21, 0x1f600}), 1, 3, -1)
}

// drawTopic draws topics of which many have the same number of partitions.
func drawTopic(t *rapid.T, alike int32) assign.Topic {
	topic := assign.Topic{Partitions: alike}
	if rapid.IntRange(0, 2).Draw(t, "other partition count") == 2 {
		topic.Partitions = rapid.Int32Range(0, 9).Draw(t, "partitions")
	}
	racks := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", ""}), 0, 4)
	switch rapid.IntRange(0, 2).Draw(t, "racks known") {
	case 0:
		topic.Racks = rapid.SliceOfN(racks, int(topic.Partitions), int(topic.Partitions)).Draw(t, "racks")
	case 1:
		topic.Racks = rapid.SliceOfN(racks, 0, int(topic.Partitions)).Draw(t, "racks")
	}
	return topic
}

func drawPartitions(names []string) *rapid.Generator[assign.Partitions] {
	numbers := rapid.SliceOfNDistinct(rapid.Int32Range(0, 9), 1, 8, rapid.ID[int32])
	return rapid.Custom(func(t *rapid.T) assign.Partitions {
		p := assign.Partitions(rapid.MapOfN(rapid.SampledFrom(names), numbers, 0, 3).Draw(t, "partitions"))
		for _, list := range p {
			slices.Sort(list)
		}
		return p
	})
}
