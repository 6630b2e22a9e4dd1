package recordbatch

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// openPayload opens a batch with base offset 100 and last offset 102 that says
// it holds count records.
func openPayload(tb testing.TB, count int32, payload []byte) (Records, error) {
	tb.Helper()
	batch := threeBatch()
	batch.NumRecords, batch.Records = count, payload
	b := only(tb, twinBatch(batch))
	return b.Open(nil, roomy)
}

func TestPayloadCutOffAtAnyByteIsAnError(t *testing.T) {
	payload := twinRecords(100, 1000, threeRows)
	for k := range payload {
		r, err := openPayload(t, 3, payload[:k])
		if err == nil {
			collect(&r)
			err = r.Err()
		}
		var e *Error
		require.ErrorAs(t, err, &e, "%d bytes", k)
		require.EqualValues(t, 100, e.Offset)
		require.EqualValues(t, 103, e.Resume)
	}
}

func TestCorruptRecords(t *testing.T) {
	one := func(body ...byte) []byte { return append([]byte{byte(2 * len(body))}, body...) }
	max64 := binary.AppendVarint(nil, math.MaxInt64)
	for _, test := range []struct {
		name    string
		count   int32
		payload []byte
		want    string
	}{
		{"more records than bytes", 3, one(0, 0, 0, 1, 1, 0), "3 records cannot be in 7 bytes"},
		{"most records there can be", math.MaxInt32, one(0, 0, 0, 1, 1, 0), "cannot be in 7 bytes"},
		{"fewer records than bytes", 1, append(one(0, 0, 0, 1, 1, 0), one(0, 0, 2, 1, 1, 0)...), "left over"},
		{"no record but bytes", 0, []byte{0}, "left over"},
		{"length negative", 1, []byte{1, 0, 0, 0, 1, 1, 0}, "longer than the batch"},
		{"length too large", 1, []byte{14, 0, 0, 0, 1, 1, 0}, "longer than the batch"},
		{"length of 64 bits", 1, append(max64, 0, 0, 0, 1, 1, 0), "longer than the batch"},
		{"length without end", 1, bytes.Repeat([]byte{0x80}, 20), "longer than the batch"},
		{"length zero", 1, make([]byte, 7), "do not fit"},
		{"offset above the last", 1, one(0, 0, 6, 1, 1, 0), "outside the offsets"},
		{"offset below the base", 1, one(0, 0, 1, 1, 1, 0), "outside the offsets"},
		{"key too long", 1, one(0, 0, 0, 6, 1, 0), "do not fit"},
		{"value too long", 1, one(0, 0, 0, 1, 4, 0), "do not fit"},
		{"value of 64 bits", 1, one(append([]byte{0, 0, 0, 1}, max64...)...), "do not fit"},
		{"bytes behind the headers", 1, one(0, 0, 0, 1, 1, 0, 0), "do not fit"},
		{"header count missing", 1, one(0, 0, 0, 1, 3, 'v'), "do not fit"},
		{"header count without end", 1, one(0, 0, 0, 1, 1, 0x80), "do not fit"},
		{"header count negative", 1, one(0, 0, 0, 1, 1, 1), "do not fit"},
		{"header count too large", 1, one(0, 0, 0, 1, 1, 4, 0, 1), "do not fit"},
		{"header count of 64 bits", 1, one(append([]byte{0, 0, 0, 1, 1}, max64...)...), "do not fit"},
		{"header key null", 1, one(0, 0, 0, 1, 1, 2, 1, 1), "do not fit"},
		{"header key too long", 1, one(0, 0, 0, 1, 1, 2, 8, 1), "do not fit"},
		{"header value too long", 1, one(0, 0, 0, 1, 1, 2, 0, 2), "do not fit"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := openPayload(t, test.count, test.payload)
			var rec Record
			if err == nil {
				for r.Next(&rec) {
				}
				err = r.Err()
			}
			require.ErrorContains(t, err, test.want)
			require.False(t, r.Next(&rec), "an error stays")
		})
	}
}

func TestAppendingToAKeyDoesNotTouchTheValue(t *testing.T) {
	rows := readAll(t, twinBatch(threeBatch()))
	_ = append(rows[0].Key, "xxxxxxxx"...)
	require.Equal(t, []byte("first"), rows[0].Value)
}

func TestHeadersCountAndAppend(t *testing.T) {
	r, err := openPayload(t, 3, twinRecords(100, 1000, threeRows))
	require.NoError(t, err)
	var rec Record
	require.True(t, r.Next(&rec))
	require.Zero(t, rec.NumHeaders())
	require.True(t, r.Next(&rec))
	require.Equal(t, 2, rec.NumHeaders())
	before := Header{"before", nil}
	require.Equal(t, []Header{before, {"h", []byte("v")}, {"", nil}}, rec.AppendHeaders([]Header{before}))
	require.True(t, r.Next(&rec))
	require.Zero(t, rec.NumHeaders(), "nothing stays of the record before")
}

func TestZeroRecordsIsEmpty(t *testing.T) {
	var r Records
	require.False(t, r.Next(new(Record)))
	require.NoError(t, r.Err())
	r.Release()
}

func compressed(tb testing.TB, codec Codec) Batch {
	tb.Helper()
	raw, _ := batchOf(tb, codec, 100, 10_000)
	return only(tb, raw)
}

func TestReleasedRecordsAreEmptyAndTheirMemoryServesTheNextBatch(t *testing.T) {
	b := compressed(t, Zstd)
	var d Decompressor
	r, err := b.Open(&d, roomy)
	require.NoError(t, err)
	var rec Record
	require.True(t, r.Next(&rec))
	borrowed := rec.Value
	r.Release()
	require.False(t, r.Next(&rec))
	require.NoError(t, r.Err())
	if raceEnabled {
		require.Equal(t, bytes.Repeat([]byte{0xdb}, 100), borrowed)
	}
}

func TestOwnedRecordsOutliveTheirSource(t *testing.T) {
	for codec := None; codec <= Zstd; codec++ {
		raw, count := batchOf(t, codec, 100, 10_000)
		want := readAll(t, bytes.Clone(raw))
		var d Decompressor
		b := only(t, raw)
		r, err := b.Open(&d, roomy)
		require.NoError(t, err)
		r.Own()
		clear(raw)
		other, err := func() (Records, error) { b := compressed(t, Gzip); return b.Open(&d, roomy) }()
		require.NoError(t, err)
		other.Release()
		got := collect(&r)
		require.NoError(t, r.Err())
		require.Len(t, got, count)
		require.Equal(t, want, got)
	}
}

func TestOwnAfterSomeRecordsMovesTheRest(t *testing.T) {
	b := only(t, twinBatch(threeBatch()))
	r, err := b.Open(nil, roomy)
	require.NoError(t, err)
	require.True(t, r.Next(new(Record)))
	r.Own()
	require.Equal(t, threeRows[1:], collect(&r))
	require.NoError(t, r.Err())
}

func TestDecodingDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("pools drop at random under the race detector")
	}
	for codec := None; codec <= Zstd; codec++ {
		raw, _ := batchOf(t, codec, 100, 100_000)
		var d Decompressor
		var s Scanner
		var rec Record
		allocs := testing.AllocsPerRun(100, func() {
			s.Reset(raw)
			var b Batch
			s.Next(&b)
			r, _ := b.Open(&d, roomy)
			for r.Next(&rec) {
			}
			r.Release()
		})
		require.Less(t, allocs, 1.0, "%v", codec)
	}
}

func TestVarintsOfAnyLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64().Draw(t, "v")
		b := binary.AppendVarint(nil, v) // the standard library's zigzag
		require.Equal(t, b, appendVarint(nil, v))
		require.Equal(t, len(b), varintSize(v))

		got, next := varintAt(b, 0)
		require.Equal(t, v, got)
		require.Equal(t, len(b), next)

		padded := append(b, 0xff)
		if got, next = shortVarintAt(padded, 0); len(b) > 2 {
			require.Equal(t, -1, next)
		} else {
			require.Equal(t, v, got)
			require.Equal(t, len(b), next)
		}
	})
}

func TestBrokenVarintsLeaveThePositionPastTheEnd(t *testing.T) {
	for _, b := range [][]byte{
		nil,
		{0x80},
		{0xff, 0xff, 0xff},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02},       // 65 bits
		{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00}, // over-long
	} {
		_, next := shortVarintAt(b, 0)
		require.Equal(t, -1, next)
		v, next := varintAt(b, 0)
		require.Zero(t, v)
		require.Equal(t, len(b)+1, next)
		_, next = varintAt(b, next)
		require.Equal(t, len(b)+1, next, "a failure stays one")
	}
}
