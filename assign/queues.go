package assign

import "slices"

// queues holds many queues of partitions. A partition is in one queue at a time. Numbers
// in it are 1 + what they stand for, 0 for nothing.
type queues struct {
	head, tail []int32 // by queue
	behind     []int32 // by partition
}

// reserve makes room for more queues.
func (q *queues) reserve(more int) {
	q.head, q.tail = slices.Grow(q.head, more), slices.Grow(q.tail, more)
}

// grow adds a queue and returns its number.
func (q *queues) grow() int32 {
	q.head, q.tail = append(q.head, 0), append(q.tail, 0)
	return int32(len(q.head)) - 1
}

// put adds a partition at the end of a queue.
func (q *queues) put(queue, partition int32) {
	if last := q.tail[queue]; last > 0 {
		q.behind[last-1] = partition + 1
	} else {
		q.head[queue] = partition + 1
	}
	q.tail[queue] = partition + 1
	q.behind[partition] = 0
}

// pop takes the first partition out of a queue, which must not be empty.
func (q *queues) pop(queue int32) int32 {
	partition := q.head[queue] - 1
	q.head[queue] = q.behind[partition]
	if q.head[queue] == 0 {
		q.tail[queue] = 0
	}
	return partition
}

// drain empties a queue into a list.
func (q *queues) drain(queue int32, list []int32) []int32 {
	for q.head[queue] > 0 {
		list = append(list, q.pop(queue))
	}
	return list
}

// stamped is an array of numbers that is emptied in no time.
type stamped struct {
	values []int32
	stamps []int32
	now    int32
}

func newStamped(n int) *stamped {
	return &stamped{values: make([]int32, n), stamps: make([]int32, n)}
}

func (s *stamped) clear() { s.now++ }

func (s *stamped) set(at, value int32) { s.values[at], s.stamps[at] = value, s.now }

func (s *stamped) get(at int32) (value int32, ok bool) {
	return s.values[at], s.stamps[at] == s.now
}
