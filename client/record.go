package client

import (
	"bytes"
	"slices"
	"time"

	"github.com/musterkafka/muster/internal/recordbatch"
)

// Header is a header of a record (KIP-82). A nil Value is null.
type Header = recordbatch.Header

// Record is one record, read or to be produced.
//
// A record from [Consumer.Records] may be kept. One from [Batch.Records] is
// valid until the next iteration; Clone outlives it.
type Record struct {
	Topic     string
	Partition int32

	// LeaderEpoch is the epoch of the leader that wrote the record, -1 if
	// unknown (KIP-320), and Offset is where the record lies. Neither is
	// looked at when a record is produced.
	LeaderEpoch int32
	Offset      int64

	// Timestamp is the producer's or the broker's, as the topic is set up, in
	// whole milliseconds. The zero time is none when read and now when produced.
	Timestamp time.Time

	Key     []byte // nil is null
	Value   []byte // nil is null
	Headers []Header

	from *ownedPartition // nil if it was not read by a Consumer
}

// Clone returns a copy of r that shares no memory with it and belongs to the
// caller for good.
func (r *Record) Clone() *Record {
	c := *r
	c.Key, c.Value = bytes.Clone(r.Key), bytes.Clone(r.Value)
	c.Headers = slices.Clone(r.Headers)
	for i := range c.Headers {
		c.Headers[i].Value = bytes.Clone(c.Headers[i].Value)
	}
	return &c
}

// fill makes r the record that raw describes. What is the same for all records
// of a batch is there already.
func (r *Record) fill(raw *recordbatch.Record) {
	r.Offset = raw.Offset
	r.Timestamp = time.Time{}
	if raw.Timestamp >= 0 {
		r.Timestamp = time.UnixMilli(raw.Timestamp)
	}
	r.Key, r.Value = raw.Key, raw.Value
	if raw.NumHeaders() > 0 || len(r.Headers) > 0 {
		r.Headers = raw.AppendHeaders(r.Headers[:0])
	}
}
