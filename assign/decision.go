package assign

import (
	"errors"
	"fmt"
	"slices"
)

// A decision is a plan in numbers.
type decision struct {
	*roster
	owner []int32 // by partition, the member that shall own it; negative for nobody
	held  []int32 // of cooperative assignors: by partition, whose claim is true, as in claims
}

// A decider is an assignor of this package.
type decider interface {
	Assignor
	decide(Group) (decision, error)
}

// decide lets an assignor of this package decide, and says in errors which one it was.
func decide(a decider, g Group) (decision, error) {
	d, err := a.decide(g)
	if err != nil {
		return decision{}, fmt.Errorf("%s: %w", a.Name(), err)
	}
	return d, nil
}

// assignBy is the Assign of the assignors of this package.
func assignBy(a decider, g Group) (Plan, error) {
	d, err := decide(a, g)
	if err != nil {
		return nil, err
	}
	return d.plan(), nil
}

// check is Check, and an error if anything is left to nobody. That nothing is given twice or
// unknown, and that every member has an entry, is in the form of a decision.
func (d *decision) check(g Group) error {
	if d.fits() {
		return nil
	}
	if err := Check(g, d.plan()); err != nil {
		return err
	}
	return errors.New("the assignor has left partitions to nobody")
}

// fits reports whether everything has an owner that subscribes to it. It goes through all
// subscriptions side by side.
func (d *decision) fits() bool {
	rest := make([][]int32, len(d.kinds)) // from the present topic on
	copy(rest, d.kinds)
	for t := range int32(len(d.topics)) {
		for _, m := range d.owner[d.first[t]:d.first[t+1]] {
			if m < 0 {
				return false
			}
			topics := &rest[d.kind[m]]
			for len(*topics) > 0 && (*topics)[0] < t {
				*topics = (*topics)[1:]
			}
			if len(*topics) == 0 || (*topics)[0] != t {
				return false
			}
		}
	}
	return true
}

// withhold is Withhold, by the generations that the assignor has read.
func (d *decision) withhold() {
	for p, held := range d.held {
		if held != nobody && held != d.owner[p] {
			d.owner[p] = nobody
		}
	}
}

// plan spells a decision out. All lists of the plan are parts of one block.
func (d *decision) plan() Plan {
	start := make([]int32, len(d.members)+1)
	for _, m := range d.owner {
		start[m+1]++ // nobody's land in start[0] and are not kept
	}
	start[0] = 0
	for m := range d.members {
		start[m+1] += start[m]
	}
	numbers := make([]int32, start[len(d.members)])
	topics := make([]int32, len(numbers))
	next := slices.Clone(start)
	for t := range d.topics {
		for p, m := range d.owner[d.first[t]:d.first[t+1]] {
			if m >= 0 {
				at := next[m]
				numbers[at], topics[at] = int32(p), int32(t)
				next[m]++
			}
		}
	}
	plan := make(Plan, len(d.members))
	for m := range d.members {
		plan[d.members[m].ID] = d.share(numbers[start[m]:start[m+1]], topics[start[m]:start[m+1]])
	}
	return plan
}

// share cuts one member's numbers into topics.
func (d *decision) share(numbers, topics []int32) Partitions {
	count := 0
	for i, t := range topics {
		if i == 0 || t != topics[i-1] {
			count++
		}
	}
	share := make(Partitions, count)
	for i := 0; i < len(topics); {
		end := i + 1
		for end < len(topics) && topics[end] == topics[i] {
			end++
		}
		share[d.topics[topics[i]]] = numbers[i:end:end]
		i = end
	}
	return share
}
