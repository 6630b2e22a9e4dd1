package client

import "sync/atomic"

// lease is the batch that the application has in its hands. The Consumer's mutex
// guards it, but for the two atomics: with them alone the loop goes from one
// record to the next.
//
// The partition of a lease is not given away: Revoke asks for it back (look) and
// waits until the loop has taken note, which is when the body of the loop is
// left.
type lease struct {
	owned    *ownedPartition // nil: nothing is in anybody's hands
	first    int64           // offset of the batch's first record, or below
	epoch    int32           // leader epoch of the batch
	returned chan struct{}   // closed when the lease ends; nil if nobody waits

	next atomic.Int64 // offset behind the last record that is done
	look atomic.Bool  // something has happened that the loop must look at first
}

// take begins a lease: a batch of p is about to be handed out, of which all
// before the offset first is done.
func (l *lease) take(p *ownedPartition, first int64, epoch int32) {
	l.owned, l.first, l.epoch = p, first, epoch
	l.next.Store(first)
}

// raise notes, from outside of the loop, that all before next is done.
func (l *lease) raise(next int64) {
	for {
		before := l.next.Load()
		if next <= before || l.next.CompareAndSwap(before, next) {
			return
		}
	}
}

// settle moves what is done to the position of the partition.
func (l *lease) settle() {
	if l.owned != nil {
		if next := l.next.Load(); next > l.first {
			l.owned.finish(mark{next, l.epoch})
		}
	}
}

// end gives the batch back and lets go whoever waits for it.
func (l *lease) end() {
	l.settle()
	l.owned = nil
	if l.returned != nil {
		close(l.returned)
		l.returned = nil
	}
}

// wait returns a channel that is closed when the lease ends.
func (l *lease) wait() <-chan struct{} {
	if l.returned == nil {
		l.returned = make(chan struct{})
	}
	return l.returned
}
