package recordbatch

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// fuzzLimit bounds what a fuzzed batch may decompress to.
const fuzzLimit = 1 << 18

func FuzzScan(f *testing.F) {
	f.Add(twinBatch(threeBatch()))
	f.Add(message(0, 5, 0, 0, []byte("k"), []byte("v")))
	f.Add(message(1, 5, 0, 7, nil, nil))
	for codec := None; codec <= Zstd; codec++ {
		raw, _ := batchOf(f, codec, 20, 1000)
		f.Add(raw)
		c, err := NewCompressor(codec)
		require.NoError(f, err)
		inner := append(message(1, 0, 0, 7, nil, []byte("v")), message(1, 1, 0, 7, nil, []byte("w"))...)
		f.Add(message(1, 5, int8(codec), 7, nil, c.append(nil, inner)))
	}
	var d Decompressor
	f.Fuzz(func(t *testing.T, src []byte) {
		before := bytes.Clone(src)
		s := Scanner{SkipCRC: true}
		s.Reset(src)
		var b Batch
		consumed := 0
		for s.Next(&b) {
			consumed += b.Size
			require.LessOrEqual(t, b.BaseOffset, b.LastOffset)
			fuzzBatch(t, &b, &d)
		}
		require.Equal(t, len(src), consumed+len(s.Rest()))
		require.Equal(t, before, src, "reading changes nothing")
	})
}

func fuzzBatch(t *testing.T, b *Batch, d *Decompressor) {
	r, err := b.Open(d, fuzzLimit)
	if err != nil {
		return
	}
	defer r.Release()
	require.LessOrEqual(t, len(r.data), max(len(b.payload), fuzzLimit))
	size, count := len(r.data), 0
	var rec Record
	for r.Next(&rec) {
		count++
		require.LessOrEqual(t, rec.Offset, b.LastOffset)
		require.LessOrEqual(t, len(rec.Key)+len(rec.Value), size)
		require.Len(t, rec.AppendHeaders(nil), rec.NumHeaders())
	}
	require.LessOrEqual(t, count*minRecordSize, size)
	if r.Err() == nil && b.Magic == 2 {
		require.EqualValues(t, b.Count, count)
	}
}

// FuzzRecords reads records that need no header around them to be reached.
func FuzzRecords(f *testing.F) {
	f.Add(int32(3), int8(0), twinRecords(100, 1000, threeRows))
	for codec := Gzip; codec <= Zstd; codec++ {
		c, err := NewCompressor(codec)
		require.NoError(f, err)
		f.Add(int32(3), int8(codec), c.append(nil, twinRecords(100, 1000, threeRows)))
	}
	var d Decompressor
	f.Fuzz(func(t *testing.T, count int32, codec int8, payload []byte) {
		b := Batch{BaseOffset: 100, LastOffset: 1 << 20, Magic: 2, Codec: Codec(codec), Count: max(count, 0), payload: payload}
		fuzzBatch(t, &b, &d)
	})
}
