package assign

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kbin"
)

// A roster is a group with numbers in place of names. Only topics that have both
// partitions and subscribers are in it. All partitions are numbered in one row,
// topic after topic, so that arrays can be kept by partition.
type roster struct {
	members []Member         // in the order that the assignor asked for
	kind    []int32          // by member, its subscription as an index into kinds
	kinds   [][]int32        // distinct subscriptions, each topics ascending
	topics  []string         // as Java orders them
	first   []int32          // by topic, the number of its partition 0; one more at the end
	number  map[string]int32 // by name of a topic
	sign    []int32          // by stretch of partitions, the topic of the first one; see locate
}

func newRoster(g Group, order func(a, b Member) int) (*roster, error) {
	if err := g.validate(); err != nil {
		return nil, err
	}
	r := &roster{members: slices.Clone(g.Members), number: make(map[string]int32, len(g.Topics))}
	slices.SortFunc(r.members, order)
	lists, listOf := subscriptionLists(r.members)
	r.numberTopics(lists, g.Topics)
	r.numberKinds(lists, listOf)
	return r, nil
}

func (r *roster) partitions() int { return int(r.first[len(r.topics)]) }

// size returns the number of partitions of a topic.
func (r *roster) size(topic int32) int32 { return r.first[topic+1] - r.first[topic] }

// subscriptionLists returns the subscriptions of members, ascending, with most of the repetitions
// left out, and which one is a member's. Members that come from ReadMembers share equal lists,
// which is seen without reading them.
func subscriptionLists(members []Member) (lists [][]string, of []int32) {
	const tries = 4
	var raw [][]string
	of = make([]int32, len(members))
	for i, m := range members {
		recent := raw[max(0, len(raw)-tries):]
		at := slices.IndexFunc(recent, func(list []string) bool { return sameList(list, m.Topics) })
		if at < 0 {
			raw = append(raw, m.Topics)
			lists = append(lists, sortedUnique(m.Topics))
			at = len(raw) - 1
		} else {
			at += len(raw) - len(recent)
		}
		of[i] = int32(at)
	}
	return lists, of
}

func sameList(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	return len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b)
}

func (r *roster) numberTopics(lists [][]string, known map[string]Topic) {
	for _, list := range lists {
		for _, name := range list {
			if _, met := r.number[name]; !met && known[name].Partitions > 0 {
				r.number[name] = -1
				r.topics = append(r.topics, name)
			}
		}
	}
	slices.SortFunc(r.topics, compareJava)
	r.first = make([]int32, 1, len(r.topics)+1)
	for i, name := range r.topics {
		r.number[name] = int32(i)
		r.first = append(r.first, r.first[i]+known[name].Partitions)
		for int32(len(r.sign))*stretch < r.first[i+1] {
			r.sign = append(r.sign, int32(i))
		}
	}
}

// stretch is how many partitions go by from one sign to the next.
const stretch = 32

// locate returns the topic of a partition and its number there.
func (r *roster) locate(partition int32) (topic, number int32) {
	topic = r.sign[partition/stretch]
	for partition >= r.first[topic+1] {
		topic++
	}
	return topic, partition - r.first[topic]
}

// numberKinds turns the lists of members into kinds, equal ones into one.
func (r *roster) numberKinds(lists [][]string, listOf []int32) {
	merged := make(map[string]int32)
	kindOf := make([]int32, len(lists))
	var key []byte
	for i, list := range lists {
		topics := make([]int32, 0, len(list))
		for _, name := range list {
			if t, known := r.number[name]; known {
				topics = append(topics, t)
			}
		}
		slices.Sort(topics) // the order of bytes is not always Java's
		key = key[:0]
		for _, t := range topics {
			key = kbin.AppendInt32(key, t)
		}
		at, met := merged[string(key)]
		if !met {
			at = int32(len(r.kinds))
			merged[string(key)] = at
			r.kinds = append(r.kinds, topics)
		}
		kindOf[i] = at
	}
	r.kind = make([]int32, len(r.members))
	for i, list := range listOf {
		r.kind[i] = kindOf[list]
	}
}

// subscribers returns, by topic, the members that subscribe to it, in order.
func (r *roster) subscribers() [][]int32 {
	if len(r.kinds) == 0 {
		return nil
	}
	of := make([][]int32, len(r.topics))
	shared := r.sharedSubscribers()
	if shared != nil {
		for t := range of {
			of[t] = shared
		}
		return of
	}
	for i := range r.members {
		for _, t := range r.kinds[r.kind[i]] {
			of[t] = append(of[t], int32(i))
		}
	}
	return of
}

// sharedSubscribers returns the members that subscribe to anything, if all of
// those subscribe to the same; else nil.
func (r *roster) sharedSubscribers() []int32 {
	var shared []int32
	for i := range r.members {
		kind := r.kind[i]
		if len(r.kinds[kind]) == 0 {
			continue
		}
		if len(shared) > 0 && r.kind[shared[0]] != kind {
			return nil
		}
		shared = append(shared, int32(i))
	}
	return shared
}
