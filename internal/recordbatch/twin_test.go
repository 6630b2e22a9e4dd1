package recordbatch

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The twin is franz-go's encoding of batches, which shares nothing with ours.

// row is a record as a test writes it down.
type row struct {
	Offset    int64
	Timestamp int64
	Key       []byte
	Value     []byte
	Headers   []Header
}

// twinRecords encodes rows as the payload of a batch that begins at base and
// firstTimestamp.
func twinRecords(base, firstTimestamp int64, rows []row) []byte {
	var payload []byte
	for _, row := range rows {
		rec := kmsg.Record{
			TimestampDelta64: row.Timestamp - firstTimestamp,
			OffsetDelta:      int32(row.Offset - base),
			Key:              row.Key,
			Value:            row.Value,
		}
		for _, h := range row.Headers {
			rec.Headers = append(rec.Headers, kmsg.Header{Key: h.Key, Value: h.Value})
		}
		rec.Length = int32(len(rec.AppendTo(nil)) - 1) // the length 0 takes a byte
		payload = rec.AppendTo(payload)
	}
	return payload
}

// twinBatch encodes a batch with the right length and checksum.
func twinBatch(b kmsg.RecordBatch) []byte {
	b.Magic = 2
	return seal(b.AppendTo(nil))
}

// seal sets size and checksum of raw, a v2 batch of which the rest is right.
func seal(raw []byte) []byte {
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}

// collect reads all records of r.
func collect(r *Records) []row {
	var rows []row
	var rec Record
	for r.Next(&rec) {
		rows = append(rows, row{rec.Offset, rec.Timestamp, rec.Key, rec.Value, rec.AppendHeaders(nil)})
	}
	return rows
}

// only returns the one batch that src is.
func only(tb testing.TB, src []byte) Batch {
	tb.Helper()
	var s Scanner
	var b, none Batch
	s.Reset(src)
	require.True(tb, s.Next(&b), "%v", s.Err())
	require.False(tb, s.Next(&none))
	require.NoError(tb, s.Err())
	require.Empty(tb, s.Rest())
	return b
}

const roomy = 1 << 20

// readAll reads the one batch that src is.
func readAll(tb testing.TB, src []byte) []row {
	tb.Helper()
	b := only(tb, src)
	r, err := b.Open(nil, roomy)
	require.NoError(tb, err)
	rows := collect(&r)
	require.NoError(tb, r.Err())
	return rows
}
