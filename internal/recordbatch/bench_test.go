package recordbatch

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// batchOf returns a batch of records with values of size bytes that compress to
// about half, filling about limit bytes before compression.
func batchOf(tb testing.TB, codec Codec, size, limit int) (batch []byte, count int) {
	tb.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	value := make([]byte, size)
	c, err := NewCompressor(codec)
	require.NoError(tb, err)
	var b Builder
	for b.Fits(limit, int64(b.Count()), nil, value, nil) {
		for i := range value[:size/2] {
			value[i] = byte(random.Uint32())
		}
		b.Append(int64(b.Count()), nil, value, nil)
	}
	return b.Finish(c), b.Count()
}

var sink int64

func BenchmarkDecode(b *testing.B) {
	for _, size := range []int{100, 1024} {
		for codec := None; codec <= Zstd; codec++ {
			b.Run(fmt.Sprintf("%v/%dB", codec, size), func(b *testing.B) {
				batch, count := batchOf(b, codec, size, 1<<20)
				benchmarkDecode(b, batch, count, false)
			})
		}
		b.Run(fmt.Sprintf("none/%dB/no-checksum", size), func(b *testing.B) {
			batch, count := batchOf(b, None, size, 1<<20)
			benchmarkDecode(b, batch, count, true)
		})
		b.Run(fmt.Sprintf("limit/%dB", size), func(b *testing.B) {
			batch, count := batchOf(b, None, size, 1<<20)
			benchmarkLimit(b, batch, count)
		})
	}
}

func benchmarkDecode(b *testing.B, raw []byte, count int, skipCRC bool) {
	var d Decompressor
	var rec Record
	b.ReportAllocs()
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		s := Scanner{SkipCRC: skipCRC}
		s.Reset(raw)
		var batch Batch
		n := 0
		for s.Next(&batch) {
			records, err := batch.Open(&d, 16<<20)
			if err != nil {
				b.Fatal(err)
			}
			for records.Next(&rec) {
				sink += rec.Timestamp + rec.Offset + int64(len(rec.Value)) + int64(rec.Value[0])
				n++
			}
			if records.Err() != nil {
				b.Fatal(records.Err())
			}
			records.Release()
		}
		if n != count {
			b.Fatal(n, count)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(count), "ns/record")
}

// benchmarkLimit is how little can be done: no check of anything, one walk.
func benchmarkLimit(b *testing.B, raw []byte, count int) {
	varint := func(b []byte) (int64, int) {
		if b[0] < 0x80 {
			return int64(b[0]>>1) ^ -int64(b[0]&1), 1
		}
		return binary.Varint(b)
	}
	for b.Loop() {
		body := raw[headerSize:]
		for range count {
			size, n := varint(body)
			r := body[n+1 : n+int(size)]
			body = body[n+int(size):]
			ts, n := varint(r)
			r = r[n:]
			offset, n := varint(r)
			r = r[n:]
			keyLen, n := varint(r)
			r = r[n:]
			if keyLen > 0 {
				r = r[keyLen:]
			}
			valueLen, n := varint(r)
			r = r[n:]
			value := r[:valueLen]
			sink += ts + offset + int64(len(value)) + int64(value[0])
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(count), "ns/record")
}

func BenchmarkBuild(b *testing.B) {
	for _, size := range []int{100, 1024} {
		for codec := None; codec <= Zstd; codec++ {
			b.Run(fmt.Sprintf("%v/%dB", codec, size), func(b *testing.B) {
				_, count := batchOf(b, None, size, 1<<20)
				value := make([]byte, size)
				for i := range size / 2 {
					value[i] = byte(i * i)
				}
				c, err := NewCompressor(codec)
				require.NoError(b, err)
				var batch Builder
				b.ReportAllocs()
				b.SetBytes(int64(count * size))
				for b.Loop() {
					batch.Reset()
					for i := range int64(count) {
						batch.Append(i, nil, value, nil)
					}
					sink += int64(len(batch.Finish(c)))
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(count), "ns/record")
			})
		}
	}
}
