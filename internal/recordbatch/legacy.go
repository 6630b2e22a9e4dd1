package recordbatch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// The layout of a message, formats v0 and v1. A message set is messages one
// after another; a compressed message holds a message set as its value (KIP-31,
// KIP-32). Behind the attributes, v1 has a timestamp; then come key and value.
const (
	messageCRCAt        = 12
	messageAttributesAt = 17
	messageTimestampAt  = 18 // v1 only

	messageV0Size = 26 // with null key and value
	messageV1Size = 34
)

// readMessage reads a message, of which raw is the whole, as a batch.
func (b *Batch) readMessage(raw []byte) error {
	offset := int64(binary.BigEndian.Uint64(raw))
	magic := int8(raw[magicAt])
	attributes := raw[messageAttributesAt]
	timestamp := int64(-1)
	if magic == 1 {
		timestamp = int64(binary.BigEndian.Uint64(raw[messageTimestampAt:]))
	}
	*b = Batch{
		BaseOffset:     offset,
		LastOffset:     offset,
		LeaderEpoch:    -1,
		Magic:          magic,
		Codec:          Codec(attributes & codecMask),
		LogAppendTime:  magic == 1 && attributes&logAppendTimeFlag != 0,
		FirstTimestamp: timestamp,
		MaxTimestamp:   timestamp,
		ProducerID:     -1,
		ProducerEpoch:  -1,
		BaseSequence:   -1,
		Count:          1,
		Size:           len(raw),
		payload:        raw,
	}
	if offset < 0 || offset == math.MaxInt64 {
		return fmt.Errorf("impossible offset %d", offset)
	}
	if b.Codec != None {
		b.Count = -1
	}
	return nil
}

// openMessages is Open for v0 and v1.
func (b *Batch) openMessages(d *Decompressor, maxBytes int) (Records, error) {
	r := Records{
		data:          b.payload,
		magic:         b.Magic,
		logAppendTime: b.LogAppendTime,
		lastDelta:     b.LastOffset,
		timestamp:     b.MaxTimestamp,
	}
	if b.Codec == None {
		return r, nil
	}
	var rec Record
	if !readMessageFields(b.payload, &rec) || rec.Value == nil {
		return Records{}, b.fail(errors.New("corrupt: the value of a compressed message is not there"))
	}
	buf, err := d.decompress(b.Codec, rec.Value, maxBytes)
	if err != nil {
		return Records{}, b.fail(err)
	}
	r.data, r.buffer = buf.data, buf

	last, ok := lastOffset(r.data)
	if !ok {
		r.Release()
		return Records{}, b.fail(errors.New("corrupt: a compressed message holds no message"))
	}
	if b.Magic == 1 {
		// Inner offsets count from an unknown base; the outer offset is
		// that of the last of them (KIP-31).
		r.base = b.LastOffset - last
		r.lastDelta = last
		if last < 0 || r.base < 0 {
			r.Release()
			return Records{}, b.fail(fmt.Errorf("corrupt: the last inner offset %d is negative or above the outer one", last))
		}
	}
	return r, nil
}

// lastOffset returns the offset of the last whole message in set, as it is
// written there.
func lastOffset(set []byte) (offset int64, ok bool) {
	for {
		raw, found := cutMessage(set)
		if !found {
			return offset, ok
		}
		offset, ok = int64(binary.BigEndian.Uint64(raw)), true
		set = set[len(raw):]
	}
}

// cutMessage returns the first message of set, if it is there as a whole and
// large enough for its format.
func cutMessage(set []byte) (raw []byte, ok bool) {
	if len(set) < messageV0Size {
		return nil, false
	}
	size := int64(int32(binary.BigEndian.Uint32(set[sizeAt:])))
	least := int64(messageV0Size)
	if set[magicAt] == 1 {
		least = messageV1Size
	}
	if size+prefixSize < least || size+prefixSize > int64(len(set)) {
		return nil, false
	}
	return set[:prefixSize+size], true
}

// nextMessage is Next for v0 and v1. Bytes behind the last whole message are
// ignored, as the Java client does.
func (r *Records) nextMessage(rec *Record) bool {
	raw, ok := cutMessage(r.data[r.pos:])
	if !ok {
		return false
	}
	offset := int64(binary.BigEndian.Uint64(raw))
	switch {
	case raw[magicAt] > 1:
		return r.fail("a message of another format within a message set")
	case r.buffer != nil && raw[messageAttributesAt]&codecMask != 0:
		return r.fail("a compressed message within a compressed message")
	case uint64(offset) > uint64(r.lastDelta):
		return r.fail("a message lies outside the offsets of its set")
	case !readMessageFields(raw, rec):
		return r.fail("key or value of a message do not fit it")
	}
	rec.Offset = r.base + offset
	rec.headers, rec.headerCount = nil, 0
	switch {
	case r.logAppendTime:
		rec.Timestamp = r.timestamp
	case raw[magicAt] == 1:
		rec.Timestamp = int64(binary.BigEndian.Uint64(raw[messageTimestampAt:]))
	default:
		rec.Timestamp = -1
	}
	r.pos += len(raw)
	return true
}

// readMessageFields reads key and value of raw, a message that cutMessage would
// return, and reports whether they end where the message ends.
func readMessageFields(raw []byte, rec *Record) bool {
	rest := raw[messageTimestampAt:]
	if raw[magicAt] == 1 {
		rest = rest[8:]
	}
	var ok bool
	if rec.Key, rest, ok = cutBytes(rest); !ok {
		return false
	}
	rec.Value, rest, ok = cutBytes(rest)
	return ok && len(rest) == 0
}

// cutBytes cuts bytes behind a four-byte length off b. A negative length stands
// for null and gives nil.
func cutBytes(b []byte) (value, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n, b := int64(int32(binary.BigEndian.Uint32(b))), b[4:]
	if n < 0 {
		return nil, b, true
	}
	if n > int64(len(b)) {
		return nil, nil, false
	}
	return b[:n:n], b[n:], true
}
