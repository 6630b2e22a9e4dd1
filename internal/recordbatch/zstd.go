package recordbatch

import (
	"errors"

	"github.com/klauspost/compress/zstd"
)

// zstdMaxBlock is the most that a compressed block decodes to (RFC 8878, 3.1.1.2.4).
const zstdMaxBlock = 128 << 10

var errZstdFrame = errors.New("a zstd block is longer than its frame")

func (d *Decompressor) decodeZstd(src []byte, maxBytes int) (*buffer, error) {
	bound, err := zstdBound(src)
	if err != nil {
		return nil, err
	}
	decoder, ok := d.zstd.Get().(*zstd.Decoder)
	if !ok {
		// It decodes no further than the buffer it is given, and so needs
		// no limit of its own. It has no goroutine and need not be closed.
		decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
	}
	defer d.zstd.Put(decoder)

	out := d.buffer(int(min(bound, int64(maxBytes))))
	data, err := decoder.DecodeAll(src, out.data[:0:min(cap(out.data), maxBytes)])
	if err != nil {
		out.release()
		if bound > int64(maxBytes) {
			// Nothing says whether it was for want of room, but bytes
			// that passed the batch's checksum are rarely damaged.
			return nil, ErrTooLarge
		}
		return nil, err
	}
	out.data = out.data[:len(data)]
	return out, nil
}

// zstdBound returns the most that src, a sequence of frames, can decode to. It
// reads headers only. Producers that stream, Java's among them, do not write the
// size down, so that guessing it would mean to decode twice or to copy.
func zstdBound(src []byte) (int64, error) {
	bound := int64(0)
	for len(src) > 0 {
		var h zstd.Header
		if err := h.Decode(src); err != nil {
			return 0, err
		}
		size := int64(h.HeaderSize)
		if h.Skippable {
			size += int64(h.SkippableSize)
		}
		if size > int64(len(src)) {
			return 0, errZstdFrame
		}
		src = src[size:]
		if h.Skippable {
			continue
		}
		content, rest, err := zstdBlocks(src)
		if err != nil {
			return 0, err
		}
		if h.HasFCS {
			content = min(content, int64(min(h.FrameContentSize, 1<<62)))
		}
		bound += content
		if h.HasCheckSum {
			rest = rest[min(4, len(rest)):]
		}
		src = rest
	}
	return bound, nil
}

// zstdBlocks returns the most that the blocks of one frame can decode to, and
// what is behind them.
func zstdBlocks(src []byte) (bound int64, rest []byte, err error) {
	for {
		if len(src) < 3 {
			return 0, nil, errZstdFrame
		}
		header := uint32(src[0]) | uint32(src[1])<<8 | uint32(src[2])<<16
		last, kind, size := header&1 != 0, header>>1&3, int64(header>>3)
		length := size
		switch kind {
		case 0: // raw
			bound += size
		case 1: // one byte, repeated
			bound += size
			length = 1
		default:
			bound += zstdMaxBlock
		}
		if length > int64(len(src)-3) {
			return 0, nil, errZstdFrame
		}
		src = src[3+length:]
		if last {
			return bound, src, nil
		}
	}
}
