package recordbatch

import (
	"errors"
	"fmt"
	"slices"
)

// Header is a header of a record (KIP-82).
type Header struct {
	Key   string
	Value []byte // nil is null
}

// Record is one record of a batch. Key, Value and headers borrow the memory of
// the Records that it came from.
type Record struct {
	Offset    int64
	Timestamp int64  // milliseconds since 1970; -1 if there is none
	Key       []byte // nil is null
	Value     []byte // nil is null

	headers     []byte // checked
	headerCount int32
}

// NumHeaders returns how many headers r has.
func (r *Record) NumHeaders() int { return int(r.headerCount) }

// AppendHeaders appends the headers of r to dst and returns it. Keys are copied,
// values borrow as r's do.
func (r *Record) AppendHeaders(dst []Header) []Header {
	i := 0
	for range r.headerCount {
		var key, value []byte
		key, i, _ = bytesAt(r.headers, i)
		value, i, _ = bytesAt(r.headers, i)
		dst = append(dst, Header{Key: string(key), Value: value})
	}
	return dst
}

// minRecordSize is the size of a record with neither key, value nor headers:
// length, attributes, two deltas, two lengths and the header count.
const minRecordSize = 7

// Records walks the records of one batch where they lie: in the bytes that were
// scanned or, if those were compressed, in a buffer of the Decompressor's.
//
// The zero Records is empty. Records is not safe for concurrent use and must not
// be copied once Next was called.
type Records struct {
	data []byte
	pos  int
	left int32 // still to come; v2 only

	magic         int8
	logAppendTime bool
	base          int64 // what offset deltas add to
	lastDelta     int64 // highest of them
	timestamp     int64 // what timestamp deltas add to; with logAppendTime the only one

	err    error
	buffer *buffer // holds data if it was decompressed
}

// Open decompresses the batch, if it is compressed, and returns its records. The
// records of a compressed batch lie in a buffer of d's until Release; others
// borrow the scanned bytes. If the records take more than maxBytes once
// decompressed, the error wraps ErrTooLarge, and the buffer for them did not grow
// past maxBytes, rounded up to a power of two from 64 KiB. Errors are *Error, with
// Resume.
func (b *Batch) Open(d *Decompressor, maxBytes int) (Records, error) {
	if b.Magic < 2 {
		return b.openMessages(d, maxBytes)
	}
	r := Records{
		data:          b.payload,
		left:          b.Count,
		magic:         b.Magic,
		logAppendTime: b.LogAppendTime,
		base:          b.BaseOffset,
		lastDelta:     b.LastOffset - b.BaseOffset,
		timestamp:     b.FirstTimestamp,
	}
	if b.LogAppendTime {
		r.timestamp = b.MaxTimestamp
	}
	// A batch that compaction emptied may say any codec and have no bytes.
	if b.Codec != None && len(b.payload) > 0 {
		buf, err := d.decompress(b.Codec, b.payload, maxBytes)
		if err != nil {
			return Records{}, b.fail(err)
		}
		r.data, r.buffer = buf.data, buf
	}
	if size := int64(len(r.data)); int64(b.Count)*minRecordSize > size {
		r.Release()
		return Records{}, b.fail(fmt.Errorf("corrupt: %d records cannot be in %d bytes", b.Count, size))
	}
	return r, nil
}

func (b *Batch) fail(err error) error {
	return &Error{Offset: b.BaseOffset, Resume: b.LastOffset + 1, Err: err}
}

// Next decodes the next record into rec, all of which it overwrites. It returns
// false at the end, after which Err says whether the end was a bad one. It does
// not allocate.
func (r *Records) Next(rec *Record) bool {
	if r.magic < 2 {
		return r.nextMessage(rec)
	}
	if r.left <= 0 {
		return r.end()
	}
	size, i := shortVarintAt(r.data, r.pos)
	if i < 0 {
		size, i = varintAt(r.data, r.pos)
	}
	if size < 0 || size > int64(len(r.data)-i) {
		return r.fail("a record is longer than the batch")
	}
	b := r.data[:i+int(size)]
	at := i + 1 // after the attributes, which mean nothing yet
	timeDelta, i := shortVarintAt(b, at)
	if i < 0 {
		timeDelta, i = varintAt(b, at)
	}
	at = i
	offsetDelta, i := shortVarintAt(b, at)
	if i < 0 {
		offsetDelta, i = varintAt(b, at)
	}
	if uint64(offsetDelta) > uint64(r.lastDelta) {
		return r.fail("a record lies outside the offsets of the batch")
	}
	rec.Offset = r.base + offsetDelta
	rec.Timestamp = r.timestamp
	if !r.logAppendTime {
		rec.Timestamp += timeDelta
	}
	if !rec.readBody(b, i) {
		return r.fail("the parts of a record do not fit its length")
	}
	r.pos = len(b)
	r.left--
	return true
}

// readBody reads key, value and headers from b[i:] and reports whether they end
// where b ends. Every length is checked before it is used: where there is none,
// varintAt leaves i past the end of b, which no check lets through.
func (r *Record) readBody(b []byte, i int) bool {
	n, at := shortVarintAt(b, i)
	if at < 0 {
		n, at = varintAt(b, i)
	}
	if n > int64(len(b)-at) {
		return false
	}
	r.Key, i = nil, at
	if n >= 0 {
		i = at + int(n)
		r.Key = b[at:i:i]
	}
	n, at = shortVarintAt(b, i)
	if at < 0 {
		n, at = varintAt(b, i)
	}
	if n > int64(len(b)-at) {
		return false
	}
	r.Value, i = nil, at
	if n >= 0 {
		i = at + int(n)
		r.Value = b[at:i:i]
	}
	if i == len(b)-1 && b[i] == 0 { // no headers
		r.headers, r.headerCount = nil, 0
		return true
	}
	n, i = varintAt(b, i)
	if i > len(b) {
		return false
	}
	r.headers, r.headerCount = b[i:], int32(n)
	return checkHeaders(r.headers, n)
}

// Err returns why Next ended, nil if all records were read. It is an *Error.
func (r *Records) Err() error { return r.err }

// Own moves the records that are still to come to memory of their own, just as
// large as they are, and releases what they borrowed. Records that Next returned
// before are not moved.
func (r *Records) Own() {
	own := slices.Clone(r.data[r.pos:])
	if r.buffer != nil {
		r.buffer.release()
	}
	r.data, r.pos, r.buffer = own, 0, nil
}

// Release gives the memory of a decompressed batch back for the next one. Every
// record that Next returned is invalid from then on, and r is empty. Without
// Release the memory is left to the collector, and records may be kept.
func (r *Records) Release() {
	if r.buffer != nil {
		r.buffer.release()
	}
	*r = Records{err: r.err}
}

func (r *Records) end() bool {
	if r.pos != len(r.data) {
		return r.fail("bytes are left over after the last record")
	}
	return false
}

// fail ends r with an error, keeping the first one.
func (r *Records) fail(what string) bool {
	if r.err == nil {
		last := r.base + r.lastDelta
		first := r.base
		if r.magic < 2 {
			first = last // as in Batch.BaseOffset
		}
		r.err = &Error{Offset: first, Resume: last + 1, Err: errors.New("corrupt: " + what)}
	}
	r.left, r.pos = 0, len(r.data)
	return false
}

// checkHeaders reports whether b is count headers and nothing else.
func checkHeaders(b []byte, count int64) bool {
	if count < 0 || count > int64(len(b)/2) {
		return false
	}
	i := 0
	for range count {
		key, at, ok := bytesAt(b, i)
		if !ok || key == nil {
			return false
		}
		if _, i, ok = bytesAt(b, at); !ok {
			return false
		}
	}
	return i == len(b)
}

// bytesAt reads the bytes at b[i:], preceded by their length; a negative length
// stands for null and gives nil. It returns the position behind them, and false
// if they are not there.
func bytesAt(b []byte, i int) ([]byte, int, bool) {
	n, i := varintAt(b, i)
	if n > int64(len(b)-i) {
		return nil, i, false
	}
	if n < 0 {
		return nil, i, true
	}
	end := i + int(n)
	return b[i:end:end], end, true
}
