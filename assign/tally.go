package assign

// A tally is a group with numbers in place of the names of topics. It takes down which
// partitions a plan gives away. Only known topics that somebody subscribes to are in it.
type tally struct {
	members []Member
	lists   [][]string       // subscriptions, with most of the repetitions left out
	list    []int32          // by member, its subscription as an index into lists
	number  map[string]int32 // by name of a topic
	names   []string         // by topic
	first   []int            // by topic, its partition 0 as an index into given; one more at the end
	given   []bool           // by partition
	count   int              // partitions given
}

func newTally(g Group) *tally {
	t := &tally{members: g.Members, number: make(map[string]int32), first: []int{0}}
	t.lists, t.list = subscriptionLists(g.Members)
	for _, list := range t.lists {
		for _, name := range list {
			if _, met := t.number[name]; met {
				continue
			}
			if topic, known := g.Topics[name]; known {
				t.number[name] = int32(len(t.names))
				t.names = append(t.names, name)
				t.first = append(t.first, t.first[len(t.first)-1]+int(max(topic.Partitions, 0)))
			}
		}
	}
	t.given = make([]bool, t.first[len(t.names)])
	return t
}

// of returns what is given of a topic, by partition.
func (t *tally) of(topic int32) []bool { return t.given[t.first[topic]:t.first[topic+1]] }

// take enters numbers of a topic. It reports whether all of them exist and were not given before;
// others are left out.
func (t *tally) take(topic int32, numbers []int32) bool {
	given := t.of(topic)
	clean := true
	for _, p := range numbers {
		if p < 0 || int(p) >= len(given) || given[p] {
			clean = false
			continue
		}
		given[p] = true
		t.count++
	}
	return clean
}

// fits enters a plan for a valid group as long as Check has nothing against it. It reports whether
// that is all of the plan.
func (t *tally) fits(plan Plan) bool {
	if len(plan) != len(t.members) { // else members with an entry each leave no room for strangers
		return false
	}
	subscribed := make([]int32, len(t.names)) // by topic, 1 + index of the last list with it
	for list, members := range t.byList() {
		for _, name := range t.lists[list] {
			if topic, known := t.number[name]; known {
				subscribed[topic] = int32(list) + 1
			}
		}
		for _, m := range members {
			share, planned := plan[t.members[m].ID]
			if !planned {
				return false
			}
			for name, numbers := range share {
				topic, known := t.number[name]
				if !known || subscribed[topic] != int32(list)+1 || !t.take(topic, numbers) {
					return false
				}
			}
		}
	}
	return true
}

// byList returns the members that have each list.
func (t *tally) byList() [][]int32 {
	members := make([][]int32, len(t.lists))
	for m, list := range t.list {
		members[list] = append(members[list], int32(m))
	}
	return members
}

// left returns what has not been given.
func (t *tally) left() Partitions {
	left := make(Partitions)
	if t.count == len(t.given) {
		return left
	}
	for topic, name := range t.names {
		for p, given := range t.of(int32(topic)) {
			if !given {
				left[name] = append(left[name], int32(p))
			}
		}
	}
	return left
}
