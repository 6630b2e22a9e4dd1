package assign_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/musterkafka/muster/assign"
)

// stranger is an assignor of which package assign knows no more than of an application's.
type stranger struct{ assign.Assignor }

// oneByOne does what Lead does for the assignors of the package, in the steps that applications see.
func oneByOne(t require.TestingT, assignor assign.Assignor, group assign.Group) (told []assign.Encoded) {
	plan, err := assignor.Assign(group)
	require.NoError(t, err)
	require.NoError(t, assign.Check(group, plan))
	if assignor.Cooperative() {
		plan = assign.Withhold(group, plan)
	}
	for _, m := range group.Members {
		told = append(told, assign.Encoded{MemberID: m.ID, Bytes: assign.AppendAssignment(nil, plan[m.ID])})
	}
	slices.SortFunc(told, func(a, b assign.Encoded) int { return strings.Compare(a.MemberID, b.MemberID) })
	return told
}

func requireLeadEqualsTheSteps(t require.TestingT, assignor assign.Assignor, group assign.Group) {
	want := oneByOne(t, assignor, group)
	for _, a := range []assign.Assignor{assignor, stranger{assignor}} {
		told, left, err := assign.Lead(a, group)
		require.NoError(t, err)
		require.Zero(t, left.Count())
		require.Len(t, told, len(want))
		for i := range want {
			require.Equal(t, want[i], told[i], "%T", a)
		}
	}
}

func TestLeadEqualsTheStepsOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		group := drawGroup(t)
		for _, assignor := range allAssignors() {
			requireLeadEqualsTheSteps(t, assignor, claimed(assignor, group))
		}
	})
	for seed := range uint64(2_000) {
		group := smallGroup(rand.New(rand.NewPCG(seed, 12)).IntN)
		for _, assignor := range allAssignors() {
			requireLeadEqualsTheSteps(t, assignor, claimed(assignor, group))
		}
	}
}

// Java's order of topics is not that of their bytes, and a name may be too long to be written.
func TestLeadWritesTopicsInTheOrderOfTheirBytes(t *testing.T) {
	long := strings.Repeat("n", 1<<15)
	names := []string{"a", long, "\uff21", "\U0001f600", "\U0001f600b"}
	group := assign.Group{Topics: map[string]assign.Topic{}}
	for _, name := range names {
		group.Topics[name] = assign.Topic{Partitions: 3}
	}
	for _, id := range []string{"m1", "m2"} {
		group.Members = append(group.Members, assign.Member{ID: id, Topics: names, Generation: -1})
	}
	for _, assignor := range allAssignors() {
		requireLeadEqualsTheSteps(t, assignor, group)
		told, _, err := assign.Lead(assignor, group)
		require.NoError(t, err)
		count := 0
		for _, e := range told {
			p, err := assign.ReadAssignment(e.Bytes)
			require.NoError(t, err)
			count += p.Count()
		}
		require.Equal(t, 12, count, "all but what has a name that is too long")
	}
}

func TestLeadListsMembersByID(t *testing.T) {
	group := assign.Group{Members: []assign.Member{{ID: "c"}, {ID: "b", InstanceID: "z"}, {ID: "a"}, {ID: "d", InstanceID: "y"}}}
	for _, assignor := range allAssignors() {
		for _, a := range []assign.Assignor{assignor, stranger{assignor}} {
			told, _, err := assign.Lead(a, group)
			require.NoError(t, err)
			ids := make([]string, 0, len(told))
			for _, e := range told {
				ids = append(ids, e.MemberID)
			}
			require.Equal(t, []string{"a", "b", "c", "d"}, ids, assignor.Name())
		}
	}
}

// A member older than KIP-792 owns what another claims since a generation that is known but over. The
// other gets it when the owner has let go of it.
func TestLeadWithholdsFromAStaleClaimWhatAnOldMemberOwns(t *testing.T) {
	group := assign.Group{
		Members: []assign.Member{
			{ID: "old", Topics: []string{"t"}, Owned: assign.Partitions{"t": {0, 1}}, Generation: -1, UserData: []byte{0, 0, 0, 5}},
			{ID: "stale", Topics: []string{"t"}, Owned: assign.Partitions{"t": {1}}, Generation: 4},
		},
		Topics: map[string]assign.Topic{"t": {Partitions: 2}},
	}
	plan, err := assign.CooperativeSticky().Assign(group)
	require.NoError(t, err)
	require.Equal(t, assign.Plan{"old": {"t": {0}}, "stale": {"t": {1}}}, plan)
	told, _, err := assign.Lead(assign.CooperativeSticky(), group)
	require.NoError(t, err)
	require.Equal(t, []assign.Encoded{
		{MemberID: "old", Bytes: assign.AppendAssignment(nil, plan["old"])},
		{MemberID: "stale", Bytes: assign.AppendAssignment(nil, nil)},
	}, told)
}

// given is an assignor whose plan is there before it is asked.
type given struct {
	stranger
	plan assign.Plan
	err  error
}

func (g given) Assign(assign.Group) (assign.Plan, error) { return g.plan, g.err }

func TestLeadTakesNothingOnTrustFromAnApplication(t *testing.T) {
	group := assign.Group{
		Members: []assign.Member{{ID: "a", Topics: []string{"t"}, Owned: assign.Partitions{"t": {1}}}, {ID: "b", Topics: []string{"t"}}},
		Topics:  map[string]assign.Topic{"t": {Partitions: 3}},
	}
	eager, cooperative := stranger{assign.Sticky()}, stranger{assign.CooperativeSticky()}

	broken := errors.New("broken")
	_, _, err := assign.Lead(given{stranger: eager, err: broken}, group)
	require.Equal(t, broken, err)

	twice := assign.Plan{"a": {"t": {0}}, "b": {"t": {0}}}
	_, _, err = assign.Lead(given{stranger: eager, plan: twice}, group)
	require.Equal(t, assign.Check(group, twice), err)

	some := assign.Plan{"a": {"t": {0}}, "b": {"t": {1}}}
	told, left, err := assign.Lead(given{stranger: cooperative, plan: some}, group)
	require.NoError(t, err)
	require.Equal(t, assign.Partitions{"t": {2}}, left, "what is withheld is not left to nobody")
	require.Equal(t, []assign.Encoded{
		{MemberID: "a", Bytes: assign.AppendAssignment(nil, some["a"])},
		{MemberID: "b", Bytes: assign.AppendAssignment(nil, nil)},
	}, told)
}

func TestLeadRefusesWhatNoRequestCanCarry(t *testing.T) {
	name := strings.Repeat("n", 1<<15-1)
	group := assign.Group{Topics: map[string]assign.Topic{name: {Partitions: 1 << 16}}}
	for i := range 1 << 16 {
		group.Members = append(group.Members, assign.Member{ID: fmt.Sprint(i), Topics: []string{name}, Generation: -1})
	}
	_, _, err := assign.Lead(assign.Range(), group)
	require.ErrorContains(t, err, "range: the assignments have 2148")
	group.Members = group.Members[:10]
	_, _, err = assign.Lead(assign.Range(), group)
	require.NoError(t, err)
}

// A leader of thousands of members must not need memory for each topic of each of them.
func TestLeadAllocatesLessThanOnceForEachMember(t *testing.T) {
	group := assign.Group{Topics: map[string]assign.Topic{}}
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprintf("t%02d", i))
		group.Topics[names[i]] = assign.Topic{Partitions: 400}
	}
	for i := range 400 {
		group.Members = append(group.Members, assign.Member{ID: fmt.Sprintf("m%03d", i), Topics: names, Generation: -1})
	}
	for _, assignor := range []assign.Assignor{assign.Sticky(), assign.CooperativeSticky(), assign.RoundRobin()} {
		allocations := testing.AllocsPerRun(3, func() {
			_, _, err := assign.Lead(assignor, group)
			require.NoError(t, err)
		})
		require.Less(t, allocations, 400.0, assignor.Name())
	}
}
