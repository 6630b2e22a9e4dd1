package assign

import (
	"fmt"
	"slices"
	"strings"
)

// An Encoded is what one member is told.
type Encoded struct {
	MemberID string
	Bytes    []byte // as AppendAssignment writes them
}

// Lead does what the leader of a group does once it knows the group: it lets a assign, checks the
// plan (see Check), takes out what others still own if a is cooperative (see Withhold), and encodes
// the rest (see AppendAssignment). Assignments have one entry for every member, ascending by
// ID. Unassigned is what the plan leaves to nobody before anything is taken out (see
// Unassigned); if a is an assignor of this package, that is an error. An error of a is
// returned as it is, and a panic of a is not recovered. Assignments of more than
// 2,147,483,647 bytes in all, which no request can carry, are an error for the assignors of this package.
//
// For those it needs far less time and memory than the steps one by one: it never makes
// a Plan. What is withheld for CooperativeSticky goes by the generations that it has read, also those
// in user data.
func Lead(a Assignor, g Group) (assignments []Encoded, unassigned Partitions, err error) {
	if own, ok := a.(decider); ok {
		assignments, err = leadBy(own, g)
		return assignments, nil, err
	}
	plan, err := a.Assign(g)
	if err != nil {
		return nil, nil, err
	}
	unassigned, err = Review(g, plan)
	if err != nil {
		return nil, nil, err
	}
	if a.Cooperative() {
		plan = Withhold(g, plan)
	}
	assignments = make([]Encoded, 0, len(g.Members))
	for _, m := range g.Members {
		assignments = append(assignments, Encoded{m.ID, AppendAssignment(nil, plan[m.ID])})
	}
	sortEncoded(assignments)
	return assignments, unassigned, nil
}

func leadBy(a decider, g Group) ([]Encoded, error) {
	d, err := decide(a, g)
	if err != nil {
		return nil, err
	}
	if err := d.check(g); err != nil {
		return nil, err
	}
	if a.Cooperative() {
		d.withhold()
	}
	assignments, err := d.encode()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Name(), err)
	}
	sortEncoded(assignments)
	return assignments, nil
}

func sortEncoded(list []Encoded) {
	slices.SortFunc(list, func(a, b Encoded) int { return strings.Compare(a.MemberID, b.MemberID) })
}
