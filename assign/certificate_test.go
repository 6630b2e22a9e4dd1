package assign_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
)

// For groups in which not every plan can be tried, a plan is shown to be optimal
// by its own partitions: it is, unless partitions can be passed on in a chain, from member
// to member, or in a ring, so that the plan gets better. (Flows of least cost are those
// without a cycle of negative cost. Of all load vectors the most even one also has the
// least sum of squares, so squares serve as the cost of loads.)
func TestStickyPlansOfMiddlingGroupsCannotBeImproved(t *testing.T) {
	groups := 400
	if testing.Short() {
		groups = 40
	}
	for seed := range uint64(groups) {
		group := middlingGroup(rand.New(rand.NewPCG(seed, 5)))
		q := newQuestion(group)
		for _, assignor := range stickyKinds() {
			owners := q.owners(planned(t, assignor, group))
			if gain := q.improvement(owners); gain != 0 {
				require.Fail(t, "the plan can be improved", "%s, seed %d: %+v by %s", assignor.Name(), seed, q.score(owners), gain)
			}
		}
	}
}

// The certificate agrees with the search of all plans: it refuses just those plans that
// are not the best.
func TestTheCertificateRefusesWhatIsNotOptimal(t *testing.T) {
	refused := 0
	for seed := range uint64(2_000) {
		rng := rand.New(rand.NewPCG(seed, 6))
		q := newQuestion(smallGroup(rng.IntN))
		owners := make([]int, len(q.partitions))
		for i, p := range q.partitions {
			owners[i] = p.readers[rng.IntN(len(p.readers))]
			if p.holder >= 0 && rng.IntN(2) > 0 {
				owners[i] = p.holder
			}
		}
		for gain := q.improvement(owners); gain != 0; gain = q.improvement(owners) {
			require.NotZero(t, compareScores(q.best(), q.score(owners)), "seed %d", seed)
			refused++
			if !q.improve(owners, rng) {
				break
			}
		}
		if q.improvement(owners) == 0 {
			require.Zero(t, compareScores(q.best(), q.score(owners)), "seed %d", seed)
		}
	}
	require.Greater(t, refused, 1_000)
}

// improve makes one random step to a better plan.
func (q question) improve(owners []int, rng *rand.Rand) bool {
	before := q.score(owners)
	for _, i := range rng.Perm(len(owners)) {
		was := owners[i]
		for _, reader := range q.partitions[i].readers {
			owners[i] = reader
			if compareScores(q.score(owners), before) < 0 {
				return true
			}
		}
		owners[i] = was
	}
	return false
}

// A gain is how much worse (above zero) or better (below) a plan becomes: loads before
// mismatches before moves.
type gain int64

const (
	gainMove     gain = 1
	gainMismatch gain = 1 << 20
	gainLoad     gain = 1 << 40
	impossible   gain = math.MaxInt64 / 4
)

func (g gain) String() string { return fmt.Sprintf("%#x", int64(g)) }

// improvement returns what can be gained by passing partitions on, as a negative
// number; zero if nothing can. Member number len(q.members) stands for the outside:
// a chain comes from there and goes back there.
func (q question) improvement(owners []int) gain {
	outside := len(q.members)
	price := q.prices(owners)
	for via := range outside + 1 {
		for from := range outside + 1 {
			for to := range outside + 1 {
				price[from][to] = min(price[from][to], price[from][via]+price[via][to])
			}
			if price[from][from] < 0 {
				return price[from][from]
			}
		}
	}
	return 0
}

// prices returns what it costs to pass one partition from a member to another: the
// cheapest of those that it has and the other may read.
func (q question) prices(owners []int) [][]gain {
	outside := len(q.members)
	price := make([][]gain, outside+1)
	for from := range price {
		price[from] = slices.Repeat([]gain{impossible}, outside+1)
	}
	loads := make([]gain, outside)
	for i, p := range q.partitions {
		from := owners[i]
		loads[from]++
		for _, to := range p.readers {
			if to != from {
				price[from][to] = min(price[from][to], p.gain(to)-p.gain(from))
			}
		}
	}
	for m, load := range loads {
		price[outside][m] = -(2*load - 1) * gainLoad // m has one less in the end
		price[m][outside] = (2*load + 1) * gainLoad  // m has one more in the end
	}
	return price
}

func (p partitionInPlay) gain(reader int) gain {
	return gain(p.cost(reader)/mismatch)*gainMismatch + gain(p.cost(reader)%mismatch)*gainMove
}

// middlingGroup makes a group of 10 to 30 members and some hundred partitions, whose
// claims were settled before members left and joined.
func middlingGroup(rng *rand.Rand) assign.Group {
	group := assign.Group{Topics: map[string]assign.Topic{}}
	kind := rng.IntN(4)
	var names []string
	for i := range 3 + rng.IntN(12) {
		names = append(names, fmt.Sprintf("t%02d", i))
		topic := assign.Topic{Partitions: int32(rng.IntN(40))}
		for range topic.Partitions {
			topic.Racks = append(topic.Racks, chooser(rng.IntN).replicas(2))
		}
		group.Topics[names[i]] = topic
	}
	for i := range 10 + rng.IntN(21) {
		m := assign.Member{ID: fmt.Sprintf("m%02d", i), Generation: 7, Topics: names, Owned: assign.Partitions{}}
		if kind&1 != 0 {
			m.Topics = slices.Sorted(slices.Values(chooser(rng.IntN).some(names)))
		}
		if kind&2 != 0 && rng.IntN(8) > 0 {
			m.Rack = chooser(rng.IntN).rack()
		}
		group.Members = append(group.Members, m)
	}
	owners := group.Members[:1+rng.IntN(len(group.Members))]
	for _, name := range names {
		for number := range group.Topics[name].Partitions {
			m := owners[rng.IntN(len(owners))]
			m.Owned[name] = append(m.Owned[name], number)
		}
	}
	return group
}

// some returns at least one of the names.
func (choose chooser) some(names []string) []string {
	chosen := []string{names[choose(len(names))]}
	for _, name := range names {
		if choose.oneOf(3) && name != chosen[0] {
			chosen = append(chosen, name)
		}
	}
	return chosen
}
