package assign

import (
	"fmt"
	"math"
)

// Sticky returns Kafka's "sticky" assignor.
func Sticky() Assignor { return sticky{} }

type sticky struct{}

func (sticky) Name() string { return "sticky" }

func (sticky) Cooperative() bool { return false }

// UserData returns version 1 of what Java's StickyAssignor writes, from which alone a leader
// learns what an eager member owned; nil before the first assignment.
func (sticky) UserData(owned Partitions, generation int32) []byte {
	if generation < 0 {
		return nil
	}
	return appendStickyData(nil, owned, generation)
}

func (sticky) Assign(g Group) (Plan, error) {
	r, err := newRoster(g, compareIDs)
	if err != nil {
		return nil, fmt.Errorf("sticky: %w", err)
	}
	c := newClaims(r)
	for m := range r.members {
		if data, ok := readStickyData(r.members[m].UserData); ok {
			c.sticky(int32(m), data)
		} else {
			c.owned(int32(m), max(r.members[m].Generation, -1))
		}
	}
	return balance(r, g.Topics, c.settle()), nil
}

// balance makes the plan of the sticky assignors: see the package comment. Owner is by
// partition the member with the valid claim, or nobody; it is overwritten.
func balance(r *roster, topics map[string]Topic, owner []int32) Plan {
	if len(r.topics) == 0 {
		return r.plan(owner)
	}
	racks := newRacks(r, topics)
	if members := r.sharedSubscribers(); members != nil && racks == nil {
		r.even(members, owner)
		return r.plan(owner)
	}
	levels, _ := findLevels(newClasses(r), math.MaxInt64)
	newExchange(levels, racks, owner).settle(math.MaxInt64)
	return r.plan(owner)
}
