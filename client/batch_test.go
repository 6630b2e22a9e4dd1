package client

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/internal/recordbatch"
)

// lentBatch is a batch of count records with values of size bytes, as a loop
// hands it out.
func lentBatch(tb testing.TB, count, size int, codec recordbatch.Codec, headers ...Header) *Batch {
	tb.Helper()
	var builder recordbatch.Builder
	value := make([]byte, size)
	for i := range int64(count) {
		builder.Append(1000+i, fmt.Append(nil, i), value, headers)
	}
	compressor, err := recordbatch.NewCompressor(codec)
	require.NoError(tb, err)
	var scanner recordbatch.Scanner
	scanner.Reset(builder.Finish(compressor))
	var raw recordbatch.Batch
	require.True(tb, scanner.Next(&raw))
	b := &Batch{maxBytes: 64 << 20}
	records, err := raw.Open(new(recordbatch.Decompressor), b.maxBytes)
	require.NoError(tb, err)
	b.lend(&ownedPartition{key: partitionKey{"t", 3}}, &raw, records, 0)
	return b
}

func TestReadingABatchAllocatesNothing(t *testing.T) {
	b := lentBatch(t, 1000, 100, recordbatch.None)
	sum := 0
	require.Zero(t, testing.AllocsPerRun(10, func() {
		for rec := range b.Records() {
			sum += len(rec.Value)
		}
	}))
	require.Equal(t, 11*1000*100, sum)
}

func TestARecordOfABatchSaysAllThereIsToSay(t *testing.T) {
	b := lentBatch(t, 3, 4, recordbatch.LZ4, Header{Key: "h", Value: []byte("v")}, Header{Key: "null"})
	var got []*Record
	for rec := range b.Records() {
		got = append(got, rec.Clone())
	}
	require.Len(t, got, 3)
	rec := got[1]
	rec.from = nil
	require.Equal(t, &Record{
		Topic: "t", Partition: 3, LeaderEpoch: -1, Offset: 1, Timestamp: time.UnixMilli(1001),
		Key: []byte("1"), Value: make([]byte, 4), Headers: []Header{{Key: "h", Value: []byte("v")}, {Key: "null"}},
	}, rec)
}

func TestABatchCanBeReadAgainAndFromItsMiddle(t *testing.T) {
	b := lentBatch(t, 5, 1, recordbatch.None)
	for range 2 {
		n := 0
		for range b.Records() {
			n++
		}
		require.Equal(t, 5, n)
	}
	b.FirstOffset = 3
	var seen []int64
	for rec := range b.Records() {
		seen = append(seen, rec.Offset)
	}
	require.Equal(t, []int64{3, 4}, seen)
}

func TestAKeptBatchSharesNoMemory(t *testing.T) {
	for codec := recordbatch.None; codec <= recordbatch.Zstd; codec++ {
		t.Run(codec.String(), func(t *testing.T) {
			b := lentBatch(t, 50, 100, codec)
			var before []*Record
			for rec := range b.Records() {
				before = append(before, rec.Clone())
			}
			kept := b.Keep()
			for rec := range b.Records() {
				clear(rec.Key)
				rec.Value[0] = 0xdb
			}
			b.records.Release()
			i := 0
			for rec := range kept.Records() {
				require.Equal(t, before[i].Key, rec.Key)
				require.Equal(t, before[i].Value, rec.Value)
				i++
			}
			require.Equal(t, len(before), i)
		})
	}
}

func TestACloneSharesNoMemory(t *testing.T) {
	rec := &Record{Key: []byte("k"), Value: []byte("v"), Headers: []Header{{Key: "h", Value: []byte("w")}}}
	clone := rec.Clone()
	rec.Key[0], rec.Value[0], rec.Headers[0].Value[0] = 'x', 'x', 'x'
	rec.Headers[0].Key = "x"
	require.Equal(t, &Record{Key: []byte("k"), Value: []byte("v"), Headers: []Header{{Key: "h", Value: []byte("w")}}}, clone)
}

func BenchmarkBatchRecords(b *testing.B) {
	for _, size := range []int{100, 1024} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			batch := lentBatch(b, 10000, size, recordbatch.None)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				for rec := range batch.Records() {
					n += int(rec.Value[0]) + 1
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/record")
		})
	}
}
