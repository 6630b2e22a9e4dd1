package conn

import (
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A call is one request on its way.
type call struct {
	req      kmsg.Request
	version  int16
	to       chan<- Answer
	frame    *frame // the encoded request, until it is written
	flexible bool   // whether the response header has tagged fields
	silent   bool   // whether there is no response
	sent     bool   // whether a byte may have left

	limited   bool          // whether the answer has a deadline
	allowance time.Duration // what the request itself lets the broker wait

	id      int32
	started time.Time // handed to the connection
	written time.Time // wholly; zero before
}

// A queue holds the calls of one connection: first those that are to be
// written, then those that wait for an answer. It reads no clock.
type queue struct {
	patience time.Duration // for the answer of the oldest call, on top of its allowance

	mu       sync.Mutex // guards what follows
	pending  ring[call]
	waiting  ring[call]
	lastID   int32
	hold     time.Time // nothing is written before
	deadline time.Time // for the head of waiting; zero for none
	since    time.Time // the head of waiting was written, or became the head if that was later
	alarm    time.Time // when the write loop will look again by itself; zero if never
	closed   bool
}

// push adds a call to be written, unless the queue is closed.
func (q *queue) push(c call) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.pending.push(c)
	return true
}

// next returns the call to write at now. If there is none it says when to ask
// again; zero means not before something changes. The call already waits for its answer
// when next returns, because the answer may be faster than the return of the write.
func (q *queue) next(now time.Time) (c call, ok bool, alarm time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.pending.len() == 0 || now.Before(q.hold) {
		q.alarm = q.deadline
		if q.pending.len() > 0 && (q.alarm.IsZero() || q.hold.Before(q.alarm)) {
			q.alarm = q.hold
		}
		return call{}, false, q.alarm
	}
	c = q.pending.pop()
	q.lastID++
	c.id, c.sent = q.lastID, true
	if !c.silent {
		waiting := c
		waiting.frame = nil // belongs to the write loop
		q.waiting.push(waiting)
	}
	return c, true, time.Time{}
}

// wrote says that the call with this ID was written wholly.
func (q *queue) wrote(id int32, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c := q.waiting.tail(); c != nil && c.id == id {
		c.written = now
		if q.waiting.len() == 1 {
			q.expect(now)
		}
	}
}

// unsent says that no byte of the call with this ID could be written.
func (q *queue) unsent(id int32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c := q.waiting.tail(); c != nil && c.id == id {
		c.sent = false
	}
}

// answered takes the call that the next answer belongs to. The write loop must be
// woken if hurry is true: the deadline of the next call is before the alarm.
func (q *queue) answered(now time.Time) (c call, ok, hurry bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting.len() == 0 {
		return call{}, false, false
	}
	c = q.waiting.pop()
	q.expect(now)
	hurry = !q.deadline.IsZero() && (q.alarm.IsZero() || q.deadline.Before(q.alarm))
	return c, true, hurry
}

// expect sets the deadline of the head of waiting, which has been that since
// now at the latest. A call that is not written wholly has its turn in wrote.
func (q *queue) expect(now time.Time) {
	q.deadline = time.Time{}
	c := q.waiting.head()
	if c == nil || c.written.IsZero() {
		return
	}
	q.since = now
	if c.limited {
		q.deadline = now.Add(q.patience + c.allowance)
	}
}

// overdue returns the call whose deadline has passed at now, and how long it has been waited for.
func (q *queue) overdue(now time.Time) (c call, waited time.Duration, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.deadline.IsZero() || now.Before(q.deadline) {
		return call{}, 0, false
	}
	return *q.waiting.head(), now.Sub(q.since), true
}

// awaits reports whether an answer is due.
func (q *queue) awaits() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting.len() > 0
}

// holdUntil forbids writing before t.
func (q *queue) holdUntil(t time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.After(q.hold) {
		q.hold = t
	}
}

// close returns what is unanswered, in order, and lets nothing in any more.
func (q *queue) close() []call {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	calls := make([]call, 0, q.waiting.len()+q.pending.len())
	for q.waiting.len() > 0 {
		calls = append(calls, q.waiting.pop())
	}
	for q.pending.len() > 0 {
		calls = append(calls, q.pending.pop())
	}
	return calls
}
