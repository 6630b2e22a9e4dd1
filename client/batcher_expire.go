package client

import (
	"fmt"
	"time"
)

// expire gives up the batches whose deadline has passed, those at a broker too,
// and returns the next deadline; false if there is none. The oldest batch of a
// partition is always first.
func (b *batcher) expire(now time.Time) (next time.Time, ok bool) {
	for batch := b.oldest; batch != nil; batch = batch.newer {
		if batch.settled {
			continue
		}
		if batch.deadline.After(now) {
			return batch.deadline, true
		}
		b.abandon(batch, b.expiry(batch))
	}
	return time.Time{}, false
}

func (b *batcher) expiry(batch *produceBatch) error {
	err := fmt.Errorf("%w: not written within %v", ErrDeliveryTimeout, b.patience)
	switch q := batch.queue; {
	case q.last != nil:
		return fmt.Errorf("%w; the last attempt failed: %w", err, q.last)
	case q.leader < 0:
		return fmt.Errorf("%w; the partition has no leader: check that the brokers which hold it are running", err)
	case q.busy && q.batches[0] == batch:
		return fmt.Errorf("%w; broker %d has not answered", err, q.leader)
	}
	return fmt.Errorf("%w; broker %d, or the network, is too slow for what is produced", err, batch.queue.leader)
}

// abandon settles a batch that need not have been drained.
func (b *batcher) abandon(batch *produceBatch, err error) {
	q := batch.queue
	waited := q.waiting()
	b.settle(batch, produceRefusal{err: err})
	if waited && !q.waiting() {
		b.unlist(q)
	}
}

// abandonAll settles everything, and returns how many records that were.
func (b *batcher) abandonAll(err error) (records int) {
	for batch := b.oldest; batch != nil; batch = batch.newer {
		if !batch.settled {
			records += len(batch.items)
			b.abandon(batch, err)
		}
	}
	return records
}

// blame says why nothing can be sent to node at the moment.
func (b *batcher) blame(node int32, err error) {
	for _, q := range b.ready[node] {
		q.last = err
	}
}
