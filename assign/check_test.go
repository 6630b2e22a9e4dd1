package assign_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/musterkafka/muster/assign"
)

// judge says by definition whether a plan fits its valid group, and what it leaves.
func judge(group assign.Group, plan assign.Plan) (fits bool, left assign.Partitions) {
	fits = true
	given := make(map[string]bool)
	for id, share := range plan {
		at := slices.IndexFunc(group.Members, func(m assign.Member) bool { return m.ID == id })
		if at < 0 {
			fits = false
		}
		for topic, numbers := range share {
			known, exists := group.Topics[topic]
			if !exists || at >= 0 && !slices.Contains(group.Members[at].Topics, topic) {
				fits = false
			}
			for _, number := range numbers {
				key := fmt.Sprint(topic, "-", number)
				if number < 0 || number >= known.Partitions || given[key] {
					fits = false
				}
				given[key] = true
			}
		}
	}
	left = assign.Partitions{}
	for _, m := range group.Members {
		if _, planned := plan[m.ID]; !planned {
			fits = false
		}
		for _, topic := range m.Topics {
			left[topic] = nil
			for number := range group.Topics[topic].Partitions {
				if !given[fmt.Sprint(topic, "-", number)] {
					left[topic] = append(left[topic], number)
				}
			}
		}
	}
	return fits, left
}

// spoil changes a plan in some way that Check may object to.
func spoil(t *rapid.T, group assign.Group, plan assign.Plan) {
	topics := []string{"unknown"}
	for topic := range group.Topics {
		topics = append(topics, topic)
	}
	slices.Sort(topics)
	ids := []string{"stranger"}
	for _, m := range group.Members {
		ids = append(ids, m.ID)
	}
	id := rapid.SampledFrom(ids).Draw(t, "whose share is changed")
	if rapid.IntRange(0, 3).Draw(t, "entry goes") == 0 {
		delete(plan, id)
		return
	}
	if plan[id] == nil {
		plan[id] = assign.Partitions{}
	}
	topic := rapid.SampledFrom(topics).Draw(t, "topic")
	plan[id][topic] = rapid.SliceOfN(rapid.Int32Range(-1, 8), 0, 4).Draw(t, "numbers")
}

func TestCheckAndUnassignedFollowTheirDefinition(t *testing.T) {
	outcomes := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		group := drawGroup(t)
		plan, err := assign.Range().Assign(group)
		require.NoError(t, err)
		for range rapid.IntRange(0, 2).Draw(t, "changes") {
			spoil(t, group, plan)
		}
		fits, left := judge(group, plan)
		outcomes[fits]++

		err = assign.Check(group, plan)
		require.Equal(t, fits, err == nil, "%v", err)
		unassigned := assign.Unassigned(group, plan)
		require.NotNil(t, unassigned)
		require.True(t, left.Equal(unassigned), "%v, not %v", unassigned, left)
		reviewed, reviewErr := assign.Review(group, plan)
		require.Equal(t, err, reviewErr)
		if fits {
			require.Equal(t, unassigned, reviewed)
		} else {
			require.Nil(t, reviewed)
		}
	})
	require.Positive(t, outcomes[true])
	require.Positive(t, outcomes[false])
}

func TestUnassignedOfAnInvalidGroupIsNoPanic(t *testing.T) {
	group := assign.Group{
		Members: []assign.Member{{ID: "a", Topics: []string{"T", "U"}}, {ID: "a", Topics: []string{"T"}}},
		Topics:  map[string]assign.Topic{"T": {Partitions: -3}, "U": {Partitions: 2}},
	}
	require.Equal(t, assign.Partitions{"U": {1}}, assign.Unassigned(group, assign.Plan{"a": {"T": {0}, "U": {0}}}))
}
