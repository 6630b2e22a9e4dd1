package recordbatch

import (
	"bytes"
	stdgzip "compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"
)

var sample = func() []byte {
	random := rand.New(rand.NewPCG(3, 4))
	var out []byte
	for range 20_000 {
		out = fmt.Appendf(out, "%08x%s", random.Uint32(), "abcdefg ")
	}
	return out
}()

// text returns n bytes that compress to about half.
func text(n int) []byte { return sample[:n:n] }

var textSizes = []int{0, 1, 15, 16, 100, 32 << 10, 64<<10 + 1, 300_000}

// streamed compresses src with w, in writes of 10,000 bytes.
func streamed(t *testing.T, dst *bytes.Buffer, w io.WriteCloser, src []byte) []byte {
	t.Helper()
	for rest := src; len(rest) > 0; {
		n, err := w.Write(rest[:min(len(rest), 10_000)])
		require.NoError(t, err)
		rest = rest[n:]
	}
	require.NoError(t, w.Close())
	return dst.Bytes()
}

// foreign are encoders of others, as other clients use them.
var foreign = map[string]struct {
	codec  Codec
	encode func(t *testing.T, src []byte) []byte
}{
	"gzip of the standard library": {Gzip, func(t *testing.T, src []byte) []byte {
		var dst bytes.Buffer
		return streamed(t, &dst, stdgzip.NewWriter(&dst), src)
	}},
	"gzip in two members": {Gzip, func(t *testing.T, src []byte) []byte {
		var dst bytes.Buffer
		streamed(t, &dst, stdgzip.NewWriter(&dst), src[:len(src)/3])
		return streamed(t, &dst, stdgzip.NewWriter(&dst), src[len(src)/3:])
	}},
	"snappy in one block": {Snappy, func(_ *testing.T, src []byte) []byte { return s2.EncodeSnappy(nil, src) }},
	"snappy as Java frames it": {Snappy, func(_ *testing.T, src []byte) []byte {
		dst := []byte("\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01")
		for len(src) > 0 {
			n := min(len(src), 32<<10)
			block := s2.EncodeSnappy(nil, src[:n])
			dst = append(binary.BigEndian.AppendUint32(dst, uint32(len(block))), block...)
			src = src[n:]
		}
		return dst
	}},
	"lz4 with the largest blocks":  {LZ4, lz4With(lz4.BlockSizeOption(lz4.Block4Mb))},
	"lz4 with the smallest blocks": {LZ4, lz4With(lz4.BlockSizeOption(lz4.Block64Kb))},
	"lz4 with all checksums":       {LZ4, lz4With(lz4.BlockChecksumOption(true), lz4.ChecksumOption(true))},
	"lz4 at its best":              {LZ4, lz4With(lz4.CompressionLevelOption(lz4.Level2), lz4.BlockSizeOption(lz4.Block256Kb))},
	"lz4 with its size": {LZ4, func(t *testing.T, src []byte) []byte {
		return lz4With(lz4.SizeOption(uint64(len(src))))(t, src)
	}},
	"zstd with its size": {Zstd, func(t *testing.T, src []byte) []byte {
		w, err := zstd.NewWriter(nil)
		require.NoError(t, err)
		return w.EncodeAll(src, nil)
	}},
	"zstd without its size": {Zstd, func(t *testing.T, src []byte) []byte {
		var dst bytes.Buffer
		w, err := zstd.NewWriter(&dst, zstd.WithEncoderConcurrency(1))
		require.NoError(t, err)
		return streamed(t, &dst, w, src)
	}},
	"zstd with a window of 8 MiB": {Zstd, func(t *testing.T, src []byte) []byte {
		var dst bytes.Buffer
		w, err := zstd.NewWriter(&dst, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(8<<20))
		require.NoError(t, err)
		return streamed(t, &dst, w, src)
	}},
	"zstd in frames with padding": {Zstd, func(t *testing.T, src []byte) []byte {
		w, err := zstd.NewWriter(nil, zstd.WithEncoderPadding(4096))
		require.NoError(t, err)
		return w.EncodeAll(src[len(src)/2:], w.EncodeAll(src[:len(src)/2], nil))
	}},
}

func lz4With(options ...lz4.Option) func(*testing.T, []byte) []byte {
	return func(t *testing.T, src []byte) []byte {
		var dst bytes.Buffer
		w := lz4.NewWriter(&dst)
		require.NoError(t, w.Apply(options...))
		return streamed(t, &dst, w, src)
	}
}

func TestWhatOthersCompressIsRead(t *testing.T) {
	var d Decompressor
	for name, test := range foreign {
		t.Run(name, func(t *testing.T) {
			for _, size := range textSizes {
				src := text(size)
				packed := test.encode(t, src)
				if len(packed) == 0 { // zstd writes nothing for nothing
					continue
				}
				out, err := d.decompress(test.codec, packed, size)
				require.NoError(t, err, "%d bytes", size)
				require.True(t, bytes.Equal(src, out.data), "%d bytes", size)
				out.release()

				if size > 0 {
					_, err = d.decompress(test.codec, packed, size-1)
					require.ErrorIs(t, err, ErrTooLarge, "%d bytes", size)
				}
			}
		})
	}
}

func TestOthersReadWhatIsCompressed(t *testing.T) {
	decoders := map[Codec]func(packed []byte) ([]byte, error){
		Gzip: func(packed []byte) ([]byte, error) {
			r, err := stdgzip.NewReader(bytes.NewReader(packed))
			if err != nil {
				return nil, err
			}
			return io.ReadAll(r)
		},
		Snappy: func(packed []byte) ([]byte, error) { // as Java reads it
			header := "\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01"
			if !bytes.HasPrefix(packed, []byte(header)) {
				return nil, fmt.Errorf("no header")
			}
			var out []byte
			for rest := packed[len(header):]; len(rest) > 0; {
				n := binary.BigEndian.Uint32(rest)
				block, err := s2.Decode(nil, rest[4:4+n])
				if err != nil {
					return nil, err
				}
				out, rest = append(out, block...), rest[4+n:]
			}
			return out, nil
		},
		LZ4: func(packed []byte) ([]byte, error) {
			return io.ReadAll(lz4.NewReader(bytes.NewReader(packed)))
		},
		Zstd: func(packed []byte) ([]byte, error) {
			r, err := zstd.NewReader(nil)
			if err != nil {
				return nil, err
			}
			defer r.Close()
			return r.DecodeAll(packed, nil)
		},
	}
	for codec, decode := range decoders {
		c, err := NewCompressor(codec)
		require.NoError(t, err)
		require.Equal(t, codec, c.Codec())
		for _, size := range textSizes {
			src := text(size)
			got, err := decode(c.append(nil, src))
			require.NoError(t, err, "%v, %d bytes", codec, size)
			require.True(t, bytes.Equal(src, got), "%v, %d bytes", codec, size)
		}
		noise := make([]byte, 200_000)
		random := rand.NewChaCha8([32]byte{})
		_, _ = random.Read(noise)
		got, err := decode(c.append(nil, noise))
		require.NoError(t, err, "%v, noise", codec)
		require.True(t, bytes.Equal(noise, got), "%v, noise", codec)
	}
}

// A linked block refers to the blocks before it. Java never writes them, other
// producers may.
func TestLinkedLZ4BlocksAreRead(t *testing.T) {
	first, second := text(64<<10), text(64<<10)
	block := make([]byte, lz4.CompressBlockBound(len(first)))
	n, err := lz4.CompressBlock(first, block, nil)
	require.NoError(t, err)
	frame := []byte{0x04, 0x22, 0x4d, 0x18, 0x40, 0x40, 0} // linked
	frame = append(binary.LittleEndian.AppendUint32(frame, uint32(n)), block[:n]...)
	// One match of 65,536 bytes at the distance of 65,535, then five literals:
	// the whole first block again, but for its first byte.
	again := []byte{0x0f, 0xff, 0xff}
	for left := 64<<10 - 1 - 5 - 19; ; left -= 255 {
		if left < 255 {
			again = append(again, byte(left))
			break
		}
		again = append(again, 255)
	}
	again = append(again, 0x50)
	again = append(again, "abcde"...)
	frame = append(binary.LittleEndian.AppendUint32(frame, uint32(len(again))), again...)
	frame = append(frame, 0, 0, 0, 0)

	var d Decompressor
	out, err := d.decompress(LZ4, frame, 1<<20)
	require.NoError(t, err)
	require.True(t, bytes.Equal(append(append(first, second[1:len(second)-5]...), "abcde"...), out.data))
}

func TestLZ4BlocksLargerThanTheFrameSaysAreRefused(t *testing.T) {
	header := "\x04\x22\x4d\x18\x60\x40\x82" // blocks of 64 KiB
	large := make([]byte, 64<<10+1)
	packed := make([]byte, lz4.CompressBlockBound(len(large)))
	n, err := lz4.CompressBlock(large, packed, nil)
	require.NoError(t, err)
	for name, frame := range map[string][]byte{
		"as they are": append(binary.LittleEndian.AppendUint32([]byte(header), uint32(len(large))|lz4Uncompressed), large...),
		"compressed":  append(binary.LittleEndian.AppendUint32([]byte(header), uint32(n)), packed[:n]...),
	} {
		var d Decompressor
		frame = append(binary.LittleEndian.AppendUint32(frame, 64<<10|lz4Uncompressed), text(64<<10)...)
		_, err := d.decompress(LZ4, append(frame, 0, 0, 0, 0), roomy)
		require.EqualError(t, err, "corrupt lz4 records: an lz4 block is damaged", name)
	}
}

func TestCutOffCompressedBytesAreAnError(t *testing.T) {
	var d Decompressor
	for name, test := range foreign {
		packed := test.encode(t, text(500))
		_, err := d.decompress(test.codec, packed, roomy)
		require.NoError(t, err)
		for k := range packed {
			out, err := d.decompress(test.codec, packed[:k], roomy)
			if err == nil { // behind the last byte that counts: a checksum, padding, a member
				require.True(t, bytes.HasPrefix(text(500), out.data), "%s, %d bytes", name, k)
			}
		}
	}
}

// bombs are a few bytes that decompress to much more than anyone asked for.
func bombs(t *testing.T) map[string]struct {
	codec Codec
	bytes []byte
} {
	t.Helper()
	type bomb = struct {
		codec Codec
		bytes []byte
	}
	var gz bytes.Buffer
	w := stdgzip.NewWriter(&gz)
	zeros := make([]byte, 1<<20)
	for range 4 {
		_, err := w.Write(zeros)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	lyingGzip := bytes.Clone(gz.Bytes())
	binary.LittleEndian.PutUint32(lyingGzip[len(lyingGzip)-4:], 1)

	// A zstd frame of 8191 blocks that each repeat a byte 128 Ki times.
	zst := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x70} // window of 16 MiB, size unknown
	for range 8191 {
		zst = append(zst, 0x02, 0x00, 0x10, 0x00)
	}
	zst = append(zst, 0x03, 0x00, 0x10, 0x00)

	block := make([]byte, lz4.CompressBlockBound(4<<20))
	n, err := lz4.CompressBlock(make([]byte, 4<<20), block, nil)
	require.NoError(t, err)
	lz := []byte{0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x73}
	for range 256 {
		lz = append(binary.LittleEndian.AppendUint32(lz, uint32(n)), block[:n]...)
	}
	lz = append(lz, 0, 0, 0, 0)

	xerial := bytes.Clone(xerialHeader)
	chunk := s2.EncodeSnappy(nil, zeros)
	for range 1 << 10 {
		xerial = append(binary.BigEndian.AppendUint32(xerial, uint32(len(chunk))), chunk...)
	}
	return map[string]bomb{
		"gzip":                     {Gzip, gz.Bytes()},
		"gzip with a wrong size":   {Gzip, lyingGzip},
		"zstd":                     {Zstd, zst},
		"lz4":                      {LZ4, lz},
		"snappy":                   {Snappy, binary.AppendUvarint(nil, 1<<30)},
		"snappy in Java's framing": {Snappy, xerial},
	}
}

func TestBombsAreRefusedWithinTheLimit(t *testing.T) {
	const limit = 1 << 20
	for name, bomb := range bombs(t) {
		t.Run(name, func(t *testing.T) {
			batch := threeBatch()
			batch.Attributes = int16(bomb.codec)
			batch.Records = bomb.bytes
			b := only(t, twinBatch(batch))

			var d Decompressor
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := b.Open(&d, limit)
			runtime.ReadMemStats(&after)
			require.ErrorIs(t, err, ErrTooLarge)
			require.ErrorContains(t, err, "the limit of 1048576 bytes")
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*limit), "bytes allocated in all")
		})
	}
}

func TestNothingFitsALimitOfZero(t *testing.T) {
	for codec := Gzip; codec <= Zstd; codec++ {
		b := compressed(t, codec)
		for _, limit := range []int{0, -1} {
			_, err := b.Open(new(Decompressor), limit)
			require.ErrorIs(t, err, ErrTooLarge, "%v", codec)
		}
	}
}

func TestUnknownCodecs(t *testing.T) {
	batch := threeBatch()
	batch.Attributes = 5
	b := only(t, twinBatch(batch))
	_, err := b.Open(nil, roomy)
	require.EqualError(t, err, "record batch at offset 100: unknown compression (codec 5)")

	_, err = NewCompressor(5)
	require.Error(t, err)
	_, err = NewCompressor(-1)
	require.Error(t, err)
}

func TestCodecsHaveKafkasNames(t *testing.T) {
	require.Equal(t, "none gzip snappy lz4 zstd", fmt.Sprint(None, " ", Gzip, " ", Snappy, " ", LZ4, " ", Zstd))
}

func TestOneDecompressorAndCompressorServeManyGoroutines(t *testing.T) {
	var d Decompressor
	var wg sync.WaitGroup
	for codec := Gzip; codec <= Zstd; codec++ {
		c, err := NewCompressor(codec)
		require.NoError(t, err)
		for i := range 4 {
			wg.Go(func() {
				src := text(5_000 * (i + 1))
				for range 5 {
					out, err := d.decompress(codec, c.append(nil, src), roomy)
					if err != nil || !bytes.Equal(src, out.data) {
						t.Errorf("%v: %v", codec, err)
						return
					}
					out.release()
				}
			})
		}
	}
	wg.Wait()
}

func TestBuffersOfAnySize(t *testing.T) {
	var d Decompressor
	for _, n := range []int{0, 1, 1 << minBufferBits, 1<<minBufferBits + 1, 1 << maxBufferBits, 1<<maxBufferBits + 1} {
		b := d.buffer(n)
		require.Empty(t, b.data)
		require.GreaterOrEqual(t, cap(b.data), n)
		require.Equal(t, n <= 1<<maxBufferBits, b.pool != nil, "%d bytes", n)
		b.release()
		require.GreaterOrEqual(t, cap(d.buffer(n).data), n)
	}
}
