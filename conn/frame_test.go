package conn

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

func TestARequestFrameHasTheWireForm(t *testing.T) {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Version = 4
	req.Group, req.MemberID, req.Generation = "g", "m", 258
	frame := appendFrame([]byte(nil), kmsg.NewRequestFormatter(kmsg.FormatterClientID("me")), req)
	setCorrelation(frame, 0x01020304)
	require.Equal(t, []byte{
		0, 0, 0, 23, // size
		0, 12, 0, 4, 1, 2, 3, 4, 0, 2, 'm', 'e', 0, // header: key, version, correlation ID, client ID, no tags
		2, 'g', 0, 0, 1, 2, 2, 'm', 0, 0, // body
	}, frame)
}

func TestFramesAreReadHoweverTheStreamIsCut(t *testing.T) {
	for name, cut := range map[string]func(io.Reader) io.Reader{
		"whole":             func(r io.Reader) io.Reader { return r },
		"byte by byte":      iotest.OneByteReader,
		"in halves":         iotest.HalfReader,
		"EOF with the data": iotest.DataErrReader,
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				sizes := rapid.SliceOf(rapid.OneOf(rapid.IntRange(4, 64), rapid.IntRange(4000, 6000))).Draw(t, "sizes")
				var stream []byte
				for i, size := range sizes {
					stream = append(stream, 0, 0, byte(size>>8), byte(size))
					stream = append(stream, bytes.Repeat([]byte{byte(i)}, size)...)
				}
				r := newFrameReader(cut(bytes.NewReader(stream)), 6000)
				for i, size := range sizes {
					f, err := r.next()
					require.NoError(t, err)
					require.Equal(t, bytes.Repeat([]byte{byte(i)}, size), f.data)
					f.release()
				}
				_, err := r.next()
				require.ErrorIs(t, err, io.EOF)
			})
		})
	}
}

func TestAStreamThatEndsWithinAFrameIsNotAPlainEOF(t *testing.T) {
	for n := 1; n < 10; n++ {
		_, err := newFrameReader(bytes.NewReader(rawFrame(1, 2, 3)[:n]), 100).next()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, "%d bytes", n)
		require.False(t, errors.Is(err, io.EOF), "%d bytes", n)
	}
}

func TestLargeFramesAreReadStraightIntoTheirMemory(t *testing.T) {
	const size = 1 << 20
	source := &countingReader{r: bytes.NewReader(append([]byte{0, size >> 16, 0, 0}, make([]byte, size)...))}
	f, err := newFrameReader(source, size).next()
	require.NoError(t, err)
	require.Len(t, f.data, size)
	require.LessOrEqual(t, source.reads, 2, "one for the size and the beginning, one for the rest")
}

type countingReader struct {
	r     io.Reader
	reads int
}

func (c *countingReader) Read(p []byte) (int, error) {
	c.reads++
	return c.r.Read(p)
}

func TestFramesAreLargeEnoughAndWasteLessThanAQuarter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(513, 1<<largestClass).Draw(t, "n")
		size := classSize(classFor(n))
		require.GreaterOrEqual(t, size, n)
		require.Less(t, float64(size-n), 0.25*float64(n))
	})
	require.Equal(t, 64, classSize(classFor(0)))
	require.Equal(t, 64, classSize(classFor(64)))
	require.Equal(t, 1<<largestClass, classSize(classes-1))
	require.Equal(t, classes, classFor(1<<largestClass+1))
}

func TestGrownFramesGoBackWhereTheyAreLargeEnough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.IntRange(1, 1<<16).Draw(t, "capacity")
		f := &frame{data: make([]byte, capacity)}
		f.release()
		n := rapid.IntRange(0, 1<<16).Draw(t, "n")
		require.Len(t, newFrame(n).data, n)
	})
}

func TestSplitHeaderSkipsTaggedFieldsExactly(t *testing.T) {
	long := append([]byte{1, 7, 0xac, 2}, make([]byte, 300)...) // one tag of 300 bytes
	for _, test := range []struct {
		name     string
		response []byte
		flexible bool
		body     string
		err      string
	}{
		{"plain", []byte{0, 0, 0, 9, 'b'}, false, "b", ""},
		{"no tags", []byte{0, 0, 0, 9, 0, 'b'}, true, "b", ""},
		{"an empty tag", []byte{0, 0, 0, 9, 1, 7, 0, 'b'}, true, "b", ""},
		{"two tags", []byte{0, 0, 0, 9, 2, 7, 1, 'x', 8, 0, 'b'}, true, "b", ""},
		{"a long tag", append(append([]byte{0, 0, 0, 9}, long...), 'b'), true, "b", ""},
		{"no body", []byte{0, 0, 0, 9}, false, "", ""},
		{"no room for an ID", []byte{0, 0, 9}, false, "", "answer of 3 bytes ends within its header"},
		{"no room for tags", []byte{0, 0, 0, 9}, true, "", "answer of 4 bytes ends within the tagged fields of its header"},
		{"tag cut off", []byte{0, 0, 0, 9, 1, 7, 5, 'b'}, true, "", "answer of 8 bytes ends within the tagged"},
		{"more tags than bytes", []byte{0, 0, 0, 9, 0xff, 0xff, 0xff, 0xff, 15, 7}, true, "", "ends within the tagged fields"},
	} {
		t.Run(test.name, func(t *testing.T) {
			id, body, err := splitHeader(test.response, test.flexible)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, int32(9), id)
			require.Equal(t, test.body, string(body))
		})
	}
}
