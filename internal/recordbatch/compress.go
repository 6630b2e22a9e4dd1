package recordbatch

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Compressor compresses batches with one codec at its default level. It keeps
// encoders for the next batch, so one of them should serve a whole client. It is
// safe for concurrent use.
type Compressor struct {
	codec Codec
	pool  sync.Pool // of what the codec needs
}

// NewCompressor returns a Compressor for codec, which must be a known one.
func NewCompressor(codec Codec) (*Compressor, error) {
	if codec < None || codec > Zstd {
		return nil, fmt.Errorf("unknown compression (%v)", codec)
	}
	return &Compressor{codec: codec}, nil
}

// Codec returns the codec that c was made for.
func (c *Compressor) Codec() Codec { return c.codec }

// append appends src to dst, compressed; None appends nothing.
func (c *Compressor) append(dst, src []byte) []byte {
	switch c.codec {
	case Gzip:
		return c.appendGzip(dst, src)
	case Snappy:
		return appendXerial(dst, src)
	case LZ4:
		encoder, ok := c.pool.Get().(*lz4.Compressor)
		if !ok {
			encoder = new(lz4.Compressor)
		}
		defer c.pool.Put(encoder)
		return appendLZ4(dst, src, encoder)
	case Zstd:
		return c.appendZstd(dst, src)
	case None:
	}
	return dst
}

// gzipWriter is a gzip encoder with what it writes to.
type gzipWriter struct {
	gzip *gzip.Writer
	dst  bytes.Buffer
}

func (c *Compressor) appendGzip(dst, src []byte) []byte {
	w, ok := c.pool.Get().(*gzipWriter)
	if !ok {
		w = &gzipWriter{gzip: gzip.NewWriter(nil)}
	}
	defer c.pool.Put(w)
	w.dst.Reset()
	w.gzip.Reset(&w.dst)
	// Neither can fail: a bytes.Buffer takes everything.
	_, _ = w.gzip.Write(src)
	_ = w.gzip.Close()
	return append(dst, w.dst.Bytes()...)
}

// zstdWindow is as large as batches usually get, so that an encoder does not hold
// the eight times as much that it would by default.
const zstdWindow = 1 << 20

func (c *Compressor) appendZstd(dst, src []byte) []byte {
	encoder, ok := c.pool.Get().(*zstd.Encoder)
	if !ok {
		var err error
		encoder, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(zstdWindow), zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic("BUG: zstd refuses constant options: " + err.Error())
		}
	}
	defer c.pool.Put(encoder)
	return encoder.EncodeAll(src, dst)
}

// extend makes dst longer by n bytes of any content.
func extend(dst []byte, n int) []byte {
	return slices.Grow(dst, n)[:len(dst)+n]
}
