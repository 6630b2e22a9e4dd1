package client

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/musterkafka/muster/internal/recordbatch"
)

// batcher gathers records into batches, one queue for each partition, and says what
// is to be sent to which broker. One batch of a partition is at a broker at a time,
// so nothing is reordered when it is tried again.
//
// It has no goroutine, clock or lock. A batch leaves it through finished.
type batcher struct {
	maxBatch int
	limit    int // of buffered
	linger   time.Duration
	patience time.Duration // of a batch
	random   *rand.Rand

	topics   map[string]*produceTopic
	ready    map[int32][]*produceQueue // those with something to send, by leader; -1: there is none
	buffered int                       // bytes of unsettled batches
	uncalled int                       // bytes of settled batches that are not retired
	number   uint64                    // of the last batch
	oldest   *produceBatch             // of those that are not retired
	newest   *produceBatch

	finished []*produceBatch // settled, and not called back yet, in the order of their partitions
	spare    []*produceBatch // retired, for their memory
	stirred  []int32         // nodes that have got something to send
	freed    bool            // buffered has shrunk, or batches were retired
}

func newBatcher(cfg *ProducerConfig, seed uint64) *batcher {
	return &batcher{
		maxBatch: cfg.MaxBatchBytes,
		limit:    cfg.BufferBytes,
		linger:   cfg.Linger,
		patience: cfg.DeliveryTimeout,
		random:   rand.New(rand.NewPCG(seed, 0)),
		topics:   make(map[string]*produceTopic),
		ready:    make(map[int32][]*produceQueue),
	}
}

// describe takes note of a topic's partitions and who leads them.
func (b *batcher) describe(t *topic) {
	known := b.topics[t.name]
	if known == nil {
		known = &produceTopic{name: t.name, limit: b.maxBatch}
		b.topics[t.name] = known
	}
	known.id = t.id
	for i := range t.partitions {
		leader := t.partitions[i].leader
		if i == len(known.queues) {
			known.queues = append(known.queues, &produceQueue{topic: known, partition: int32(i), leader: leader})
		}
		b.lead(known.queues[i], leader)
	}
	for _, q := range known.queues[len(t.partitions):] { // of a topic that was created again with fewer
		b.lead(q, -1)
	}
}

// lead says who leads q. A new leader gets what waits at once.
func (b *batcher) lead(q *produceQueue, leader int32) {
	if q.leader == leader {
		return
	}
	if q.waiting() {
		b.unlist(q)
	}
	q.leader, q.rest = leader, time.Time{}
	if q.waiting() {
		b.list(q)
	}
}

func (b *batcher) list(q *produceQueue) {
	b.ready[q.leader] = append(b.ready[q.leader], q)
	b.stirred = append(b.stirred, q.leader)
}

func (b *batcher) unlist(q *produceQueue) {
	queues := b.ready[q.leader]
	for i := range queues {
		if queues[i] == q {
			b.ready[q.leader] = append(queues[:i], queues[i+1:]...)
			return
		}
	}
}

var errBufferFull = errors.New("the buffer is full")

// add takes a record for a partition of a described topic, or for any of them.
// It fails with errBufferFull if there is no room for it, and for good if it is
// too large.
func (b *batcher) add(now time.Time, name string, partition int32, rec *Record, done func(Offset, error)) error {
	t := b.topics[name]
	q := b.queueOf(t, partition)
	timestamp := now.UnixMilli()
	if !rec.Timestamp.IsZero() {
		timestamp = rec.Timestamp.UnixMilli()
	}
	batch := q.open()
	before, size := 0, 0
	if batch != nil {
		before, size = batch.builder.Size(), batch.builder.SizeWith(timestamp, rec.Key, rec.Value, rec.Headers)
	}
	if batch == nil || size > b.grown(now, t) {
		var empty recordbatch.Builder
		before, size = 0, empty.SizeWith(timestamp, rec.Key, rec.Value, rec.Headers)
		switch {
		case size > b.maxBatch:
			return b.tooLarge(q, size)
		case batch != nil:
			b.close(batch)
			return b.add(now, name, partition, rec, done)
		}
	}
	if b.buffered+size-before > b.limit || b.uncalled > b.limit {
		return errBufferFull
	}
	if batch == nil {
		batch = b.begin(now, q)
	}
	batch.builder.Append(timestamp, rec.Key, rec.Value, rec.Headers)
	batch.items = append(batch.items, produceItem{done, timestamp})
	b.buffered += size - before
	return nil
}

func (b *batcher) tooLarge(q *produceQueue, size int) error {
	return &ProduceError{
		Topic: q.topic.name, Partition: q.partition,
		Err: fmt.Errorf("%w: it takes %d bytes, more than ProducerConfig.MaxBatchBytes allows (%d)", ErrRecordTooLarge, size, b.maxBatch),
	}
}

// begin opens a new batch behind those of q.
func (b *batcher) begin(now time.Time, q *produceQueue) *produceBatch {
	batch := b.newBatch()
	b.number++
	batch.queue, batch.number, batch.due, batch.deadline = q, b.number, now.Add(b.linger), now.Add(b.patience)
	batch.older = b.newest
	if b.newest != nil {
		b.newest.newer = batch
	} else {
		b.oldest = batch
	}
	b.newest = batch
	q.batches = append(q.batches, batch)
	if len(q.batches) == 1 {
		b.list(q)
	}
	return batch
}

// close makes batch take no more records, so that it need not linger.
func (b *batcher) close(batch *produceBatch) {
	batch.closed = true
	b.stirred = append(b.stirred, batch.queue.leader)
}

func (b *batcher) queueOf(t *produceTopic, partition int32) *produceQueue {
	if partition == AnyPartition {
		return b.anyQueue(t)
	}
	return t.queues[partition]
}

// anyQueue returns the queue for a record that may go anywhere. It stays the
// same while its batch takes records, and is another one, by chance, when that is
// closed. Of two candidates it is the one with less to do, so that a slow broker
// does not gather all that is buffered. Partitions without a leader come last.
func (b *batcher) anyQueue(t *produceTopic) *produceQueue {
	if t.sticky != nil && t.sticky.open() != nil && t.sticky.leader >= 0 {
		return t.sticky
	}
	first, second := b.candidate(t), b.candidate(t)
	if first.leader < 0 || second.leader >= 0 && len(second.batches) < len(first.batches) {
		first = second
	}
	t.sticky = first
	return first
}

// candidate returns a queue by chance, if possible one that has a leader.
func (b *batcher) candidate(t *produceTopic) *produceQueue {
	n := len(t.queues)
	start := b.random.IntN(n)
	for i := range n {
		if q := t.queues[(start+i)%n]; q.leader >= 0 {
			return q
		}
	}
	return t.queues[start]
}

// dueAt returns when something is to be sent to node; false if nothing waits.
func (b *batcher) dueAt(node int32) (at time.Time, ok bool) {
	for _, q := range b.ready[node] {
		if due := q.dueAt(); !ok || due.Before(at) {
			at, ok = due, true
		}
	}
	return at, ok
}

// drain appends to batches what is due for node, one batch of a partition and
// limit bytes at most, but always the first one. They must be settled, or tried
// again. What is left behind comes first next time.
func (b *batcher) drain(now time.Time, node int32, limit int, batches []*produceBatch) []*produceBatch {
	queues := b.ready[node]
	left := queues[:0]
	size := 0
	for _, q := range queues {
		first := q.batches[0]
		n := first.builder.Size()
		if q.dueAt().After(now) || size > 0 && size+n > limit {
			left = append(left, q)
			continue
		}
		q.busy, first.closed, first.id = true, true, q.topic.id
		if first.tried.IsZero() {
			first.tried = now
		}
		size += n
		batches = append(batches, first)
	}
	clear(queues[len(left):])
	b.ready[node] = left
	return batches
}

// written settles a drained batch that a broker has taken.
func (b *batcher) written(batch *produceBatch, base, appendTime int64) {
	q := batch.queue
	q.failures, q.told, q.last, q.rest = 0, false, nil, time.Time{}
	batch.base, batch.appendTime = base, appendTime
	b.giveBack(batch, produceRefusal{})
}

// refuse settles a drained batch that will not be written.
func (b *batcher) refuse(batch *produceBatch, refusal produceRefusal) {
	b.giveBack(batch, refusal)
}

// routine is how long a batch may fail before that is news: leaders move, and a
// topic that was just created is not known to every broker.
const routine = 2 * time.Second

// retry takes a drained batch back to be sent again after a pause. It reports
// whether that is news, which it is once until something is written to the partition.
func (b *batcher) retry(now time.Time, batch *produceBatch, err error) (news bool) {
	q := batch.queue
	q.failures++
	q.last, q.rest = err, now.Add(retryBackoff.spread(q.failures, b.random.Float64()))
	news = !q.told && now.Sub(batch.tried) >= routine
	q.told = q.told || news
	if batch.settled {
		b.giveBack(batch, produceRefusal{})
		return news
	}
	q.busy = false
	b.list(q)
	return news
}

// giveBack ends the time of a batch at a broker and lets the next one go.
func (b *batcher) giveBack(batch *produceBatch, refusal produceRefusal) {
	q := batch.queue
	q.busy = false
	if batch.settled { // given up meanwhile
		q.remove(batch)
	} else {
		b.settle(batch, refusal)
	}
	if q.waiting() {
		b.list(q)
	}
}

// settle decides on a batch and hands it over to be called back.
func (b *batcher) settle(batch *produceBatch, refusal produceRefusal) {
	batch.settled, batch.closed, batch.refusal = true, true, refusal
	b.buffered -= batch.builder.Size()
	b.uncalled += batch.builder.Size()
	b.freed = true
	b.finished = append(b.finished, batch)
	if q := batch.queue; q.busy && q.batches[0] == batch {
		batch.abandoned, batch.maybe = true, true
	} else {
		q.remove(batch)
	}
}

// cut closes all batches, so that they are sent without lingering, and returns
// the number of the last one.
func (b *batcher) cut() uint64 {
	for batch := b.oldest; batch != nil; batch = batch.newer {
		if !batch.closed {
			b.close(batch)
		}
	}
	return b.number
}

// done reports whether all batches up to this number are retired.
func (b *batcher) done(number uint64) bool {
	return b.oldest == nil || b.oldest.number > number
}

// takeFinished returns the batches whose callbacks are to be called, and which are
// retired afterwards. The memory of spare is used for the next ones.
func (b *batcher) takeFinished(spare []*produceBatch) []*produceBatch {
	finished := b.finished
	b.finished = spare[:0]
	return finished
}

// retire forgets a batch whose callbacks have returned, and which must not be used
// any more.
func (b *batcher) retire(batch *produceBatch) {
	if batch.older != nil {
		batch.older.newer = batch.newer
	} else {
		b.oldest = batch.newer
	}
	if batch.newer != nil {
		batch.newer.older = batch.older
	} else {
		b.newest = batch.older
	}
	b.uncalled -= batch.builder.Size()
	b.freed = true
	b.recycle(batch)
}
