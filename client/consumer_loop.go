package client

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/musterkafka/muster/internal/recordbatch"
)

// recheck is how often a loop looks again whether the membership is trusted:
// that time is moved on without anybody being told.
const recheck = 50 * time.Millisecond

// trustEvery is how many records are handed out between two looks at the clock.
const trustEvery = 16

// Records yields records as they come. The body of the loop is the unit of work:
// asking for the next record says that the last one is done, and only done records are
// committed. While the body runs, its partition is not given to another member,
// for up to the rebalance timeout.
//
// The loop just ends when ctx ends or the Consumer is closed; one more record may come
// if that happens just then. What can be retried is retried inside.
// An error that is yielded is the last thing yielded and ends the loop, not the Consumer: a new
// loop goes on. Breaking out leaves the current record undone, unless Done says
// otherwise, and the next loop begins with it. Only one loop can run at a time. A
// record may be kept.
func (c *Consumer) Records(ctx context.Context) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		l, err := c.begin(ctx, false)
		if err != nil {
			yield(nil, err)
			return
		}
		defer l.end()
		for {
			more, err := l.next()
			if err != nil {
				yield(nil, err)
				return
			}
			if !more || !l.eachRecord(yield) {
				return
			}
		}
	}
}

// Batches is Records for those who want speed: it yields whole batches, and the
// batch is the unit of work. A batch and its records are lent until the next
// iteration. Breaking out leaves all of the batch undone, but for what Done says.
func (c *Consumer) Batches(ctx context.Context) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		l, err := c.begin(ctx, true)
		if err != nil {
			yield(nil, err)
			return
		}
		defer l.end()
		for {
			more, err := l.next()
			if err != nil {
				yield(nil, err)
				return
			}
			if !more || !yield(&l.batch, nil) {
				return
			}
			l.bodyDone = true
		}
	}
}

// loop is one loop over Records or Batches. It belongs to the goroutine of the
// application; what others may see of it is the lease.
type loop struct {
	c       *Consumer
	ctx     context.Context
	lends   bool // Batches, not Records
	unwatch func() bool

	chunk    *chunk // taken out of the buffer; nil if none
	from     int64  // first offset of chunk that is not done
	scanner  recordbatch.Scanner
	raw      recordbatch.Batch
	batch    Batch
	opened   bool // batch is open
	bodyDone bool // the application is done with batch
	passed   mark // behind batches of chunk with nothing for the application; next is 0 if there are none
	slab     []Record
}

func (c *Consumer) begin(ctx context.Context, lends bool) (*loop, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.final != nil:
		return nil, c.final
	case !c.closing.IsZero():
		return nil, ErrConsumerClosed
	case c.looping:
		return nil, ErrBusy
	}
	c.looping = true
	l := &loop{c: c, ctx: ctx, lends: lends}
	l.scanner.SkipCRC = true // the fetcher has looked at it
	l.batch.maxBytes = c.cfg.MaxBatchBytes
	l.unwatch = context.AfterFunc(ctx, c.alert)
	return l, nil
}

// alert makes the loop look at what has happened before its next record.
func (c *Consumer) alert() {
	c.lease.look.Store(true)
	nudge(c.arrived)
}

// end gives back what the loop has in hand, the current record or batch undone.
func (l *loop) end() {
	l.unwatch()
	c := l.c
	c.mu.Lock()
	c.lease.end()
	fetcher := l.putBack()
	c.looping, c.waiting = false, false
	c.mu.Unlock()
	fetcher.nudge()
}

// next makes batch the next batch, leased and open. It returns false when the loop
// is over.
func (l *loop) next() (bool, error) {
	l.c.group.Asked()
	damage := l.finish()
	for {
		trusted := l.c.trusted()
		if trusted && damage == nil {
			damage = l.cut()
		}
		l.c.mu.Lock()
		o, fetcher, err := l.turn(trusted, damage)
		l.c.mu.Unlock()
		fetcher.nudge()
		if err != nil {
			nudge(l.c.wake) // what is in trouble is asked for again after a while
		}
		damage = nil
		switch o {
		case handOut:
			return true, nil
		case over:
			return false, err
		case pause:
			l.wait(trusted)
		case again:
		}
	}
}

// finish takes note that the application is done with the batch. It returns what
// kept it from reading all of it.
func (l *loop) finish() *PartitionError {
	if !l.bodyDone {
		return nil
	}
	l.bodyDone = false
	b := &l.batch
	if b.err != nil {
		l.c.lease.raise(b.next)
		return damaged(l.chunk.owned, b.next, b.err)
	}
	l.c.lease.raise(b.LastOffset + 1)
	l.advance()
	return nil
}

// advance steps over the batch at the head of chunk.
func (l *loop) advance() {
	l.closeBatch()
	l.from = max(l.from, l.raw.LastOffset+1)
	l.chunk.records = l.chunk.records[l.raw.Size:]
}

// closeBatch gives the memory of a decompressed batch back. Records that own
// theirs, as those for Records do, are left to the collector.
func (l *loop) closeBatch() {
	if l.opened {
		l.batch.records.Release()
	}
	l.opened = false
}

// cut opens the next batch of chunk that has something for the application.
func (l *loop) cut() *PartitionError {
	for !l.opened && l.chunk != nil {
		l.scanner.Reset(l.chunk.records)
		if !l.scanner.Next(&l.raw) {
			return nil // the fetcher has left nothing but whole batches in it
		}
		if l.raw.LastOffset < l.from || l.raw.Control || l.raw.Count == 0 {
			l.passed = mark{l.raw.LastOffset + 1, l.raw.LeaderEpoch}
			l.advance()
			continue
		}
		records, err := l.raw.Open(&l.c.decompressor, l.c.cfg.MaxBatchBytes)
		if err != nil {
			return damaged(l.chunk.owned, l.from, err)
		}
		if !l.lends {
			records.Own() // so that whoever keeps a record keeps its batch, not the whole answer
		}
		l.batch.lend(l.chunk.owned, &l.raw, records, l.from)
		l.opened = true
	}
	return nil
}

// damaged makes err, of a batch, one of p's at the offset from.
func damaged(p *ownedPartition, from int64, err error) *PartitionError {
	resume := from + 1
	if e, ok := errors.AsType[*recordbatch.Error](err); ok && e.Resume > from {
		resume = e.Resume
	}
	return partitionError(p, from, resume, err)
}

// An outcome is what a loop does after it has looked at everything.
type outcome uint8

const (
	handOut outcome = iota // batch is leased
	again                  // there may be more
	pause                  // there is nothing, for the moment
	over                   // the loop ends
)

// turn ends the lease of the last batch and decides what comes next. It is
// called with the mutex held, and returns the fetcher that may have room now.
func (l *loop) turn(trusted bool, damage *PartitionError) (outcome, *fetcher, error) {
	c := l.c
	c.waiting = false
	c.lease.look.Store(false)
	c.lease.end()
	if l.chunk != nil && (!c.owned.owns(l.chunk.owned) || l.chunk.owned.going) {
		return again, l.discard(), nil
	}
	if l.chunk != nil && l.passed.next > 0 {
		l.chunk.owned.pass(l.passed)
	}
	l.passed = mark{}
	switch {
	case damage != nil:
		return over, l.reject(damage), damage
	case !c.closing.IsZero() || context.Cause(l.ctx) != nil:
		return over, l.putBack(), nil
	case c.final != nil:
		return over, l.putBack(), c.final
	case len(c.failures) > 0:
		err := c.failures[0]
		c.failures = c.failures[1:]
		return over, l.putBack(), err
	case c.suspended || !trusted:
		c.waiting = true // or a long suspension would look like a body that is stuck
		return pause, l.putBack(), nil
	case l.opened:
		l.take()
		return handOut, nil, nil
	}
	return l.pick()
}

// take leases the open batch.
func (l *loop) take() {
	b, p := &l.batch, l.chunk.owned
	p.deliver(b.LastOffset + 1)
	b.HighWatermark = p.highWatermark
	l.c.lease.take(p, b.FirstOffset, b.LeaderEpoch)
}

// pick replaces chunk, which is at its end, by the next one.
func (l *loop) pick() (outcome, *fetcher, error) {
	fetcher := l.discard()
	c := l.c
	next := c.buffer.pop()
	switch {
	case next == nil:
		c.waiting = true
		return pause, fetcher, nil
	case next.err != nil:
		next.owned.told(time.Now())
		return over, fetcher, next.err
	}
	l.chunk, l.from = next, next.owned.done.next
	return again, fetcher, nil
}

// discard is done with chunk.
func (l *loop) discard() *fetcher {
	if l.chunk == nil {
		return nil
	}
	l.closeBatch()
	l.passed = mark{}
	fetcher := l.chunk.frame.fetcher
	l.chunk.retire()
	l.chunk = nil
	return fetcher
}

// putBack leaves the rest of chunk, from the first batch on that is not done,
// to whoever reads next.
func (l *loop) putBack() *fetcher {
	if l.chunk == nil {
		return nil
	}
	l.closeBatch()
	l.c.buffer.pushFront(l.chunk)
	l.chunk = nil
	return nil
}

// reject throws away what has arrived of a partition and has it fetched again,
// from the first record on that is not done.
func (l *loop) reject(damage *PartitionError) *fetcher {
	p := damage.owned
	p.refetch()
	p.told(time.Now())
	l.c.buffer.drop(func(q *ownedPartition) bool { return q == p })
	return l.discard()
}

// wait returns when there may be something to do.
func (l *loop) wait(trusted bool) {
	if trusted {
		<-l.c.arrived
		return
	}
	timer := time.NewTimer(recheck)
	defer timer.Stop()
	select {
	case <-l.c.arrived:
	case <-timer.C:
	}
}

// eachRecord yields the records of the batch. It returns false if the loop was
// left.
func (l *loop) eachRecord(yield func(*Record, error) bool) bool {
	lease := &l.c.lease
	b := &l.batch
	records := b.records
	var raw recordbatch.Record
	for n := 1; records.Next(&raw); n++ {
		if raw.Offset < b.FirstOffset {
			continue
		}
		rec := l.newRecord()
		rec.fill(&raw)
		if !yield(rec, nil) {
			return false
		}
		b.next = raw.Offset + 1
		lease.next.Store(b.next)
		if lease.look.Load() || n%trustEvery == 0 && !l.c.trusted() {
			l.from, b.FirstOffset = b.next, b.next
			return true // next looks at everything, and comes back with the rest if it may
		}
	}
	b.err = records.Err()
	l.bodyDone = true
	return true
}

// newRecord returns a record of the batch for the application to keep.
func (l *loop) newRecord() *Record {
	if len(l.slab) == 0 {
		l.slab = make([]Record, min(max(int(l.raw.Count), 1), slabRecords))
	}
	rec := &l.slab[0]
	l.slab = l.slab[1:]
	*rec = l.batch.record
	return rec
}

// slabRecords is how many records are allocated at a time. Whoever keeps one
// keeps its neighbours.
const slabRecords = 128
