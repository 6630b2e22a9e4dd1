package recordbatch

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

// anyRow draws a record; nil and empty are different things.
func anyRow(offset int64) *rapid.Generator[row] {
	return rapid.Custom(func(t *rapid.T) row {
		maybe := func(name string) []byte {
			if rapid.Bool().Draw(t, name+" is null") {
				return nil
			}
			return rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, name)
		}
		r := row{Offset: offset, Timestamp: rapid.Int64().Draw(t, "timestamp"), Key: maybe("key"), Value: maybe("value")}
		for range rapid.IntRange(0, 3).Draw(t, "headers") {
			r.Headers = append(r.Headers, Header{rapid.String().Draw(t, "header"), maybe("header value")})
		}
		return r
	})
}

func anyRows() *rapid.Generator[[]row] {
	return rapid.Custom(func(t *rapid.T) []row {
		rows := make([]row, rapid.IntRange(1, 100).Draw(t, "records"))
		for i := range rows {
			rows[i] = anyRow(int64(i)).Draw(t, "record")
		}
		return rows
	})
}

func TestWhatIsBuiltIsWhatIsRead(t *testing.T) {
	var b Builder
	var d Decompressor
	rapid.Check(t, func(t *rapid.T) {
		codec := Codec(rapid.IntRange(0, 4).Draw(t, "codec"))
		c, err := NewCompressor(codec)
		require.NoError(t, err)
		rows := anyRows().Draw(t, "rows")
		b.Reset()
		for _, r := range rows {
			size := b.SizeWith(r.Timestamp, r.Key, r.Value, r.Headers)
			require.True(t, b.Fits(size, r.Timestamp, r.Key, r.Value, r.Headers))
			require.False(t, b.Fits(size-1, r.Timestamp, r.Key, r.Value, r.Headers))
			b.Append(r.Timestamp, r.Key, r.Value, r.Headers)
			require.Equal(t, size, b.Size())
		}
		require.Equal(t, len(rows), b.Count())

		var s Scanner
		var batch Batch
		s.Reset(b.Finish(c))
		require.True(t, s.Next(&batch), "%v", s.Err())
		r, err := batch.Open(&d, roomy)
		require.NoError(t, err)
		got := collect(&r)
		require.NoError(t, r.Err())
		require.Equal(t, rows, got)
		r.Release()
	})
}

func TestAnotherDecoderReadsWhatIsBuilt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := anyRows().Draw(t, "rows")
		var b Builder
		newest := int64(math.MinInt64)
		for _, r := range rows {
			b.Append(r.Timestamp, r.Key, r.Value, r.Headers)
			newest = max(newest, r.Timestamp)
		}
		raw := b.Finish(nil)

		var twin kmsg.RecordBatch
		require.NoError(t, twin.ReadFrom(raw))
		require.Equal(t, seal(bytes.Clone(raw)), raw, "length and checksum")
		require.Equal(t, twinRecords(0, rows[0].Timestamp, rows), twin.Records)
		twin.Length, twin.CRC, twin.Records = 0, 0, nil
		require.Equal(t, kmsg.RecordBatch{
			PartitionLeaderEpoch: -1, Magic: 2,
			LastOffsetDelta: int32(len(rows) - 1), NumRecords: int32(len(rows)),
			FirstTimestamp: rows[0].Timestamp, MaxTimestamp: newest,
			ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		}, twin)
	})
}

func TestSetProducerIsWrittenAndForgotten(t *testing.T) {
	var b Builder
	b.SetProducer(12, 3, 45)
	b.Append(0, nil, []byte("value"), nil)
	first := bytes.Clone(b.Finish(nil))
	batch := only(t, first)
	require.Equal(t, []any{int64(12), int16(3), int32(45)}, []any{batch.ProducerID, batch.ProducerEpoch, batch.BaseSequence})
	require.Equal(t, first, b.Finish(nil), "a retry sends the same bytes")

	b.SetProducer(13, 0, 0)
	batch = only(t, b.Finish(nil))
	require.Equal(t, []any{int64(13), int16(0), int32(0)}, []any{batch.ProducerID, batch.ProducerEpoch, batch.BaseSequence})

	b.Reset()
	b.Append(0, nil, []byte("value"), nil)
	batch = only(t, b.Finish(nil))
	require.Equal(t, []any{int64(-1), int16(-1), int32(-1)}, []any{batch.ProducerID, batch.ProducerEpoch, batch.BaseSequence})
}

func TestRecordsThatDoNotShrinkStayUncompressed(t *testing.T) {
	for codec := Gzip; codec <= Zstd; codec++ {
		c, err := NewCompressor(codec)
		require.NoError(t, err)
		var b Builder
		b.Append(0, nil, []byte("short"), nil)
		raw := b.Finish(c)
		require.Equal(t, None, only(t, raw).Codec)
		require.Len(t, raw, b.Size())

		b.Append(0, nil, make([]byte, 1000), nil)
		raw = b.Finish(c)
		require.Equal(t, codec, only(t, raw).Codec)
		require.Less(t, len(raw), 200)
		require.Len(t, readAll(t, raw), 2)
	}
}

func TestEmptyBuilderGivesNoBatch(t *testing.T) {
	var b Builder
	require.Nil(t, b.Finish(nil))
	require.Zero(t, b.Size())
	b.Append(0, nil, nil, nil)
	b.Reset()
	require.Nil(t, b.Finish(nil))
	require.Zero(t, b.Count())
}

func TestNoLimitLetsABatchGrowPastTheFormat(t *testing.T) {
	b := Builder{buf: make([]byte, headerSize), count: math.MaxInt32}
	require.False(t, b.Fits(math.MaxInt, 0, nil, nil, nil))
}

func TestBuildingDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("pools drop at random under the race detector")
	}
	value := bytes.Repeat([]byte("value"), 20)
	headers := []Header{{"key", value}}
	for codec := None; codec <= Zstd; codec++ {
		c, err := NewCompressor(codec)
		require.NoError(t, err)
		var b Builder
		allocs := testing.AllocsPerRun(100, func() {
			b.Reset()
			for i := range int64(500) {
				if b.Fits(1<<20, i, value, value, headers) {
					b.Append(i, value, value, headers)
				}
			}
			b.Finish(c)
		})
		require.Less(t, allocs, 1.0, "%v", codec)
	}
}
