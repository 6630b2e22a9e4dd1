package assign

import (
	"slices"
)

// RoundRobin returns Kafka's "roundrobin" assignor. It goes through all subscribed
// topics by name and their partitions by number, and through the members in a
// circle; each partition goes to the next member that subscribes to its topic. The
// circle is not started again for each topic. Racks and earlier owners play no role. The
// plan is the one that Java's RoundRobinAssignor gives, for every group.
//
// Time and memory are linear in the sizes of the group and of the plan, but for
// sorting.
func RoundRobin() Assignor { return roundRobin{} }

type roundRobin struct{}

func (roundRobin) Name() string { return "roundrobin" }

func (roundRobin) Cooperative() bool { return false }

func (a roundRobin) Assign(g Group) (Plan, error) { return assignBy(a, g) }

func (roundRobin) decide(g Group) (decision, error) {
	r, err := newRoster(g, compareMembers)
	if err != nil {
		return decision{}, err
	}
	owner := make([]int32, r.partitions())
	next := int32(0) // the member whose turn it is
	for t, members := range r.subscribers() {
		turn, _ := slices.BinarySearch(members, next)
		of := owner[r.first[t]:r.first[t+1]]
		for p := range of {
			if turn == len(members) {
				turn = 0
			}
			of[p] = members[turn]
			turn++
		}
		next = members[turn-1] + 1
	}
	return decision{roster: r, owner: owner}, nil
}
