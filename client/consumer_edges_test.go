package client

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/internal/recordbatch"
)

// A batch may hold nothing for the application: compaction has taken its
// records, or they are the markers of transactions. Reading and committing go
// on behind it all the same.
func TestABatchWithNothingForTheApplicationIsPassed(t *testing.T) {
	for name, nothing := range map[string]func(span int32) []byte{"compacted": compactedBatch, "markers": markerBatch} {
		t.Run(name, func(t *testing.T) {
			within(t, []int32{1}, func(t *testing.T, b *bench) {
				b.write(0, 3)
				b.writeBatch(0, nothing(7), 7)
				b.write(0, 2)
				b.writeBatch(0, nothing(5), 5)
				c := b.open(ConsumerConfig{})
				b.member.assign(all(1))

				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errTestEnd)
				defer cancel()
				var got []*Record
				for batch, err := range c.Batches(ctx) {
					require.NoError(t, err)
					require.Contains(t, []int64{2, 11}, batch.LastOffset)
					for rec := range batch.Records() {
						got = append(got, rec.Clone())
					}
				}
				require.Equal(t, []int64{0, 1, 2, 10, 11}, offsets(got))
				require.NoError(t, c.Close(t.Context()))
				require.EqualValues(t, 17, b.member.have(0))
			})
		})
	}
}

// A deadline that has passed is a context that has ended, and not no time at
// all.
func TestADeadlineThatHasPassedDoesNotShortenClose(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 10)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		read(t, c, 5)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		<-ctx.Done()
		require.NoError(t, c.Close(ctx))
		require.EqualValues(t, 4, b.member.have(0))
	})
}

// compactedBatch is a batch of so many offsets whose records are all gone.
func compactedBatch(span int32) []byte {
	batch := kmsg.RecordBatch{
		Length: 49, Magic: 2, LastOffsetDelta: span - 1,
		FirstTimestamp: -1, MaxTimestamp: -1, ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
	}
	return seal(batch.AppendTo(nil))
}

// markerBatch is a batch of so many records that are not the application's.
func markerBatch(span int32) []byte {
	var builder recordbatch.Builder
	for range span {
		builder.Append(1000, []byte{0, 0, 0, 1}, make([]byte, 6), nil)
	}
	data := builder.Finish(nil)
	const control = 1 << 5
	data[checksumEnd+1] |= control
	return seal(data)
}

// checksumEnd is where the checksum of a batch ends, and what it covers begins.
const checksumEnd = 21

// seal writes the checksum of a batch.
func seal(batch []byte) []byte {
	sum := crc32.Checksum(batch[checksumEnd:], crc32.MakeTable(crc32.Castagnoli))
	binary.BigEndian.PutUint32(batch[checksumEnd-4:], sum)
	return batch
}
