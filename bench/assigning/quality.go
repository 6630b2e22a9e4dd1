package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/musterkafka/muster/assign"
)

// A quality says how good a plan is.
type quality struct {
	Least, Most int // partitions of one member
	Squares     int // sum of all members' squared loads: the less, the more even
	Mismatches  int // partitions whose member is in another rack
	Moves       int // partitions whose owner is still there, but not the owner any more
}

// compare orders qualities as the sticky assignors do: a better one comes first.
func (q quality) compare(other quality) int {
	return cmp.Or(cmp.Compare(q.Squares, other.Squares), cmp.Compare(q.Mismatches, other.Mismatches), cmp.Compare(q.Moves, other.Moves))
}

// judge decodes assignments, checks them as a plan for g, and says how good they are. Partitions
// that nobody has are counted as well: in the first round of a cooperative assignor they are
// not a fault.
func judge(g assign.Group, assignments map[string][]byte) (plan assign.Plan, q quality, unassigned int, err error) {
	plan = make(assign.Plan, len(assignments))
	for id, data := range assignments {
		if plan[id], err = assign.ReadAssignment(data); err != nil {
			return nil, quality{}, 0, fmt.Errorf("assignment of %s: %w", id, err)
		}
	}
	if err := assign.Check(g, plan); err != nil {
		return nil, quality{}, 0, err
	}
	return plan, rate(g, plan), assign.Unassigned(g, plan).Count(), nil
}

// rate says how good a valid plan is.
func rate(g assign.Group, plan assign.Plan) quality {
	var q quality
	var loads []int
	for _, m := range g.Members {
		share := plan[m.ID]
		loads = append(loads, share.Count())
		q.Squares += share.Count() * share.Count()
		q.Moves += m.Owned.Minus(share).Count()
		for topic, p := range share.All() {
			if m.Rack != "" && int(p) < len(g.Topics[topic].Racks) && !slices.Contains(g.Topics[topic].Racks[p], m.Rack) {
				q.Mismatches++
			}
		}
	}
	if len(loads) > 0 {
		q.Least, q.Most = slices.Min(loads), slices.Max(loads)
	}
	return q
}
