package recordbatch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// Decompressor opens compressed batches. It keeps decoders and output buffers
// for the next batch, so one of them should serve a whole client. The zero
// Decompressor is ready, and a nil one works but keeps nothing. It is safe for
// concurrent use.
type Decompressor struct {
	buffers [bufferClasses]sync.Pool // of *buffer
	gzip    sync.Pool                // of *gzipReader
	zstd    sync.Pool                // of *zstd.Decoder
}

// Buffers come in powers of two from the smallest to the largest class; what is
// larger is left to the collector.
const (
	minBufferBits = 16 // 64 KiB
	maxBufferBits = 24 // 16 MiB
	bufferClasses = maxBufferBits - minBufferBits + 1
)

// buffer is a pooled slice; its capacity never changes.
type buffer struct {
	data []byte
	pool *sync.Pool // nil if the buffer is too large to be kept
}

// buffer returns an empty buffer that holds at least n bytes, n not negative.
func (d *Decompressor) buffer(n int) *buffer {
	class := max(bits.Len(uint(max(n, 1)-1)), minBufferBits) - minBufferBits
	if class >= bufferClasses {
		return &buffer{data: make([]byte, 0, n)}
	}
	pool := &d.buffers[class]
	if b, ok := pool.Get().(*buffer); ok {
		return b
	}
	return &buffer{data: make([]byte, 0, 1<<(class+minBufferBits)), pool: pool}
}

// release gives b to the next batch. Under the race detector its bytes are
// overwritten first, so that a test that still reads them fails.
func (b *buffer) release() {
	if raceEnabled {
		for i := range b.data {
			b.data[i] = 0xdb
		}
	}
	if b.pool == nil {
		return
	}
	b.data = b.data[:0]
	b.pool.Put(b)
}

// decompress returns what src holds, in a buffer that the caller releases or
// leaves to the collector. A result of more than maxBytes is an error.
func (d *Decompressor) decompress(codec Codec, src []byte, maxBytes int) (*buffer, error) {
	maxBytes = max(maxBytes, 0)
	if d == nil {
		d = new(Decompressor)
	}
	var decode func(d *Decompressor, src []byte, maxBytes int) (*buffer, error)
	switch codec {
	case Gzip:
		decode = (*Decompressor).decodeGzip
	case Snappy:
		decode = (*Decompressor).decodeSnappy
	case LZ4:
		decode = (*Decompressor).decodeLZ4
	case Zstd:
		decode = (*Decompressor).decodeZstd
	case None: // is not opened by a decompressor
	}
	if decode == nil {
		return nil, fmt.Errorf("unknown compression (%v)", codec)
	}
	b, err := decode(d, src, maxBytes)
	switch {
	case errors.Is(err, ErrTooLarge):
		return nil, fmt.Errorf("%v records %w: they take more than the limit of %d bytes decompressed", codec, err, maxBytes)
	case err != nil:
		return nil, fmt.Errorf("corrupt %v records: %w", codec, err)
	}
	return b, nil
}

// gzipReader is a gzip decoder with what it needs beside it.
type gzipReader struct {
	gzip  gzip.Reader
	src   bytes.Reader
	probe [1]byte
}

// maxDeflateRatio is the most that deflate can expand: 258 bytes from 2 bits.
const maxDeflateRatio = 1032

func (d *Decompressor) decodeGzip(src []byte, maxBytes int) (*buffer, error) {
	r, ok := d.gzip.Get().(*gzipReader)
	if !ok {
		r = new(gzipReader)
	}
	defer d.gzip.Put(r)
	r.src.Reset(src)
	defer r.src.Reset(nil)
	if err := r.gzip.Reset(&r.src); err != nil {
		return nil, err
	}

	// The last four bytes are the size, if there is but one member and nobody lies.
	size := int64(len(src))
	if len(src) >= 4 {
		size = int64(binary.LittleEndian.Uint32(src[len(src)-4:]))
	}
	out := d.buffer(int(min(size, int64(len(src))*maxDeflateRatio, int64(maxBytes))))
	out, err := d.readAll(out, r, maxBytes)
	if err != nil {
		out.release()
		return nil, err
	}
	return out, nil
}

// readAll appends all that r has to out, or to the larger buffer that it returns
// in place of out, errors or not.
func (d *Decompressor) readAll(out *buffer, r *gzipReader, maxBytes int) (*buffer, error) {
	for {
		limit := min(cap(out.data), maxBytes)
		if len(out.data) == limit {
			n, err := r.gzip.Read(r.probe[:])
			switch {
			case n > 0 && limit == maxBytes:
				return out, ErrTooLarge
			case n > 0:
				out = d.grow(out, maxBytes)
				out.data = append(out.data, r.probe[0])
			case errors.Is(err, io.EOF):
				return out, nil
			case err != nil:
				return out, err
			}
			continue
		}
		n, err := r.gzip.Read(out.data[len(out.data):limit])
		out.data = out.data[:len(out.data)+n]
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
	}
}

// grow moves what is in b to a buffer of twice the size, or of maxBytes.
func (d *Decompressor) grow(b *buffer, maxBytes int) *buffer {
	larger := d.buffer(int(min(2*int64(cap(b.data)), int64(maxBytes))))
	larger.data = append(larger.data, b.data...)
	b.release()
	return larger
}
