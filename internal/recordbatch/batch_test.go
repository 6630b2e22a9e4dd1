package recordbatch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var threeRows = []row{
	{Offset: 100, Timestamp: 1000, Key: []byte("k"), Value: []byte("first")},
	{Offset: 101, Timestamp: 900, Value: []byte{}, Headers: []Header{{"h", []byte("v")}, {"", nil}}},
	{Offset: 102, Timestamp: 5000, Key: []byte{}},
}

func threeBatch() kmsg.RecordBatch {
	return kmsg.RecordBatch{
		FirstOffset:          100,
		PartitionLeaderEpoch: 7,
		LastOffsetDelta:      2,
		FirstTimestamp:       1000,
		MaxTimestamp:         5000,
		ProducerID:           1234567890123,
		ProducerEpoch:        5,
		FirstSequence:        42,
		NumRecords:           3,
		Records:              twinRecords(100, 1000, threeRows),
	}
}

func TestBatchOfAnotherEncoderIsRead(t *testing.T) {
	raw := twinBatch(threeBatch())
	b := only(t, raw)
	b.payload = nil
	require.Equal(t, Batch{
		BaseOffset: 100, LastOffset: 102, LeaderEpoch: 7, Magic: 2,
		FirstTimestamp: 1000, MaxTimestamp: 5000,
		ProducerID: 1234567890123, ProducerEpoch: 5, BaseSequence: 42,
		Count: 3, Size: len(raw),
	}, b)
	require.Equal(t, threeRows, readAll(t, raw))
}

func TestAttributesAreRead(t *testing.T) {
	for attributes, want := range map[int16]Batch{
		0x00: {},
		0x01: {Codec: Gzip},
		0x02: {Codec: Snappy},
		0x03: {Codec: LZ4},
		0x04: {Codec: Zstd},
		0x08: {LogAppendTime: true},
		0x10: {Transactional: true},
		0x30: {Transactional: true, Control: true},
		0x40: {}, // delete horizon (KIP-534): none of a reader's business
	} {
		batch := threeBatch()
		batch.Attributes = attributes
		got := only(t, twinBatch(batch))
		got = Batch{Codec: got.Codec, LogAppendTime: got.LogAppendTime, Transactional: got.Transactional, Control: got.Control}
		require.Equal(t, want, got, "attributes %#x", attributes)
	}
}

func TestLogAppendTimeIsTheTimestampOfEveryRecord(t *testing.T) {
	batch := threeBatch()
	batch.Attributes = logAppendTimeFlag
	for _, row := range readAll(t, twinBatch(batch)) {
		require.EqualValues(t, 5000, row.Timestamp)
	}
}

// Kafka keeps the offsets of a batch when compaction takes records out of it, and
// the batch itself when it takes all.
func TestCompactedBatches(t *testing.T) {
	for name, rows := range map[string][]row{
		"hole at the front":  threeRows[2:],
		"hole in the middle": {threeRows[0], threeRows[2]},
		"hole at the end":    threeRows[:1],
		"nothing left":       nil,
	} {
		t.Run(name, func(t *testing.T) {
			for codec := None; codec <= Zstd; codec++ {
				batch := threeBatch()
				batch.NumRecords = int32(len(rows))
				batch.Records = twinRecords(100, 1000, rows)
				batch.Attributes = int16(codec)
				if codec != None && len(rows) > 0 {
					c, err := NewCompressor(codec)
					require.NoError(t, err)
					batch.Records = c.append(nil, batch.Records)
				}
				raw := twinBatch(batch)
				b := only(t, raw)
				require.EqualValues(t, 102, b.LastOffset)
				require.Equal(t, rows, readAll(t, raw))
			}
		})
	}
}

func TestHoleOfAMillionOffsets(t *testing.T) {
	batch := threeBatch()
	batch.LastOffsetDelta = 1_000_000
	batch.NumRecords = 1
	last := row{Offset: 1_000_100, Timestamp: 1000, Value: []byte("last")}
	batch.Records = twinRecords(100, 1000, []row{last})
	require.Equal(t, []row{last}, readAll(t, twinBatch(batch)))
}

func TestBatchCutOffAtAnyByteIsNoError(t *testing.T) {
	for name, next := range map[string][]byte{
		"v2":         twinBatch(threeBatch()),
		"message v0": message(0, 3, 0, 0, []byte("k"), []byte("value")),
		"message v1": message(1, 3, 0, 0, []byte("k"), []byte("value")),
	} {
		whole := twinBatch(threeBatch())
		for k := range len(next) {
			var s Scanner
			s.Reset(append(bytes.Clone(whole), next[:k]...))
			var b Batch
			require.True(t, s.Next(&b))
			require.False(t, s.Next(&b), "%s, %d bytes", name, k)
			require.NoError(t, s.Err(), "%s, %d bytes", name, k)
			require.Equal(t, next[:k], s.Rest())
		}
	}
}

func TestSeveralBatchesOfDifferentFormatsInOneAnswer(t *testing.T) {
	src := message(0, 8, 0, 0, nil, []byte("zero"))
	src = append(src, message(1, 9, 0, 77, nil, []byte("one"))...)
	second := threeBatch()
	src = append(src, twinBatch(second)...)
	var s Scanner
	var b Batch
	var offsets []int64
	s.Reset(src)
	for s.Next(&b) {
		r, err := b.Open(nil, roomy)
		require.NoError(t, err)
		for _, row := range collect(&r) {
			offsets = append(offsets, row.Offset)
		}
		require.NoError(t, r.Err())
	}
	require.NoError(t, s.Err())
	require.Equal(t, []int64{8, 9, 100, 101, 102}, offsets)
}

func TestEveryFlippedBitUnderTheChecksumIsFound(t *testing.T) {
	for _, raw := range [][]byte{
		twinBatch(threeBatch()),
		message(0, 3, 0, 0, []byte("k"), []byte("value")),
		message(1, 3, 0, 5, []byte("k"), []byte("value")),
	} {
		covered := crcAt
		if raw[magicAt] < 2 {
			covered = messageCRCAt
		}
		for bit := covered * 8; bit < len(raw)*8; bit++ {
			if bit/8 == magicAt {
				continue // another format, another place of the checksum
			}
			damaged := bytes.Clone(raw)
			damaged[bit/8] ^= 1 << (bit % 8)
			var s Scanner
			var b Batch
			s.Reset(damaged)
			require.False(t, s.Next(&b), "bit %d", bit)
			require.ErrorContains(t, s.Err(), "checksum mismatch", "bit %d", bit)
			require.Equal(t, damaged, s.Rest())
		}
	}
}

func TestSkipCRCReadsADamagedBatch(t *testing.T) {
	raw := twinBatch(threeBatch())
	raw[crcAt]++
	s := Scanner{SkipCRC: true}
	s.Reset(raw)
	var b Batch
	require.True(t, s.Next(&b))
}

func TestImpossibleHeadersAreRefused(t *testing.T) {
	put32 := func(at int, v int32) func([]byte) []byte {
		return func(raw []byte) []byte { binary.BigEndian.PutUint32(raw[at:], uint32(v)); return raw }
	}
	resealed := func(change func([]byte) []byte) func([]byte) []byte {
		return func(raw []byte) []byte { return seal(change(raw)) }
	}
	for _, test := range []struct {
		name   string
		change func([]byte) []byte
		want   string
	}{
		{"size zero", put32(sizeAt, 0), "size of 0 bytes is below the 49"},
		{"size negative", put32(sizeAt, -1), "size of -1 bytes is below the 49"},
		{"size below a header", put32(sizeAt, 48), "size of 48 bytes is below the 49"},
		{"magic 3", func(raw []byte) []byte { raw[magicAt] = 3; return raw }, "unknown format (magic 3)"},
		{"magic -1", func(raw []byte) []byte { raw[magicAt] = 0xff; return raw }, "unknown format (magic -1)"},
		{"count negative", resealed(put32(countAt, -1)), "impossible record count -1"},
		{"last offset before base", resealed(put32(lastDeltaAt, -1)), "impossible offsets"},
		{"base offset negative", put32(0, -1), "impossible offsets"},
		{"offsets overflow", func(raw []byte) []byte {
			binary.BigEndian.PutUint64(raw, 1<<63-1)
			return raw
		}, "impossible offsets"},
		{"no offset is left behind", func(raw []byte) []byte {
			binary.BigEndian.PutUint64(raw, 1<<63-1-2)
			return raw
		}, "impossible offsets"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s Scanner
			var b Batch
			s.Reset(test.change(twinBatch(threeBatch())))
			require.False(t, s.Next(&b))
			require.ErrorContains(t, s.Err(), test.want)
			var e *Error
			require.ErrorAs(t, s.Err(), &e)
			require.EqualValues(t, -1, e.Resume, "the end of the batch is not known")
			require.False(t, s.Next(&b), "an error stays")
		})
	}
}

func TestErrorNamesTheOffset(t *testing.T) {
	raw := twinBatch(threeBatch())
	raw[len(raw)-1]++
	var s Scanner
	var b Batch
	s.Reset(raw)
	require.False(t, s.Next(&b))
	require.EqualError(t, s.Err(), "record batch at offset 100: checksum mismatch: the batch was damaged on the broker's disk or on its way here")
}

func ExampleScanner() {
	var build Builder
	build.Append(1000, []byte("key"), []byte("value"), nil)
	answer := build.Finish(nil)

	var (
		scanner      Scanner
		decompressor Decompressor
		batch        Batch
		record       Record
	)
	scanner.Reset(answer)
	for scanner.Next(&batch) {
		records, err := batch.Open(&decompressor, 1<<20)
		if err != nil {
			fmt.Println(err)
			return
		}
		for records.Next(&record) {
			fmt.Printf("%d %s=%s\n", record.Offset, record.Key, record.Value)
		}
		if records.Err() != nil {
			fmt.Println(records.Err())
		}
		records.Release()
	}
	fmt.Println(scanner.Err())
	// Output:
	// 0 key=value
	// <nil>
}
