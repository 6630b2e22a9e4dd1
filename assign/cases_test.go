package assign_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
)

// The cases that other clients got wrong are numbered, see docs/assignors.md. Most are
// scripts in testdata; here are those that need a loop.

// B10: one plan for one group, in whatever order its parts are given.
func TestPlansDoNotDependOnTheOrderOfInput(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 7))
		group := smallGroup(rng.IntN)
		if seed%8 == 0 {
			group = middlingGroup(rng)
		}
		for _, assignor := range allAssignors() {
			plan := planned(t, assignor, group)
			for range 100 {
				requireEqualPlans(t, plan, planned(t, assignor, shuffled(group, rng)), group)
			}
		}
	}
}

// shuffled returns an equal group with nothing in the same order.
func shuffled(group assign.Group, rng *rand.Rand) assign.Group {
	other := assign.Group{Members: slices.Clone(group.Members), Topics: map[string]assign.Topic{}}
	shuffle(rng, other.Members)
	for i := range other.Members {
		m := &other.Members[i]
		m.Topics = slices.Clone(m.Topics)
		shuffle(rng, m.Topics)
		m.Owned = m.Owned.Clone()
	}
	for name, topic := range group.Topics {
		racks := slices.Clone(topic.Racks)
		for p := range racks {
			racks[p] = slices.Clone(racks[p])
			shuffle(rng, racks[p])
		}
		other.Topics[name] = assign.Topic{Partitions: topic.Partitions, Racks: racks}
	}
	return other
}

func shuffle[T any](rng *rand.Rand, list []T) {
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// B10: one assignor serves many groups at a time. The race detector watches.
func TestOneAssignorServesManyGroupsAtATime(t *testing.T) {
	for _, assignor := range allAssignors() {
		group := middlingGroup(rand.New(rand.NewPCG(1, 8)))
		want := planned(t, assignor, group)
		plans := make([]assign.Plan, 4)
		var wg sync.WaitGroup
		for i := range plans {
			wg.Go(func() { plans[i], _ = assignor.Assign(claimed(assignor, group)) })
		}
		wg.Wait()
		for _, plan := range plans {
			require.Equal(t, want, plan)
		}
	}
}

// B01: whatever the members are called, one partition moves.
func TestSpareMembersDoNotKeepThePlanFromBeingMade(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	owned := []assign.Partitions{{"S": {0}}, {"S": {1}}, {"S": {2}}, {}, {"A": {0}}, {"A": {1, 2}}, {}, {}, {}}
	for range 1_000 {
		group := assign.Group{Topics: map[string]assign.Topic{"S": {Partitions: 3}, "A": {Partitions: 3}}}
		for i, name := range rng.Perm(len(owned)) {
			m := assign.Member{ID: fmt.Sprint("m", name), Topics: []string{"S"}, Owned: owned[i]}
			if i >= 4 {
				m.Topics = []string{"A"}
			}
			group.Members = append(group.Members, m)
		}
		for _, assignor := range stickyKinds() {
			e := assign.Explain(assign.Owners(group), group, planned(t, assignor, group))
			require.Equal(t, 1, e.Moved())
			require.Equal(t, 1, e.After.Most)
		}
	}
}

// B03: many partitions, many members: even, in no time to speak of, and nothing that
// need not move does when a member leaves.
func TestManyPartitionsAreSpreadEvenly(t *testing.T) {
	group := assign.Group{Topics: map[string]assign.Topic{"T": {Partitions: 15_000}}}
	for i := range 450 {
		group.Members = append(group.Members, assign.Member{ID: fmt.Sprintf("m%03d", i), Topics: []string{"T"}, Generation: -1})
	}
	for _, assignor := range stickyKinds() {
		plan := planned(t, assignor, group)
		require.Equal(t, map[int]int{33: 300, 34: 150}, sizes(plan))
		left := owning(group, plan, 1)
		left.Members = left.Members[1:]
		e := assign.Explain(plan, left, planned(t, assignor, left))
		require.Equal(t, plan[group.Members[0].ID].Count(), e.Moved())
	}
}

// sizes counts members by number of partitions.
func sizes(plan assign.Plan) map[int]int {
	counts := map[int]int{}
	for _, share := range plan {
		counts[share.Count()]++
	}
	return counts
}

// B04: 84 members of which always 12 read one of seven topics. What they claim is their own, though
// one assignor wrote it all.
func TestGroupsOfOneProcessDoNotMixClaims(t *testing.T) {
	group := assign.Group{Topics: map[string]assign.Topic{}}
	for i := range 84 {
		topic := fmt.Sprint("t", i%7)
		group.Topics[topic] = assign.Topic{Partitions: 24}
		group.Members = append(group.Members, assign.Member{ID: fmt.Sprintf("m%02d", i), Topics: []string{topic}, Generation: -1})
	}
	assignor := assign.Sticky()
	plan := planned(t, assignor, group)
	require.Equal(t, map[int]int{2: 84}, sizes(plan))
	for i := range group.Members {
		m := &group.Members[i]
		m.UserData = assignor.(assign.UserDataEncoder).UserData(plan[m.ID], 3)
		require.Equal(t, stickyUserData(plan[m.ID], 3), m.UserData)
	}
	again, err := assignor.Assign(group)
	require.NoError(t, err)
	require.Equal(t, plan, again)
}

// B21: a ninth member joins eight that share two topics. That all have four is a must; how the
// topics are mixed is for the eye.
func TestANinthMemberGetsItsShare(t *testing.T) {
	group := assign.Group{Topics: map[string]assign.Topic{"topic1": {Partitions: 18}, "topic2": {Partitions: 18}}}
	for i := range 8 {
		group.Members = append(group.Members, assign.Member{ID: fmt.Sprint("m", i), Topics: []string{"topic1", "topic2"}})
	}
	for _, assignor := range stickyKinds() {
		settled := owning(group, planned(t, assignor, group), 1)
		settled.Members = append(settled.Members, assign.Member{ID: "m8", Topics: []string{"topic1", "topic2"}, Generation: -1})
		plan := planned(t, assignor, settled)
		require.Equal(t, map[int]int{4: 9}, sizes(plan))
		var mix []string
		for _, m := range settled.Members {
			mix = append(mix, fmt.Sprintf("%d+%d", len(plan[m.ID]["topic1"]), len(plan[m.ID]["topic2"])))
		}
		t.Logf("%s: %s", assignor.Name(), strings.Join(mix, " "))
	}
}

// B26: a cooperative group is done after two rounds, the plan of the second is that of
// the first, and nobody is ever given what another still owns.
func TestCooperativeGroupsNeedTwoRounds(t *testing.T) {
	groups := uint64(20_000)
	if testing.Short() {
		groups = 1_000
	}
	for seed := range groups {
		group := smallGroup(rand.New(rand.NewPCG(seed, 10)).IntN)
		plan := planned(t, assign.CooperativeSticky(), group)
		first := assign.Withhold(group, plan)
		requireNothingOwned(t, group, first)
		group = owning(group, first, 10)
		plan = planned(t, assign.CooperativeSticky(), group)
		second := assign.Withhold(group, plan)
		requireEqualPlans(t, plan, second, group)
		group = owning(group, second, 11)
		requireEqualPlans(t, second, planned(t, assign.CooperativeSticky(), group), group)
	}
}

func requireEqualPlans(t require.TestingT, want, got assign.Plan, group assign.Group) {
	for id, share := range want {
		if !share.Equal(got[id]) {
			require.Equal(t, want, got, describeGroup(group))
		}
	}
}

// requireNothingOwned checks that a plan gives nobody what another has a valid claim to.
func requireNothingOwned(t *testing.T, group assign.Group, given assign.Plan) {
	for _, p := range newQuestion(group).partitions {
		for i, m := range group.Members {
			if p.holder >= 0 && p.holder != i && given[m.ID].Contains(p.topic, p.number) {
				require.Fail(t, "given too early", "%s-%d to %s of %s", p.topic, p.number, m.ID, describeGroup(group))
			}
		}
	}
}
