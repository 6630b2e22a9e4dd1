package client

import (
	"iter"

	"github.com/musterkafka/muster/internal/recordbatch"
)

// Batch is consecutive records of one partition, as one producer sent them.
//
// It is lent: it and its records are valid until the next iteration of the loop
// over Batches, when their memory is used again. Keep outlives that.
type Batch struct {
	Topic         string
	Partition     int32
	LeaderEpoch   int32 // of the leader that wrote the batch; -1 if unknown (KIP-320)
	FirstOffset   int64 // all records have this offset or a higher one
	LastOffset    int64 // none has a higher one
	HighWatermark int64 // where the partition's readable end was when the batch was fetched

	raw      recordbatch.Batch
	records  recordbatch.Records // all of the batch, those before FirstOffset too; never advanced, only its copies are
	maxBytes int
	record   Record
	next     int64 // behind the last record that Records has yielded
	err      error // why Records ended
}

// Records yields the records of b, in order, where they lie: each is valid until
// the next iteration. Calling it again starts over.
//
// A record that cannot be decoded ends it, and then, after this iteration of the loop over Batches,
// that loop with a *PartitionError; what was yielded before counts as done.
func (b *Batch) Records() iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		records := b.records
		var raw recordbatch.Record
		for records.Next(&raw) {
			if raw.Offset < b.FirstOffset {
				continue
			}
			b.record.fill(&raw)
			if !yield(&b.record) {
				return
			}
			b.next = raw.Offset + 1
		}
		b.err = records.Err()
	}
}

// Keep returns a copy of b that shares no memory with it and belongs to the
// caller for good. Its records are still each valid until the next iteration.
func (b *Batch) Keep() *Batch {
	kept := *b
	kept.record.Headers = nil
	records, err := b.raw.Open(nil, b.maxBytes)
	if err != nil {
		kept.records, kept.err = recordbatch.Records{}, err // cannot be: it was opened before
		return &kept
	}
	records.Own()
	kept.records, kept.raw = records, recordbatch.Batch{}
	return &kept
}

// lend makes b the batch raw of p, opened, and without what lies before from.
func (b *Batch) lend(p *ownedPartition, raw *recordbatch.Batch, records recordbatch.Records, from int64) {
	b.Topic, b.Partition, b.LeaderEpoch = p.key.topic, p.key.partition, raw.LeaderEpoch
	b.FirstOffset, b.LastOffset = max(from, raw.BaseOffset), raw.LastOffset
	if raw.Magic < 2 {
		b.FirstOffset = from // BaseOffset of compressed messages is their last offset
	}
	b.raw, b.records = *raw, records
	b.record.Topic, b.record.Partition, b.record.LeaderEpoch = b.Topic, b.Partition, b.LeaderEpoch
	b.record.from = p
	b.next, b.err = b.FirstOffset, nil
}
