package recordbatch

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"math/bits"
)

// Builder makes one v2 batch, as a producer sends it: base offset 0, leader epoch
// -1, no transaction. Each record is encoded once, where it will be sent from.
// The zero Builder is ready for the first record. It is not safe for concurrent
// use.
type Builder struct {
	buf    []byte // header, then records; empty before the first record
	packed []byte // header, then compressed records

	count          int32
	firstTimestamp int64
	maxTimestamp   int64

	idempotent    bool // the three below count
	producerID    int64
	producerEpoch int16
	baseSequence  int32
}

// Reset makes b ready for the next batch. What Finish returned is overwritten
// from then on, since b keeps its memory.
func (b *Builder) Reset() {
	*b = Builder{buf: b.buf[:0], packed: b.packed[:0]}
}

// Count returns how many records b holds.
func (b *Builder) Count() int { return int(b.count) }

// Size returns how many bytes the batch takes without compression, its header
// included. It is 0 before the first record.
func (b *Builder) Size() int { return len(b.buf) }

// SizeWith returns what Size would return after Append with the same arguments.
func (b *Builder) SizeWith(timestamp int64, key, value []byte, headers []Header) int {
	body := b.bodySize(timestamp, key, value, headers)
	return max(len(b.buf), headerSize) + varintSize(int64(body)) + body
}

// Fits reports whether the batch stays within limit bytes, before compression,
// if Append follows with the same arguments. A limit above the 2 GiB that the
// format can say counts as that.
func (b *Builder) Fits(limit int, timestamp int64, key, value []byte, headers []Header) bool {
	return b.SizeWith(timestamp, key, value, headers) <= min(limit, math.MaxInt32) && b.count < math.MaxInt32
}

// Append encodes a record into the batch. The timestamp is in milliseconds since
// 1970; nil key and value are null. Nothing is retained. The caller has asked
// Fits; a record that does not fit the format makes a batch that no broker takes.
func (b *Builder) Append(timestamp int64, key, value []byte, headers []Header) {
	body := b.bodySize(timestamp, key, value, headers)
	if b.count == 0 {
		b.buf = extend(b.buf[:0], headerSize)
		b.firstTimestamp, b.maxTimestamp = timestamp, timestamp
	}
	dst := appendVarint(b.buf, int64(body))
	dst = append(dst, 0) // attributes
	dst = appendVarint(dst, timestamp-b.firstTimestamp)
	dst = appendVarint(dst, int64(b.count))
	dst = appendBytes(dst, key)
	dst = appendBytes(dst, value)
	dst = appendVarint(dst, int64(len(headers)))
	for i := range headers {
		dst = appendVarint(dst, int64(len(headers[i].Key)))
		dst = append(dst, headers[i].Key...)
		dst = appendBytes(dst, headers[i].Value)
	}
	b.buf = dst
	b.count++
	b.maxTimestamp = max(b.maxTimestamp, timestamp)
}

// SetProducer makes the batch one of an idempotent producer (KIP-98). Without it
// the three are -1. Reset takes it back.
func (b *Builder) SetProducer(id int64, epoch int16, baseSequence int32) {
	b.idempotent = true
	b.producerID, b.producerEpoch, b.baseSequence = id, epoch, baseSequence
}

// Finish compresses the records with c, writes the header and returns the batch,
// which is valid until the next call on b. The records stay uncompressed if c is
// nil or if they would not shrink. Without records the result is nil. Called
// again, Finish gives the same bytes, but for what SetProducer changed.
func (b *Builder) Finish(c *Compressor) []byte {
	if b.count == 0 {
		return nil
	}
	batch, codec := b.buf, None
	if c != nil && c.codec != None {
		b.packed = extend(b.packed[:0], headerSize)
		b.packed = c.append(b.packed, b.buf[headerSize:])
		if len(b.packed) < len(b.buf) {
			batch, codec = b.packed, c.codec
		}
	}
	b.writeHeader(batch, codec)
	return batch
}

func (b *Builder) writeHeader(batch []byte, codec Codec) {
	id, epoch, sequence := int64(-1), int16(-1), int32(-1)
	if b.idempotent {
		id, epoch, sequence = b.producerID, b.producerEpoch, b.baseSequence
	}
	put := binary.BigEndian
	put.PutUint64(batch, 0) // base offset: the broker's business
	put.PutUint32(batch[sizeAt:], uint32(len(batch)-prefixSize))
	put.PutUint32(batch[leaderEpochAt:], math.MaxUint32) // -1
	batch[magicAt] = 2
	put.PutUint16(batch[attributesAt:], uint16(codec))
	put.PutUint32(batch[lastDeltaAt:], uint32(b.count-1))
	put.PutUint64(batch[firstTimestampAt:], uint64(b.firstTimestamp))
	put.PutUint64(batch[maxTimestampAt:], uint64(b.maxTimestamp))
	put.PutUint64(batch[producerIDAt:], uint64(id))
	put.PutUint16(batch[producerEpochAt:], uint16(epoch))
	put.PutUint32(batch[baseSequenceAt:], uint32(sequence))
	put.PutUint32(batch[countAt:], uint32(b.count))
	put.PutUint32(batch[crcAt:], crc32.Checksum(batch[attributesAt:], castagnoli))
}

// bodySize returns the size of a record as the next of b, without the length
// in front of it.
func (b *Builder) bodySize(timestamp int64, key, value []byte, headers []Header) int {
	var timeDelta int64
	if b.count > 0 {
		timeDelta = timestamp - b.firstTimestamp
	}
	size := 1 + varintSize(timeDelta) + varintSize(int64(b.count)) + bytesSize(key) + bytesSize(value)
	size += varintSize(int64(len(headers)))
	for i := range headers {
		n := len(headers[i].Key)
		size += varintSize(int64(n)) + n + bytesSize(headers[i].Value)
	}
	return size
}

// appendBytes appends b behind its length, or the length -1 if b is nil.
func appendBytes(dst, b []byte) []byte {
	if b == nil {
		return append(dst, 1) // -1 as a zigzag varint
	}
	return append(appendVarint(dst, int64(len(b))), b...)
}

// bytesSize returns how many bytes appendBytes appends.
func bytesSize(b []byte) int {
	if b == nil {
		return 1
	}
	return varintSize(int64(len(b))) + len(b)
}

// varintSize returns how many bytes appendVarint appends.
func varintSize(v int64) int {
	u := uint64(v)<<1 ^ uint64(v>>63)
	return (bits.Len64(u|1) + 6) / 7
}
