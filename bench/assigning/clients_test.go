package main

import (
	"testing"
)

// small has what the compared groups have, on a scale for tests.
func small(before past) shape {
	return shape{members: 6, topics: 10, partitions: 6, subscribe: mixed, racks: 3, before: before}
}

func TestEveryClientLeadsWithAValidPlan(t *testing.T) {
	for _, cl := range clients {
		for _, assignor := range cl.assignors {
			for _, before := range []past{fresh, left} {
				s := small(before)
				if !cl.racks {
					s.racks = 0
				}
				c := benchCase{name: "small", assignor: assignor, shape: s}
				f, err := measure(cl, c)
				if err != nil {
					t.Errorf("%s, %s, %v: %v", cl.name, assignor, before, err)
				}
				if f.Quality.Squares == 0 || f.Stages.Assign <= 0 || f.PeakMiB <= 0 {
					t.Errorf("%s, %s, %v: figures are %+v", cl.name, assignor, before, f)
				}
			}
		}
	}
}

func TestRacksCountForWhoeverKnowsThem(t *testing.T) {
	s := shape{members: 6, topics: 4, partitions: 30, racks: 3, before: switched}
	for _, cl := range clients {
		for _, assignor := range []string{"sticky", "cooperative-sticky"} {
			if !cl.racks {
				continue
			}
			f, err := measure(cl, benchCase{name: "racks", assignor: assignor, shape: s})
			if err != nil {
				t.Fatalf("%s: %v", cl.name, err)
			}
			blind := rate(s.group(), owned(s))
			if f.Quality.Mismatches >= blind.Mismatches/2 || f.Quality.Squares != blind.Squares {
				t.Errorf("%s, %s: quality is %+v, of a plan without racks %+v", cl.name, assignor, f.Quality, blind)
			}
		}
	}
}

func TestSlowAssignorsAreLeftOutUnlessAskedFor(t *testing.T) {
	sarama := clients[2]
	c := benchCase{assignor: "sticky"}
	if sarama.takes(c, false) || !sarama.takes(c, true) {
		t.Fatal("sarama's sticky is slow")
	}
	c.shape.racks = 3
	if sarama.takes(c, true) {
		t.Fatal("sarama's sticky does not know racks")
	}
}
