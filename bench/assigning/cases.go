package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/musterkafka/muster/assign"
)

// A benchCase is one group and one assignor.
type benchCase struct {
	name     string
	assignor string  // as it is called on the wire
	promise  float64 // time of muster at most, as a part of the fastest other client's
	shape    shape
}

// A shape says what a group looks like. Equal shapes make equal groups.
type shape struct {
	members, topics, partitions int // partitions of each topic

	// subscribe says which topics a member takes; nil for all.
	subscribe func(member, topic int, r *rand.Rand) bool
	racks     int  // that members and partitions are spread over; 0 for unknown
	before    past // what the group looked like before
}

// past is the round before the one that is measured.
type past int

const (
	fresh    past = iota // there was none
	left                 // one member more, which has left since
	switched             // the same members, but racks were not known yet
)

func (p past) String() string { return [...]string{"fresh", "left", "switched"}[p] }

var racks = []string{"rack-a", "rack-b", "rack-c"}

// mixed is a group of two halves that share a tenth of the topics.
func mixed(member, topic int, _ *rand.Rand) bool { return topic%2 == member%2 || topic%10 == 0 }

// tenth is a group in which everybody takes each topic with a chance of one in ten.
func tenth(_, _ int, r *rand.Rand) bool { return r.IntN(10) == 0 }

// cases are the comparisons. Their promises are those of docs/assignors.md.
func cases() []benchCase {
	var list []benchCase
	add := func(group, assignor string, promise float64, s shape) {
		name := fmt.Sprintf("%s-%s-%v", group, assignor, s.before)
		list = append(list, benchCase{name: name, assignor: assignor, promise: promise, shape: s})
	}
	for _, before := range []past{fresh, left} {
		for _, assignor := range assignors {
			add("100000x1000", assignor.Name(), 0.5, shape{members: 1000, topics: 1000, partitions: 100, before: before})
		}
	}
	for _, before := range []past{fresh, left} {
		add("1000000x2000", "sticky", 0.5, shape{members: 2000, topics: 1000, partitions: 1000, before: before})
	}
	for _, before := range []past{fresh, left, switched} {
		add("racks-mixed", "sticky", 0.1, shape{members: 1000, topics: 1000, partitions: 100, subscribe: mixed, racks: 3, before: before})
		add("racks-tenth", "sticky", 0.1, shape{members: 1000, topics: 1000, partitions: 100, subscribe: tenth, racks: 3, before: before})
	}
	add("racks-mixed", "cooperative-sticky", 0.1, shape{members: 1000, topics: 1000, partitions: 100, subscribe: mixed, racks: 3, before: left})
	return list
}

var assignors = []assign.Assignor{assign.Range(), assign.RoundRobin(), assign.Sticky(), assign.CooperativeSticky()}

// generation is the one in which members were given what they own.
const generation = 7

// group makes the group of a shape.
func (s shape) group() assign.Group {
	r := rand.New(rand.NewPCG(uint64(s.members), uint64(s.topics)))
	g := assign.Group{Topics: make(map[string]assign.Topic, s.topics)}
	names := make([]string, s.topics)
	for t := range names {
		names[t] = fmt.Sprintf("topic-%05d", t)
		topic := assign.Topic{Partitions: int32(s.partitions)}
		for range s.partitions {
			if s.racks > 0 {
				topic.Racks = append(topic.Racks, []string{racks[r.IntN(s.racks)]})
			}
		}
		g.Topics[names[t]] = topic
	}
	for i := range s.members {
		m := assign.Member{ID: fmt.Sprintf("member-%05d-0f8fad5b-d9cb-469f-a165-70867728950e", i), Topics: names, Generation: -1}
		if s.subscribe != nil {
			m.Topics = nil
			for t, name := range names {
				if s.subscribe(i, t, r) {
					m.Topics = append(m.Topics, name)
				}
			}
		}
		if s.racks > 0 {
			m.Rack = racks[i%s.racks]
		}
		g.Members = append(g.Members, m)
	}
	if s.before == fresh {
		return g
	}
	own(g, names, s.before == left && s.racks > 0)
	if s.before == left {
		g.Members = slices.Delete(g.Members, s.members/2, s.members/2+1)
	}
	return g
}

// own gives every partition to the member that has least of those who subscribe to it; with
// nearby, to one in the partition's rack if that one has at most one partition more.
func own(g assign.Group, topics []string, nearby bool) {
	subscribers := make(map[string][]int)
	same := true
	for i, m := range g.Members {
		g.Members[i].Owned, g.Members[i].Generation = make(assign.Partitions), generation
		same = same && len(m.Topics) == len(topics)
		for _, topic := range m.Topics {
			subscribers[topic] = append(subscribers[topic], i)
		}
	}
	load := make([]int, len(g.Members))
	dealt := 0
	for _, topic := range topics {
		may := subscribers[topic]
		if len(may) == 0 {
			continue
		}
		for p := range g.Topics[topic].Partitions {
			taker := dealt % len(may) // who has least, if all may have everything
			if !same || nearby {
				taker = least(may, load)
			}
			if nearby {
				rack := g.Topics[topic].Racks[p][0]
				near := slices.DeleteFunc(slices.Clone(may), func(i int) bool { return g.Members[i].Rack != rack })
				if len(near) > 0 && load[least(near, load)] <= load[taker]+1 {
					taker = least(near, load)
				}
			}
			dealt++
			load[taker]++
			g.Members[taker].Owned[topic] = append(g.Members[taker].Owned[topic], p)
		}
	}
}

// least returns the one of members, which are not none, that has the least load.
func least(members, load []int) int {
	return slices.MinFunc(members, func(a, b int) int { return load[a] - load[b] })
}
