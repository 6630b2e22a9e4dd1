package recordbatch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// The layout of a v2 batch (KIP-98). Offset, size and magic lie where v0 and v1
// have them too.
const (
	sizeAt           = 8
	leaderEpochAt    = 12
	magicAt          = 16
	crcAt            = 17
	attributesAt     = 21
	lastDeltaAt      = 23
	firstTimestampAt = 27
	maxTimestampAt   = 35
	producerIDAt     = 43
	producerEpochAt  = 51
	baseSequenceAt   = 53
	countAt          = 57
	headerSize       = 61

	prefixSize = 12 // offset and size, which the size does not count
)

// Attributes of a v2 batch; v1 messages have the first two as well.
const (
	codecMask         = 0x07
	logAppendTimeFlag = 0x08
	transactionalFlag = 0x10
	controlFlag       = 0x20
)

var errChecksum = errors.New("checksum mismatch: the batch was damaged on the broker's disk or on its way here")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Batch is the header of one record batch, or of one message of a v0 or v1
// message set. It borrows the bytes that the Scanner was given: it may be opened
// as long as they are unchanged.
type Batch struct {
	// BaseOffset is the offset of the batch's first record when it was
	// written; compaction may have removed that record since. A compressed
	// v0 or v1 message does not say it: there it is LastOffset.
	BaseOffset int64

	// LastOffset is the last offset that the batch stands for, whether or
	// not compaction left a record there. Reading goes on at LastOffset+1.
	LastOffset int64

	LeaderEpoch    int32 // of the leader that wrote the batch; -1 if unknown (KIP-101)
	Magic          int8  // format: 0, 1 or 2
	Codec          Codec // may be a value that is no known codec; Open refuses those
	LogAppendTime  bool  // the broker's time of writing counts, not the producer's (KIP-32)
	Transactional  bool  // part of a transaction (KIP-98)
	Control        bool  // holds transaction markers, which are not the application's records (KIP-98)
	FirstTimestamp int64 // milliseconds since 1970, base of the records' timestamps; -1 in v0
	MaxTimestamp   int64 // milliseconds since 1970; -1 in v0
	ProducerID     int64 // -1 if the producer is not idempotent
	ProducerEpoch  int16 // -1 if the producer is not idempotent
	BaseSequence   int32 // -1 if the producer is not idempotent

	// Count is how many records the batch says it holds, which may be 0
	// after compaction, and -1 for a compressed v0 or v1 message, which does
	// not say it. It is never below -1, is not yet checked against the
	// records, and so must not size an allocation.
	Count int32

	// Size is the length of the batch in the answer, in bytes.
	Size int

	payload []byte
}

// Scanner walks the batches of one partition in a fetch answer, in place and
// without allocating. The zero Scanner has nothing to scan. It is not safe for
// concurrent use.
type Scanner struct {
	// SkipCRC leaves out the checksum, and with it most of the cost of Next,
	// for those who trust both disk and network.
	SkipCRC bool

	src []byte
	err error
}

// Reset starts over with src, the records of one partition as the broker sent
// them. SkipCRC stays as it is.
func (s *Scanner) Reset(src []byte) {
	s.src, s.err = src, nil
}

// Next cuts off the next batch and describes it in b. It returns false at the
// end, after which Err says whether the end was a bad one. A batch that is not
// there as a whole is no error: brokers cut an answer at its byte limit.
func (s *Scanner) Next(b *Batch) bool {
	if s.err != nil || len(s.src) <= magicAt {
		return false
	}
	offset := int64(binary.BigEndian.Uint64(s.src))
	size := int32(binary.BigEndian.Uint32(s.src[sizeAt:]))
	magic := int8(s.src[magicAt])
	if err := checkShape(size, magic); err != nil {
		return s.fail(offset, err)
	}
	if int(size) > len(s.src)-prefixSize {
		return false
	}
	raw := s.src[:prefixSize+int(size)]

	var err error
	switch {
	case !s.SkipCRC && !sound(raw, magic):
		err = errChecksum
	case magic == 2:
		err = b.readHeader(raw)
	default:
		err = b.readMessage(raw)
	}
	if err != nil {
		return s.fail(offset, err)
	}
	s.src = s.src[len(raw):]
	return true
}

// Err returns why Next ended, nil if it merely came to the end. It is an *Error
// without Resume.
func (s *Scanner) Err() error { return s.err }

// Rest returns the bytes that Next did not consume: empty, or a batch that the
// broker cut off, or the one that Err is about. It borrows the scanned bytes. If
// there are bytes left and there was no batch before them, the byte limits of
// the fetch are too small for the next batch.
func (s *Scanner) Rest() []byte { return s.src }

func (s *Scanner) fail(offset int64, err error) bool {
	s.err = &Error{Offset: offset, Resume: -1, Err: err}
	return false
}

// checkShape refuses sizes and formats that cannot be, before a byte more is
// looked at.
func checkShape(size int32, magic int8) error {
	if magic < 0 || magic > 2 {
		return fmt.Errorf("unknown format (magic %d)", magic)
	}
	if least := [3]int32{messageV0Size, messageV1Size, headerSize}[magic] - prefixSize; size < least {
		return fmt.Errorf("size of %d bytes is below the %d of an empty batch (magic %d)", size, least, magic)
	}
	return nil
}

// sound reports whether the checksum of raw, a whole batch, is right.
func sound(raw []byte, magic int8) bool {
	if magic == 2 {
		return crc32.Checksum(raw[attributesAt:], castagnoli) == binary.BigEndian.Uint32(raw[crcAt:])
	}
	return crc32.ChecksumIEEE(raw[magicAt:]) == binary.BigEndian.Uint32(raw[messageCRCAt:])
}

// readHeader reads the header of a v2 batch, of which raw is the whole.
func (b *Batch) readHeader(raw []byte) error {
	attributes := binary.BigEndian.Uint16(raw[attributesAt:])
	base := int64(binary.BigEndian.Uint64(raw))
	lastDelta := int32(binary.BigEndian.Uint32(raw[lastDeltaAt:]))
	*b = Batch{
		BaseOffset:     base,
		LastOffset:     base + int64(lastDelta),
		LeaderEpoch:    int32(binary.BigEndian.Uint32(raw[leaderEpochAt:])),
		Magic:          2,
		Codec:          Codec(attributes & codecMask),
		LogAppendTime:  attributes&logAppendTimeFlag != 0,
		Transactional:  attributes&transactionalFlag != 0,
		Control:        attributes&controlFlag != 0,
		FirstTimestamp: int64(binary.BigEndian.Uint64(raw[firstTimestampAt:])),
		MaxTimestamp:   int64(binary.BigEndian.Uint64(raw[maxTimestampAt:])),
		ProducerID:     int64(binary.BigEndian.Uint64(raw[producerIDAt:])),
		ProducerEpoch:  int16(binary.BigEndian.Uint16(raw[producerEpochAt:])),
		BaseSequence:   int32(binary.BigEndian.Uint32(raw[baseSequenceAt:])),
		Count:          int32(binary.BigEndian.Uint32(raw[countAt:])),
		Size:           len(raw),
		payload:        raw[headerSize:],
	}
	if base < 0 || b.LastOffset < base || b.LastOffset == math.MaxInt64 {
		return fmt.Errorf("impossible offsets: base %d, last delta %d", base, lastDelta)
	}
	if b.Count < 0 {
		return fmt.Errorf("impossible record count %d", b.Count)
	}
	return nil
}
