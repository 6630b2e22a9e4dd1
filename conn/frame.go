package conn

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"sync"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	sizeBytes        = 4             // in front of every frame
	correlationBytes = 4             // in front of every response
	correlationAt    = sizeBytes + 4 // in a request: after its key and version
	readBuffer       = 512           // most answers fit; of the others, most is read without it
)

// A frame is one message in memory that is lent by a pool. The zero frame is
// not usable; a nil one may be released.
type frame struct {
	data []byte
}

// Frames are pooled by size: four classes to each power of two, so that less
// than a quarter of a frame is wasted. What is larger than the largest class is
// not pooled.
const (
	smallestClass = 6  // 64 bytes: most answers in a quiet group are as small
	largestClass  = 27 // 128 MiB
	classes       = (largestClass-smallestClass)*4 + 1
)

var frames [classes]sync.Pool

// newFrame returns a frame whose data has n bytes of any content.
func newFrame(n int) *frame {
	class := classFor(n)
	if class >= classes {
		return &frame{data: make([]byte, n)}
	}
	if f, ok := frames[class].Get().(*frame); ok {
		f.data = f.data[:n]
		return f
	}
	return &frame{data: make([]byte, n, classSize(class))}
}

// release gives f back. Its data may have grown since newFrame, so it goes
// to the largest class that it can serve.
func (f *frame) release() {
	if f == nil {
		return
	}
	f.data = f.data[:cap(f.data)]
	overwrite(f.data)
	class := classFor(cap(f.data))
	if class >= classes || classSize(class) > cap(f.data) {
		class--
	}
	if class >= 0 && class < classes {
		frames[class].Put(f)
	}
}

// classFor returns the smallest class whose frames hold n bytes; it may be one
// that does not exist.
func classFor(n int) int {
	if n <= 1<<smallestClass {
		return 0
	}
	octave := bits.Len(uint(n-1)) - 1 // 2^octave < n <= 2^(octave+1)
	quarter := (n - 1 - 1<<octave) >> (octave - 2)
	return (octave-smallestClass)*4 + quarter + 1
}

// classSize is the number of bytes of a frame of the class.
func classSize(class int) int {
	octave := smallestClass + class/4
	return (4 + class%4) << (octave - 2)
}

// appendFrame appends req at its current version, as it goes over the wire, with
// correlation ID 0.
func appendFrame(dst []byte, format *kmsg.RequestFormatter, req kmsg.Request) []byte {
	return format.AppendRequest(dst, req, 0)
}

// setCorrelation overwrites the correlation ID of an encoded request.
func setCorrelation(request []byte, id int32) {
	binary.BigEndian.PutUint32(request[correlationAt:], uint32(id))
}

// A frameReader cuts a stream of bytes into frames. Small ones share one read;
// most of a large one is read from the connection straight into its frame.
type frameReader struct {
	r     *bufio.Reader
	limit int // largest frame accepted
}

func newFrameReader(r io.Reader, limit int) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(r, readBuffer), limit: limit}
}

// next returns the next frame without its size. It returns io.EOF only if the
// stream ends between two frames.
func (f *frameReader) next() (*frame, error) {
	head, err := f.r.Peek(sizeBytes)
	if err != nil {
		if len(head) > 0 && errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("stream ends within the size of an answer: %w", io.ErrUnexpectedEOF)
		}
		return nil, err
	}
	size := int(int32(binary.BigEndian.Uint32(head)))
	switch {
	case size < correlationBytes:
		return nil, fmt.Errorf("answer claims a size of %d bytes, less than its header has", size)
	case size > f.limit:
		return nil, fmt.Errorf("answer claims a size of %d bytes, more than allowed (%d)", size, f.limit)
	}
	f.r.Discard(sizeBytes) // cannot fail after Peek
	frame := newFrame(size)
	if n, err := io.ReadFull(f.r, frame.data); err != nil {
		frame.release()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("stream ends after %d of the %d bytes of an answer: %w", n, size, err)
	}
	return frame, nil
}

// splitHeader returns the correlation ID of a response and what follows its
// header. The header of a flexible response ends in tagged fields, which are
// skipped (KIP-482).
func splitHeader(response []byte, flexible bool) (id int32, body []byte, err error) {
	if len(response) < correlationBytes {
		return 0, nil, fmt.Errorf("answer of %d bytes ends within its header", len(response))
	}
	id = int32(binary.BigEndian.Uint32(response))
	body = response[correlationBytes:]
	if !flexible {
		return id, body, nil
	}
	if len(body) > 0 && body[0] == 0 { // no tagged fields, as always so far
		return id, body[1:], nil
	}
	r := &kbin.Reader{Src: body}
	kmsg.SkipTags(r)
	if !r.Ok() {
		return id, nil, fmt.Errorf("answer of %d bytes ends within the tagged fields of its header", len(response))
	}
	return id, r.Src, nil
}
