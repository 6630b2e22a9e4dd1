package client

import (
	"slices"

	"github.com/musterkafka/muster/conn"
)

// fetchFrame is the memory of one answer, which the chunks cut from it share.
// The Consumer's mutex guards it.
type fetchFrame struct {
	answer  conn.Answer
	fetcher *fetcher
	size    int
	chunks  int // not done with yet
}

// chunk is what one answer brought of one partition: whole batches from the
// first one on that is not done, or an error in their place.
type chunk struct {
	owned   *ownedPartition
	frame   *fetchFrame // nil with err
	records []byte
	err     *PartitionError
}

// buffer is what waits for the application, in the order of arrival. The
// Consumer's mutex guards it.
type buffer struct {
	chunks []*chunk
}

func (b *buffer) push(c *chunk) { b.chunks = append(b.chunks, c) }

// pushFront puts c back, to be the next one.
func (b *buffer) pushFront(c *chunk) { b.chunks = slices.Insert(b.chunks, 0, c) }

func (b *buffer) pop() *chunk {
	if len(b.chunks) == 0 {
		return nil
	}
	c := b.chunks[0]
	b.chunks[0] = nil
	b.chunks = b.chunks[1:]
	return c
}

// drop throws away what is buffered of the partitions that match.
func (b *buffer) drop(match func(*ownedPartition) bool) {
	b.chunks = slices.DeleteFunc(b.chunks, func(c *chunk) bool {
		if match(c.owned) {
			c.retire()
			return true
		}
		return false
	})
}

// retire says that nobody reads c any more.
func (c *chunk) retire() {
	if f := c.frame; f != nil {
		c.frame, c.records = nil, nil
		f.unref()
	}
}

// unref takes one chunk off f. The last one gives the memory back, and makes room for
// the next fetch.
func (f *fetchFrame) unref() {
	if f.chunks--; f.chunks > 0 {
		return
	}
	f.fetcher.frames--
	f.fetcher.buffered -= f.size
	f.answer.Release()
}
