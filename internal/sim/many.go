package sim

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
)

// Summary is what came of many seeds.
type Summary struct {
	Seeds  uint64
	Failed []Result // those with a violation, ascending by seed
	Visits Visits
}

// Add counts in what came of other seeds, which are later ones.
func (s *Summary) Add(other *Summary) {
	s.Seeds += other.Seeds
	s.Failed = append(s.Failed, other.Failed...)
	s.Visits.Add(&other.Visits)
}

// RunAll simulates seeds from first on, so many at a time. What comes of a seed
// does not depend on the others.
func RunAll(first, seeds uint64, atOnce int) Summary {
	var next atomic.Uint64
	parts := make([]Summary, max(atOnce, 1))
	var all sync.WaitGroup
	for i := range parts {
		part := &parts[i]
		all.Go(func() {
			for at := next.Add(1) - 1; at < seeds; at = next.Add(1) - 1 {
				r := Run(first+at, nil)
				part.Visits.Add(&r.Visits)
				if r.Violation != "" {
					part.Failed = append(part.Failed, r)
				}
			}
		})
	}
	all.Wait()
	sum := Summary{Seeds: seeds}
	for i := range parts {
		sum.Visits.Add(&parts[i].Visits)
		sum.Failed = append(sum.Failed, parts[i].Failed...)
	}
	slices.SortFunc(sum.Failed, func(a, b Result) int { return cmp.Compare(a.Seed, b.Seed) })
	return sum
}
