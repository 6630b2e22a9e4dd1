package assign_test

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/musterkafka/muster/assign"
)

// The rule as it is told: one circle of members, one row of partitions, and whoever does not
// subscribe is passed over.
func slowRoundRobin(group assign.Group) assign.Plan {
	plan := assign.Plan{}
	circle := slices.SortedFunc(slices.Values(group.Members), func(a, b assign.Member) int {
		units := func(text string) []uint16 { return utf16.Encode([]rune(text)) }
		switch {
		case (a.InstanceID == "") != (b.InstanceID == ""):
			return cmp.Compare(len(b.InstanceID), len(a.InstanceID))
		case a.InstanceID != "":
			return slices.Compare(units(a.InstanceID), units(b.InstanceID))
		}
		return slices.Compare(units(a.ID), units(b.ID))
	})
	for _, m := range circle {
		plan[m.ID] = assign.Partitions{}
	}
	for _, topic := range slices.Sorted(maps.Keys(group.Topics)) {
		subscribes := func(m assign.Member) bool { return slices.Contains(m.Topics, topic) }
		if !slices.ContainsFunc(circle, subscribes) {
			continue
		}
		for p := range group.Topics[topic].Partitions {
			for !subscribes(circle[0]) {
				circle = append(circle[1:], circle[0])
			}
			plan[circle[0].ID][topic] = append(plan[circle[0].ID][topic], p)
			circle = append(circle[1:], circle[0])
		}
	}
	return plan
}

func TestRoundRobinEqualsItsSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		group := drawGroup(t)
		plan, err := assign.RoundRobin().Assign(group)
		require.NoError(t, err)
		require.Equal(t, slowRoundRobin(group), plan)
	})
}
