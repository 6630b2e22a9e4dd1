package main

import (
	"testing"

	"github.com/musterkafka/muster/assign"
)

func TestQualityCountsLoadsMismatchesAndMoves(t *testing.T) {
	g := assign.Group{
		Members: []assign.Member{
			{ID: "a", Rack: "x", Topics: []string{"t"}, Owned: assign.Partitions{"t": {0, 1}}},
			{ID: "b", Rack: "y", Topics: []string{"t"}},
			{ID: "c", Topics: []string{"t"}},
		},
		Topics: map[string]assign.Topic{"t": {Partitions: 4, Racks: [][]string{{"x"}, {"x", "y"}, {"x"}}}},
	}
	plan := assign.Plan{"a": {"t": {0}}, "b": {"t": {1, 2, 3}}, "c": {}}
	want := quality{Least: 0, Most: 3, Squares: 10, Mismatches: 1, Moves: 1}
	if q := rate(g, plan); q != want {
		t.Fatalf("quality is %+v, not %+v", q, want)
	}
}

func TestQualityOrdersByLoadsFirst(t *testing.T) {
	even, near, still := quality{Squares: 1, Mismatches: 5}, quality{Squares: 2}, quality{Squares: 2, Moves: 1}
	if even.compare(near) >= 0 || near.compare(still) >= 0 || still.compare(still) != 0 {
		t.Fatal("the order is wrong")
	}
}

func TestJudgeRefusesWhatIsNoPlan(t *testing.T) {
	g := assign.Group{
		Members: []assign.Member{{ID: "a", Topics: []string{"t"}}, {ID: "b", Topics: []string{"t"}}},
		Topics:  map[string]assign.Topic{"t": {Partitions: 2}},
	}
	zero := assign.AppendAssignment(nil, assign.Partitions{"t": {0}})
	if _, _, _, err := judge(g, map[string][]byte{"a": zero, "b": zero}); err == nil {
		t.Fatal("a partition was given twice and it went unnoticed")
	}
	if _, _, _, err := judge(g, map[string][]byte{"a": zero, "b": {1}}); err == nil {
		t.Fatal("damaged bytes went unnoticed")
	}
	one := assign.AppendAssignment(nil, nil)
	if _, _, unassigned, err := judge(g, map[string][]byte{"a": zero, "b": one}); err != nil || unassigned != 1 {
		t.Fatalf("%d unassigned, error %v", unassigned, err)
	}
}
