package assign_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
)

// Members that are alike share each topic as evenly as it goes; with other members among them,
// nobody gets more than half of one.
func TestFreshPlansSpreadEveryTopic(t *testing.T) {
	group := assign.Group{Topics: map[string]assign.Topic{}}
	var names []string
	for i := range 6 {
		names = append(names, fmt.Sprintf("T%d", i))
		group.Topics[names[i]] = assign.Topic{Partitions: 10}
	}
	for i := range 5 {
		group.Members = append(group.Members, assign.Member{ID: fmt.Sprint(i), Topics: names})
	}
	plan, err := assign.Sticky().Assign(group)
	require.NoError(t, err)
	for _, m := range group.Members {
		for _, topic := range names {
			require.Len(t, plan[m.ID][topic], 2)
		}
	}

	group.Members[0].Topics = names[1:] // no longer alike
	plan, err = assign.Sticky().Assign(group)
	require.NoError(t, err)
	for _, m := range group.Members {
		for _, topic := range names {
			require.LessOrEqual(t, len(plan[m.ID][topic]), 5, "half of %s goes to %s", topic, m.ID)
		}
	}
}

// A member that gives something up gives up some of every topic.
func TestWhatIsGivenUpIsSpread(t *testing.T) {
	topics := map[string]assign.Topic{"T": {Partitions: 4}, "U": {Partitions: 4}}
	first := assign.Member{
		ID: "m1", Topics: []string{"T", "U"}, Generation: 1,
		Owned: assign.Partitions{"T": {0, 1, 2, 3}, "U": {0, 1, 2, 3}},
	}
	second := assign.Member{ID: "m2", Topics: []string{"T", "U"}, Generation: 1}
	plan, err := assign.CooperativeSticky().Assign(assign.Group{Members: []assign.Member{first, second}, Topics: topics})
	require.NoError(t, err)
	for _, id := range []string{"m1", "m2"} {
		require.Len(t, plan[id]["T"], 2)
		require.Len(t, plan[id]["U"], 2)
	}
}

func TestCooperativeGenerationIsReadFromTheFirstPlaceThatHasIt(t *testing.T) {
	owns := assign.Partitions{"T": {0}}
	rival := assign.Member{ID: "rival", Topics: []string{"T"}, Owned: owns, Generation: 5}
	for name, test := range map[string]struct {
		generation int32
		data       []byte
		keeps      bool
	}{
		"field, newer":              {6, []byte{0, 0, 0, 1}, true},
		"field, older":              {4, []byte{0, 0, 0, 9}, false},
		"user data, newer":          {-1, []byte{0, 0, 0, 6}, true},
		"user data, older":          {-1, []byte{0, 0, 0, 4}, false},
		"sticky user data, newer":   {-1, assign.Sticky().(assign.UserDataEncoder).UserData(owns, 6), true},
		"sticky user data, older":   {-1, assign.Sticky().(assign.UserDataEncoder).UserData(owns, 4), false},
		"nothing":                   {-1, nil, false},
		"bytes that nothing writes": {-1, []byte{9, 9, 9}, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := assign.Member{ID: "m", Topics: []string{"T"}, Owned: owns, Generation: test.generation, UserData: test.data}
			plan, err := assign.CooperativeSticky().Assign(assign.Group{
				Members: []assign.Member{rival, m},
				Topics:  map[string]assign.Topic{"T": {Partitions: 1}},
			})
			require.NoError(t, err)
			require.Equal(t, test.keeps, plan["m"].Contains("T", 0))
		})
	}
}
