package main

import (
	"reflect"
	"testing"

	"github.com/musterkafka/muster/assign"
)

// owned is what the members of a group own, as a plan.
func owned(s shape) assign.Plan {
	plan := make(assign.Plan)
	for _, m := range s.group().Members {
		plan[m.ID] = m.Owned
	}
	return plan
}

func TestEqualShapesMakeEqualGroups(t *testing.T) {
	s := shape{members: 20, topics: 30, partitions: 5, subscribe: tenth, racks: 3, before: left}
	if !reflect.DeepEqual(s.group(), s.group()) {
		t.Fatal("the second group differs")
	}
}

func TestMembersOwnWhatTheyMay(t *testing.T) {
	for _, before := range []past{left, switched} {
		s := small(before)
		if err := assign.Check(s.group(), owned(s)); err != nil {
			t.Fatalf("%v: %v", before, err)
		}
	}
}

func TestMembersOwnEquallyMuch(t *testing.T) {
	all := shape{members: 7, topics: 5, partitions: 9, before: switched}
	near := all
	near.racks, near.before = 3, left
	for _, s := range []shape{all, near} {
		if q := rate(s.group(), owned(s)); q.Most-q.Least > 2 {
			t.Errorf("%v: loads are %d to %d", s.before, q.Least, q.Most)
		}
	}
}

func TestOneMemberLeaves(t *testing.T) {
	g := small(left).group()
	if len(g.Members) != small(left).members-1 {
		t.Fatalf("%d members", len(g.Members))
	}
	if n := assign.Unassigned(g, owned(small(left))).Count(); n < 5 {
		t.Fatalf("the member that left owned %d partitions", n)
	}
}

func TestCasesHaveNamesOfTheirOwn(t *testing.T) {
	seen := make(map[string]bool)
	for _, c := range cases() {
		if seen[c.name] {
			t.Fatalf("two cases are called %s", c.name)
		}
		seen[c.name] = true
	}
}
