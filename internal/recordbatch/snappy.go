package recordbatch

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/s2"
)

// Snappy comes in two forms. Java frames it as the library snappy-java does: a
// header, then blocks, each behind its length. Others send one bare block, which
// the Java library takes as well. We write what Java writes.
var xerialHeader = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1} // magic, version, oldest reader

const (
	xerialMagicSize = 8
	xerialBlockSize = 32 << 10 // as Java writes it
)

var errSnappyFrame = errors.New("a block is longer than its frame")

func (d *Decompressor) decodeSnappy(src []byte, maxBytes int) (*buffer, error) {
	if len(src) < len(xerialHeader) || !bytes.Equal(src[:xerialMagicSize], xerialHeader[:xerialMagicSize]) {
		return d.decodeSnappyBlock(src, maxBytes)
	}
	src = src[len(xerialHeader):]
	size := int64(0)
	for rest := src; len(rest) > 0; {
		block, after, ok := cutBytes(rest)
		if !ok || block == nil {
			return nil, errSnappyFrame
		}
		n, err := s2.DecodedLen(block)
		if err != nil {
			return nil, err
		}
		if size += int64(n); size > int64(maxBytes) {
			return nil, ErrTooLarge
		}
		rest = after
	}
	out := d.buffer(int(size))
	for len(src) > 0 {
		block, after, _ := cutBytes(src)
		if err := out.appendSnappy(block); err != nil {
			out.release()
			return nil, err
		}
		src = after
	}
	return out, nil
}

func (d *Decompressor) decodeSnappyBlock(src []byte, maxBytes int) (*buffer, error) {
	n, err := s2.DecodedLen(src)
	if err != nil {
		return nil, err
	}
	if n > maxBytes {
		return nil, ErrTooLarge
	}
	out := d.buffer(n)
	if err := out.appendSnappy(src); err != nil {
		out.release()
		return nil, err
	}
	return out, nil
}

// appendSnappy appends what block holds; b has room for it.
func (b *buffer) appendSnappy(block []byte) error {
	at := len(b.data)
	decoded, err := s2.Decode(b.data[at:cap(b.data)], block)
	if err != nil {
		return err
	}
	b.data = b.data[:at+len(decoded)]
	return nil
}

// appendXerial appends src in the frame of snappy-java.
func appendXerial(dst, src []byte) []byte {
	dst = append(dst, xerialHeader...)
	for len(src) > 0 {
		n := min(len(src), xerialBlockSize)
		at := len(dst)
		dst = extend(dst, 4+s2.MaxEncodedLen(n))
		block := s2.EncodeSnappy(dst[at+4:], src[:n])
		binary.BigEndian.PutUint32(dst[at:], uint32(len(block)))
		dst = dst[:at+4+len(block)]
		src = src[n:]
	}
	return dst
}
