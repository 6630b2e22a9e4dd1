package recordbatch

import (
	"encoding/binary"
	"errors"

	"github.com/pierrec/lz4/v4"
)

// The LZ4 frame format,
// https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md, as far as Kafka
// uses it: one frame, no dictionary. Checksums in the frame are not looked at: the
// batch has its own over the same bytes, and messages of format v0 have a wrong
// header checksum that readers must ignore (KIP-57).
const (
	lz4Magic          = 0x184d2204
	lz4VersionMask    = 0xc0
	lz4Version        = 0x40
	lz4Independent    = 0x20
	lz4BlockChecksum  = 0x10
	lz4ContentSize    = 0x08
	lz4Dictionary     = 0x01
	lz4Uncompressed   = 1 << 31 // flag in a block's size
	lz4WindowSize     = 64 << 10
	lz4WriteBlockSize = 64 << 10 // as Java writes it
	lz4MaxRatio       = 255
)

// lz4Header is the header that we write: independent blocks of up to 64 KiB. The
// last byte is its checksum.
var lz4Header = []byte{0x04, 0x22, 0x4d, 0x18, lz4Version | lz4Independent, 0x40, 0x82}

var (
	errLZ4Header = errors.New("not an lz4 frame, or of a kind that Kafka does not use")
	errLZ4Block  = errors.New("an lz4 block is damaged")
)

// lz4Frame walks the blocks of a frame.
type lz4Frame struct {
	flags     byte
	blockSize int // most that a block decodes to
	rest      []byte
}

func openLZ4(src []byte) (lz4Frame, error) {
	if len(src) < len(lz4Header) || binary.LittleEndian.Uint32(src) != lz4Magic {
		return lz4Frame{}, errLZ4Header
	}
	f := lz4Frame{flags: src[4]}
	size := src[5] >> 4 & 7 // 4 to 7: 64 KiB, 256 KiB, 1 MiB, 4 MiB
	if f.flags&lz4VersionMask != lz4Version || f.flags&lz4Dictionary != 0 || size < 4 {
		return lz4Frame{}, errLZ4Header
	}
	f.blockSize = 1 << (8 + 2*size)
	header := len(lz4Header)
	if f.flags&lz4ContentSize != 0 {
		header += 8
	}
	if len(src) < header {
		return lz4Frame{}, errLZ4Header
	}
	f.rest = src[header:]
	return f, nil
}

// next cuts off the next block. It returns nil at the end mark.
func (f *lz4Frame) next() (block []byte, compressed bool, err error) {
	if len(f.rest) < 4 {
		return nil, false, errLZ4Block
	}
	size := binary.LittleEndian.Uint32(f.rest)
	compressed = size&lz4Uncompressed == 0
	size &^= lz4Uncompressed
	if size == 0 {
		return nil, false, nil
	}
	end := int64(4) + int64(size)
	next := end
	if f.flags&lz4BlockChecksum != 0 {
		next += 4
	}
	if int64(size) > int64(f.blockSize) || next > int64(len(f.rest)) {
		return nil, false, errLZ4Block
	}
	block = f.rest[4:end]
	f.rest = f.rest[next:]
	return block, compressed, nil
}

// bound returns the most that the frame can decode to.
func (f lz4Frame) bound() (int64, error) {
	bound := int64(0)
	for {
		block, compressed, err := f.next()
		if err != nil || block == nil {
			return bound, err
		}
		n := int64(len(block))
		if compressed {
			n = min(n*lz4MaxRatio, int64(f.blockSize))
		}
		bound += n
	}
}

func (d *Decompressor) decodeLZ4(src []byte, maxBytes int) (*buffer, error) {
	f, err := openLZ4(src)
	if err != nil {
		return nil, err
	}
	bound, err := f.bound()
	if err != nil {
		return nil, err
	}
	out := d.buffer(int(min(bound, int64(maxBytes))))
	for {
		block, compressed, err := f.next()
		if err != nil {
			out.release()
			return nil, err
		}
		if block == nil {
			return out, nil
		}
		if err := out.appendLZ4(f, block, compressed, maxBytes); err != nil {
			out.release()
			return nil, err
		}
	}
}

// appendLZ4 appends what one block of f holds.
func (b *buffer) appendLZ4(f lz4Frame, block []byte, compressed bool, maxBytes int) error {
	at := len(b.data)
	room := min(f.blockSize, maxBytes-at, cap(b.data)-at)
	n := len(block)
	if compressed {
		var dictionary []byte
		if f.flags&lz4Independent == 0 {
			dictionary = b.data[max(0, at-lz4WindowSize):]
		}
		var err error
		n, err = lz4.UncompressBlockWithDict(block, b.data[at:at+room], dictionary)
		if err != nil && room == maxBytes-at && room < f.blockSize {
			return ErrTooLarge
		}
		if err != nil {
			return errLZ4Block
		}
	} else if n > room {
		return ErrTooLarge
	} else {
		copy(b.data[at:at+n], block)
	}
	b.data = b.data[:at+n]
	return nil
}

// appendLZ4 appends src as an LZ4 frame.
func appendLZ4(dst, src []byte, c *lz4.Compressor) []byte {
	dst = append(dst, lz4Header...)
	for len(src) > 0 {
		raw := src[:min(len(src), lz4WriteBlockSize)]
		at := len(dst)
		dst = extend(dst, 4+len(raw))
		size, err := c.CompressBlock(raw, dst[at+4:])
		header := uint32(size)
		if err != nil || size == 0 || size >= len(raw) { // does not shrink
			size = copy(dst[at+4:], raw)
			header = uint32(size) | lz4Uncompressed
		}
		binary.LittleEndian.PutUint32(dst[at:], header)
		dst = dst[:at+4+size]
		src = src[len(raw):]
	}
	return append(dst, 0, 0, 0, 0) // end mark
}
