package assign_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/musterkafka/muster/assign"
)

// The sticky assignors promise the best plan there is. For small groups that can be
// tried: best looks at every plan.
func TestStickyPlansAreOptimal(t *testing.T) {
	groups := 20_000
	if testing.Short() {
		groups = 1_000
	}
	for seed := range uint64(groups) {
		requireOptimal(t, smallGroup(rand.New(rand.NewPCG(seed, 4)).IntN))
	}
}

func TestStickyPlansAreOptimalForDrawnGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requireOptimal(t, smallGroup(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }))
	})
}

// A group whose claims are an optimal plan of its own has nothing to move.
func TestStickyPlansStayWhereTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		group := smallGroup(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") })
		for _, assignor := range stickyKinds() {
			plan := planned(t, assignor, group)
			again := planned(t, assignor, owning(group, plan, 10))
			requireEqualPlans(t, plan, again, group)
		}
	})
}

func requireOptimal(t require.TestingT, group assign.Group) {
	q := newQuestion(group)
	want := q.best()
	for _, assignor := range stickyKinds() {
		got := q.score(q.owners(planned(t, assignor, group)))
		if compareScores(want, got) != 0 {
			require.Equal(t, want, got, "%s of %s", assignor.Name(), describeGroup(group))
		}
	}
}

// owning returns group after every member has taken what plan gives it.
func owning(group assign.Group, plan assign.Plan, generation int32) assign.Group {
	group.Members = slices.Clone(group.Members)
	for i := range group.Members {
		group.Members[i].Owned = plan[group.Members[i].ID]
		group.Members[i].Generation = generation
	}
	return group
}

// best returns the score of the best plan, by looking at every plan in which
// nobody has more than limit partitions. The least limit that leaves any plan at all
// is the highest load of the best plan.
func (q question) best() score {
	for limit := 0; ; limit++ {
		if s, found := q.bestWithin(limit); found {
			return s
		}
	}
}

// loadVector holds each member's number of partitions, eight bits each.
type loadVector uint64

func (v loadVector) of(member int) int          { return int(v >> (8 * member) & 0xff) }
func (v loadVector) plus(member int) loadVector { return v + 1<<(8*member) }

// bestWithin gives out partition after partition in all possible ways. Ways that
// have led to the same loads differ only in what they cost so far, so the
// cheapest of them stands for all.
func (q question) bestWithin(limit int) (score, bool) {
	cheapest := map[loadVector]cost{0: 0}
	for _, p := range q.partitions {
		next := make(map[loadVector]cost, len(cheapest))
		for loads, before := range cheapest {
			for _, reader := range p.readers {
				if loads.of(reader) == limit {
					continue
				}
				after := before + p.cost(reader)
				if known, found := next[loads.plus(reader)]; !found || after < known {
					next[loads.plus(reader)] = after
				}
			}
		}
		cheapest = next
	}
	var scores []score
	for loads, c := range cheapest {
		scores = append(scores, q.scoreOf(loads, c))
	}
	if len(scores) == 0 {
		return score{}, false
	}
	return slices.MinFunc(scores, compareScores), true
}

// cost counts mismatches in units of mismatch and moves in units of one.
type cost int

const mismatch = cost(1 << 20)

func (p partitionInPlay) cost(reader int) (c cost) {
	if p.far[reader] {
		c += mismatch
	}
	if p.holder >= 0 && p.holder != reader {
		c++
	}
	return c
}

func (q question) scoreOf(loads loadVector, c cost) score {
	s := score{loads: make([]int, len(q.members)), mismatches: int(c / mismatch), moves: int(c % mismatch)}
	for i := range s.loads {
		s.loads[i] = loads.of(i)
	}
	slices.Sort(s.loads)
	slices.Reverse(s.loads)
	return s
}
