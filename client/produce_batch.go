package client

import (
	"slices"
	"time"

	"github.com/musterkafka/muster/internal/recordbatch"
)

// produceBatch is one batch of one partition from its first record until the
// last callback. The batcher owns it; between drain and the outcome, its bytes are the
// sender's.
type produceBatch struct {
	queue   *produceQueue
	builder recordbatch.Builder
	items   []produceItem // one for each record
	wire    []byte        // what is sent; nil before the first attempt
	id      [16]byte      // of the topic, when it was drained last; zero if unknown

	number     uint64 // in the order of their first records
	older      *produceBatch
	newer      *produceBatch // of all whose callbacks have not returned
	due        time.Time     // when it is sent even if it is not full
	tried      time.Time     // when it was first drained; zero before
	deadline   time.Time     // when it is given up
	closed     bool          // takes no more records
	maybe      bool          // a broker may have written it
	settled    bool          // the outcome is known
	abandoned  bool          // it was settled while a sender had it: not to be used again
	base       int64         // offset of the first record; -1 if unknown
	appendTime int64         // the broker's timestamp in milliseconds; -1 if records have their own
	refusal    produceRefusal
}

// produceItem is what a batch must remember of a record.
type produceItem struct {
	done      func(Offset, error)
	timestamp int64 // in milliseconds
}

// produceRefusal is why a batch was not written.
type produceRefusal struct {
	err     error // nil if it was
	message string
	records map[int]string // what the broker says of single records (KIP-467); nil if nothing
}

// newBatch returns an empty batch, if possible with memory that was used before.
func (b *batcher) newBatch() *produceBatch {
	n := len(b.spare)
	if n == 0 {
		return new(produceBatch)
	}
	batch := b.spare[n-1]
	b.spare = b.spare[:n-1]
	return batch
}

// recycle gives the memory of a retired batch to the next one. What is kept is
// about as much as may be buffered. (A sync.Pool would be emptied by the garbage collector
// in the midst of work.)
func (b *batcher) recycle(batch *produceBatch) {
	if batch.abandoned || len(b.spare) > b.limit/b.maxBatch {
		return
	}
	batch.builder.Reset()
	clear(batch.items)
	*batch = produceBatch{builder: batch.builder, items: batch.items[:0]}
	b.spare = append(b.spare, batch)
}

// call calls the callbacks of b, in order.
func (b *produceBatch) call() {
	for i := range b.items {
		if done := b.items[i].done; done != nil {
			done(b.outcome(i))
		}
	}
}

// outcome is what became of the record i.
func (b *produceBatch) outcome(i int) (Offset, error) {
	o := Offset{Topic: b.queue.topic.name, Partition: b.queue.partition, Offset: -1}
	if b.refusal.err != nil {
		return o, b.failure(i)
	}
	if b.base >= 0 {
		o.Offset = b.base + int64(i)
	}
	timestamp := b.items[i].timestamp
	if b.appendTime >= 0 {
		timestamp = b.appendTime
	}
	o.Timestamp = time.UnixMilli(timestamp)
	return o, nil
}

func (b *produceBatch) failure(i int) error {
	message := b.refusal.message
	if b.refusal.records != nil {
		message = "another record of the same batch was refused"
		if own, ok := b.refusal.records[i]; ok {
			message = own
		}
	}
	return &ProduceError{
		Topic: b.queue.topic.name, Partition: b.queue.partition, MaybeWritten: b.maybe,
		Message: message, Err: b.refusal.err,
	}
}

// doubt takes note that a broker may have written b. Once b is settled its callbacks
// have been told what was known then.
func (b *produceBatch) doubt() {
	if !b.settled {
		b.maybe = true
	}
}

// unheard returns how many records have no callback.
func (b *produceBatch) unheard() (records int) {
	for i := range b.items {
		if b.items[i].done == nil {
			records++
		}
	}
	return records
}

// produceTopic is one topic that was produced to.
type produceTopic struct {
	limit  int       // of a batch with more than one record
	grow   time.Time // when to try a larger limit; zero if it is the configured one
	shrunk bool      // it was smaller once
	name   string
	id     [16]byte        // zero if unknown
	queues []*produceQueue // the index is the partition
	sticky *produceQueue   // where records go that may go anywhere; nil if there is none yet
}

// produceQueue is what waits for one partition.
type produceQueue struct {
	topic     *produceTopic
	partition int32
	leader    int32           // -1 if there is none at the moment
	batches   []*produceBatch // in the order they are sent
	busy      bool            // the first one is at a broker
	rest      time.Time       // nothing is sent before
	failures  int             // in a row
	told      bool            // the log has heard of them
	last      error           // why the last attempt failed; nil if it did not
}

// open returns the batch that takes the next record; nil if there is none.
func (q *produceQueue) open() *produceBatch {
	if n := len(q.batches); n > 0 && !q.batches[n-1].closed {
		return q.batches[n-1]
	}
	return nil
}

// waiting reports whether there is something to send.
func (q *produceQueue) waiting() bool { return len(q.batches) > 0 && !q.busy }

// dueAt returns when the first batch may be sent. It is called when one waits.
func (q *produceQueue) dueAt() time.Time {
	if first := q.batches[0]; !first.closed && first.due.After(q.rest) {
		return first.due
	}
	return q.rest
}

func (q *produceQueue) remove(b *produceBatch) {
	if i := slices.Index(q.batches, b); i >= 0 {
		q.batches = slices.Delete(q.batches, i, i+1)
	}
}
