package client

import (
	"fmt"
	"time"

	"github.com/musterkafka/muster/internal/recordbatch"
)

// split takes back a drained batch that is too large for its broker, to be sent
// as two halves, and lets no later batch of the topic become so large: the
// topic's max.message.bytes is below ProducerConfig.MaxBatchBytes. The batch has
// more than one record. It reports whether that is news.
func (b *batcher) split(now time.Time, batch *produceBatch) (news bool, err error) {
	if batch.settled {
		b.giveBack(batch, produceRefusal{})
		return false, nil
	}
	halves, err := b.halves(batch)
	if err != nil {
		return false, err
	}
	q := batch.queue
	t := q.topic
	news = !t.shrunk
	t.limit, t.grow, t.shrunk = min(t.limit, batch.builder.Size()/2), now.Add(growBatches), true
	b.buffered += halves[0].builder.Size() + halves[1].builder.Size() - batch.builder.Size()
	b.replace(batch, halves)
	q.batches = append(halves[:], q.batches[1:]...)
	q.busy = false
	b.list(q)
	b.recycle(batch)
	return news, nil
}

// growBatches is how long batches of a topic stay as small as its brokers wanted them
// before larger ones are tried again: the topic may have been set up anew, and to be
// wrong costs one request.
const growBatches = 5 * time.Minute

// grown returns how large a batch of t may be now.
func (b *batcher) grown(now time.Time, t *produceTopic) int {
	if !t.grow.IsZero() && !now.Before(t.grow) {
		t.limit, t.grow = min(2*t.limit, b.maxBatch), now.Add(growBatches)
		if t.limit == b.maxBatch {
			t.grow = time.Time{}
		}
	}
	return t.limit
}

// halves returns two batches with the records of batch.
func (b *batcher) halves(batch *produceBatch) (halves [2]*produceBatch, err error) {
	var (
		scanner recordbatch.Scanner
		raw     recordbatch.Batch
		rec     recordbatch.Record
		headers []Header
	)
	wire := batch.builder.Finish(nil)
	scanner.Reset(wire)
	if !scanner.Next(&raw) {
		return halves, fmt.Errorf("BUG: a batch of this producer cannot be read: %w", scanner.Err())
	}
	records, err := raw.Open(nil, len(wire))
	if err != nil {
		return halves, fmt.Errorf("BUG: a batch of this producer cannot be read: %w", err)
	}
	for i := range halves {
		h := b.newBatch()
		h.queue, h.number, h.due, h.deadline, h.closed, h.maybe = batch.queue, batch.number, batch.due, batch.deadline, true, batch.maybe
		halves[i] = h
	}
	for i, item := range batch.items {
		records.Next(&rec)
		headers = rec.AppendHeaders(headers[:0])
		h := halves[2*i/len(batch.items)]
		h.builder.Append(item.timestamp, rec.Key, rec.Value, headers)
		h.items = append(h.items, item)
	}
	return halves, records.Err()
}

// replace puts two batches into the place of one among those that are not
// retired.
func (b *batcher) replace(batch *produceBatch, halves [2]*produceBatch) {
	first, second := halves[0], halves[1]
	first.older, first.newer = batch.older, second
	second.older, second.newer = first, batch.newer
	if batch.older != nil {
		batch.older.newer = first
	} else {
		b.oldest = first
	}
	if batch.newer != nil {
		batch.newer.older = second
	} else {
		b.newest = second
	}
}
