package assign_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/musterkafka/muster/assign"
)

// A group that follows a plan in cooperative rounds: each member keeps what it owned
// and was given again, lets go of the rest, and takes what is new.
func TestNobodyGetsWhatAnotherMayStillRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		group := drawGroup(t)
		plan, err := assign.Range().Assign(group)
		require.NoError(t, err)
		given := assign.Withhold(group, plan)
		require.NoError(t, assign.Check(group, given))
		for _, m := range group.Members {
			for topic, partition := range given[m.ID].All() {
				require.True(t, plan[m.ID].Contains(topic, partition), "only the plan is given")
				for _, other := range group.Members {
					rightful := max(other.Generation, -1) >= max(m.Generation, -1) || !m.Owned.Contains(topic, partition)
					if other.ID != m.ID && rightful {
						require.False(t, other.Owned.Contains(topic, partition), "%q still owns %s-%d", other.ID, topic, partition)
					}
				}
			}
		}
	})
}

func TestPlanIsFulfilledInTwoRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		group := drawGroup(t)
		plan, err := assign.Range().Assign(group)
		require.NoError(t, err)
		first := assign.Withhold(group, plan)
		for i := range group.Members {
			group.Members[i].Owned = first[group.Members[i].ID]
			group.Members[i].Generation = 10
		}
		second := assign.Withhold(group, plan)
		for id, share := range plan {
			require.True(t, share.Equal(second[id]), "member %q", id)
		}
	})
}

func TestWithholdLeavesThePlanAlone(t *testing.T) {
	group := assign.Group{
		Members: []assign.Member{
			{ID: "m1", Topics: []string{"T"}, Owned: assign.Partitions{"T": {0, 1}}, Generation: 1},
			{ID: "m2", Topics: []string{"T"}, Generation: 1},
		},
		Topics: map[string]assign.Topic{"T": {Partitions: 2}},
	}
	plan := assign.Plan{"m1": {"T": {0}}, "m2": {"T": {1}}}
	given := assign.Withhold(group, plan)
	require.Equal(t, assign.Plan{"m1": {"T": {0}}, "m2": {}}, given)
	given["m1"]["T"][0] = 9
	require.Equal(t, assign.Plan{"m1": {"T": {0}}, "m2": {"T": {1}}}, plan)
}
