package assign_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
)

// bytesChooser makes choices of a fuzzer's bytes. When they are used up, it chooses 0.
func bytesChooser(data []byte) chooser {
	return func(n int) int {
		if len(data) == 0 {
			return 0
		}
		first := data[0]
		data = data[1:]
		return int(first) % n
	}
}

// FuzzAssign gives the assignors groups that no coordinator should make up: invalid ones are
// refused, for the others there is a valid plan, the same whatever the order of members.
func FuzzAssign(f *testing.F) {
	f.Add([]byte{}, []byte{})
	f.Add([]byte{3, 4, 4, 4, 2, 1, 1, 3, 0, 1}, []byte{0, 0, 0, 1, 0, 1, 't', 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7})
	// A count of partitions whose bytes overflow where int has 32 bits.
	f.Add([]byte{1, 4, 2, 0, 2, 0, 3, 0, 1, 0, 0, 0}, []byte{0, 0, 0, 1, 0, 1, 't', 0x40, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data, userData []byte) {
		group := bytesChooser(data).hostileGroup(userData)
		for _, assignor := range allAssignors() {
			requireHarmless(t, assignor, group)
		}
	})
}

// FuzzStickyOptimum looks for a small group for which there is a better plan.
func FuzzStickyOptimum(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 4, 7, 7, 7, 7, 1, 1, 2, 0, 1, 2, 0, 1, 2, 6, 1, 1, 1, 1, 0, 1, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		requireOptimal(t, smallGroup(bytesChooser(data)))
	})
}

func requireHarmless(t *testing.T, assignor assign.Assignor, group assign.Group) {
	plan, err := assignor.Assign(group)
	if invalid := assign.Check(group, emptyPlan(group)); invalid != nil {
		require.Error(t, err, "%s: %v", assignor.Name(), invalid)
		require.Empty(t, plan)
		return
	}
	require.NoError(t, err)
	require.NoError(t, assign.Check(group, plan))
	require.Zero(t, assign.Unassigned(group, plan).Count())
	require.NoError(t, assign.Check(group, assign.Withhold(group, plan)))
	e := assign.Explain(assign.Owners(group), group, plan)
	require.NotEmpty(t, e.String())

	slices.Reverse(group.Members)
	again, err := assignor.Assign(group)
	require.NoError(t, err)
	require.Equal(t, plan, again)

	if assignor.Cooperative() { // in user data there may be generations, which Withhold does not know
		group.Members = slices.Clone(group.Members)
		for i := range group.Members {
			group.Members[i].UserData = nil
		}
	}
	requireLeadEqualsTheSteps(t, assignor, group)
}

func emptyPlan(group assign.Group) assign.Plan {
	plan := assign.Plan{}
	for _, m := range group.Members {
		plan[m.ID] = nil
	}
	return plan
}

// hostileGroup makes a group that keeps none of the promises of its types' comments.
func (choose chooser) hostileGroup(userData []byte) assign.Group {
	group := assign.Group{Topics: map[string]assign.Topic{}}
	names := []string{"t", "u", "", "\xff\xfe", "v"}
	sizes := []int32{0, 1, 2, 5, 12, 40, 200, -1, math.MinInt32, math.MaxInt32, 1 << 25}
	for _, name := range names[:choose(len(names)+1)] {
		topic := assign.Topic{Partitions: sizes[choose(len(sizes))]}
		if choose.oneOf(3) && topic.Partitions >= 0 {
			topic.Partitions = sizes[choose(7)] // or most groups would be invalid
		}
		for range choose(8) {
			topic.Racks = append(topic.Racks, slices.Repeat([]string{"", "a", "b"}[:choose(4)], 1+choose(2)))
		}
		group.Topics[name] = topic
	}
	for i := range choose(9) {
		m := assign.Member{ID: fmt.Sprint(i), Rack: []string{"", "a", "b", "c"}[choose(4)]}
		if choose.oneOf(40) {
			m.ID = "0"
		}
		m.InstanceID = []string{"", "", "i", "j"}[choose(4)]
		for range choose(7) {
			m.Topics = append(m.Topics, names[choose(len(names))])
		}
		m.Generation = []int32{0, -1, 1, math.MinInt32, math.MaxInt32}[choose(5)]
		m.Owned = choose.hostileClaim(names)
		m.UserData = userData[min(choose(4), len(userData)):]
		group.Members = append(group.Members, m)
	}
	return group
}

func (choose chooser) hostileClaim(names []string) assign.Partitions {
	claim := assign.Partitions{}
	for range choose(4) {
		name := names[choose(len(names))]
		for range choose(12) {
			numbers := []int32{0, 1, 2, 3, 4, 5, 11, 39, 12, -1, math.MinInt32, math.MaxInt32}
			claim[name] = append(claim[name], numbers[choose(len(numbers))])
		}
	}
	return claim
}

func TestGroupsThatNoPlanCanAnswerAreRefused(t *testing.T) {
	topics := func(counts ...int32) map[string]assign.Topic {
		topics := map[string]assign.Topic{}
		for i, n := range counts {
			topics[fmt.Sprint("t", i)] = assign.Topic{Partitions: n}
		}
		return topics
	}
	for name, group := range map[string]assign.Group{
		"negative":                {Topics: topics(1, -1)},
		"most negative":           {Topics: topics(math.MinInt32)},
		"more than memory":        {Topics: topics(math.MaxInt32)},
		"a sum beyond 32 bits":    {Topics: topics(math.MaxInt32, math.MaxInt32, 2)},
		"negative makes no space": {Topics: topics(math.MaxInt32, -math.MaxInt32)},
		"twice":                   {Members: []assign.Member{{ID: "a"}, {ID: "b"}, {ID: "a"}}},
	} {
		group.Members = append(group.Members, assign.Member{ID: "m", Topics: []string{"t0", "t1", "t2"}})
		for _, assignor := range allAssignors() {
			plan, err := assignor.Assign(group)
			require.ErrorContains(t, err, assignor.Name()+": ", "%s, %s", name, assignor.Name())
			require.Empty(t, plan)
		}
	}
}

// A million topics, of which one member wants all and another every second one.
func TestAMillionTopics(t *testing.T) {
	count := 1_000_000
	if testing.Short() {
		count = 10_000
	}
	group := manyTopics(count)
	plan, err := assign.Sticky().Assign(group)
	require.NoError(t, err)
	require.Equal(t, count/2, plan["all"].Count())
	require.Equal(t, count/2, plan["half"].Count())

	group = manyTopics(count / 10)
	for _, assignor := range allAssignors() {
		planned(t, assignor, group)
	}
}

func manyTopics(count int) assign.Group {
	group := assign.Group{Topics: make(map[string]assign.Topic, count), Members: []assign.Member{
		{ID: "all"}, {ID: "half"}, {ID: "none"},
	}}
	for i := range count {
		name := fmt.Sprintf("topic-%07d", i)
		group.Topics[name] = assign.Topic{Partitions: 1}
		group.Members[0].Topics = append(group.Members[0].Topics, name)
		if i%2 == 0 {
			group.Members[1].Topics = append(group.Members[1].Topics, name)
		}
	}
	return group
}
