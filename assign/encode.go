package assign

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kbin"
)

// encoder writes what all members are told, topic by topic, into one block.
type encoder struct {
	*decision
	order []int32 // topics by name, without those that the format cannot hold
	block []byte
	at    []int   // by member, where its next bytes go
	topic []int32 // by member, 1 + its present topic
	count []int   // by member, where the number of partitions of its present topic stands
}

// encode writes for every member what AppendAssignment would, in the order of members.
func (d *decision) encode() ([]Encoded, error) {
	e := encoder{decision: d, order: d.topicsByName(), topic: make([]int32, len(d.members))}
	topics, size := e.measure()
	total := int64(0)
	for _, bytes := range size {
		total += bytes
	}
	if total > math.MaxInt32 {
		return nil, fmt.Errorf("the assignments have %d bytes in all; a request can hold at most %d", total, math.MaxInt32)
	}
	e.block = make([]byte, 0, total)
	e.at, e.count = make([]int, len(d.members)), make([]int, len(d.members))
	list := make([]Encoded, len(d.members))
	for m := range list {
		begin, end := len(e.block), len(e.block)+int(size[m])
		e.block = kbin.AppendInt16(e.block, metadataVersion)
		e.block = kbin.AppendInt32(e.block, topics[m])
		e.at[m] = len(e.block)
		e.block = e.block[:end]
		appendUserData(e.block[:end-4], nil)
		list[m] = Encoded{d.members[m].ID, e.block[begin:end:end]}
	}
	clear(e.topic)
	for _, t := range e.order {
		for p, m := range d.owner[d.first[t]:d.first[t+1]] {
			if m >= 0 {
				e.write(m, t, int32(p))
			}
		}
	}
	return list, nil
}

// topicsByName returns the topics in the order of their bytes, which is not always Java's. A name
// that the format cannot hold is left out.
func (r *roster) topicsByName() []int32 {
	order := make([]int32, 0, len(r.topics))
	for t, name := range r.topics {
		if !tooLong(name) {
			order = append(order, int32(t))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return strings.Compare(r.topics[a], r.topics[b]) })
	return order
}

// measure returns by member how many topics and how many bytes it is told.
func (e *encoder) measure() (topics []int32, size []int64) {
	topics, size = make([]int32, len(e.members)), make([]int64, len(e.members))
	for m := range size {
		size[m] = 2 + 4 + 4 // version, number of topics, user data
	}
	for _, t := range e.order {
		head := int64(2 + len(e.topics[t]) + 4)
		for _, m := range e.owner[e.first[t]:e.first[t+1]] {
			if m < 0 {
				continue
			}
			if e.topic[m] != t+1 {
				e.topic[m] = t + 1
				topics[m]++
				size[m] += head
			}
			size[m] += 4
		}
	}
	return topics, size
}

// write writes one partition of a member, the next one in order.
func (e *encoder) write(member, topic, number int32) {
	b := e.block[:e.at[member]]
	if e.topic[member] != topic+1 {
		e.topic[member] = topic + 1
		b = kbin.AppendString(b, e.topics[topic])
		e.count[member] = len(b)
		b = kbin.AppendInt32(b, 0)
	}
	b = kbin.AppendInt32(b, number)
	e.at[member] = len(b)
	count := e.count[member]
	kbin.AppendInt32(e.block[:count], int32(len(b)-count-4)/4)
}
