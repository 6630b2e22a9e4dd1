package history

import (
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/musterkafka/muster/groupmember"
)

const (
	// format is that of the histories written and read.
	format = 1

	// longest is how long a line may be: as much as a broker can send, in base64,
	// twice, since a leader is told of all members and then asks for their plan.
	longest = 256 << 20
)

// Header is the first line of a history.
type Header struct {
	Muster  string    // the version that wrote it; "unknown" if it was built without one
	Started time.Time // in UTC, when the member was made
	Config  groupmember.Config
}

// Recorder writes a history down. It is a driver.Recorder for one member, and not
// safe for concurrent use.
type Recorder struct {
	codec   codec
	out     io.Writer
	failed  func(error)
	started time.Time
	line    []byte
	err     error
}

// NewRecorder returns a Recorder that writes to out, each line in one Write, from
// within the member's step: an out that blocks holds the member up. At the first error the
// recording ends, failed is told once, and the member goes on. A nil failed is told
// nothing.
func NewRecorder(out io.Writer, failed func(error)) *Recorder {
	return &Recorder{out: out, failed: failed}
}

// Begin writes the header.
func (r *Recorder) Begin(now time.Time, cfg groupmember.Config) {
	r.started = now
	b := strconv.AppendInt(append(r.line[:0], `{"history":`...), format, 10)
	b = appendText(append(b, `,"muster":`...), Version())
	b = appendText(append(b, `,"started":`...), now.UTC().Format(time.RFC3339Nano))
	b, err := r.codec.append(append(b, `,"config":`...), reflect.ValueOf(cfg))
	r.write(append(b, '}'), err)
}

// Step writes down one step, which was at now.
func (r *Recorder) Step(now time.Time, ev groupmember.Event, actions []groupmember.Action) {
	if r.err != nil {
		return
	}
	b := strconv.AppendInt(append(r.line[:0], `{"at":`...), int64(now.Sub(r.started)), 10)
	b, err := r.codec.append(append(b, `,"event":`...), reflect.ValueOf(&ev).Elem())
	if len(actions) > 0 && err == nil {
		b, err = r.codec.append(append(b, `,"actions":`...), reflect.ValueOf(actions))
	}
	r.write(append(b, '}'), err)
}

// Err returns why the recording has ended, or nil.
func (r *Recorder) Err() error { return r.err }

// write ends a line and writes it, unless making it has failed.
func (r *Recorder) write(line []byte, err error) {
	r.line = append(line, '\n')
	if err == nil && len(r.line) > longest {
		err = fmt.Errorf("a line has %d bytes, and %d are the most that can be read", len(r.line), longest)
	}
	if err == nil {
		var n int
		if n, err = r.out.Write(r.line); err == nil && n < len(r.line) {
			err = io.ErrShortWrite
		}
	}
	if cap(r.line) > usual {
		r.line = nil
	}
	if err == nil {
		return
	}
	r.err = fmt.Errorf("the history of the group member ends here: %w", err)
	if r.failed != nil {
		r.failed(r.err)
	}
}

// usual is the size of a line whose memory is used again.
const usual = 64 << 10

// Version returns the version of muster in this program; "unknown" if it was built
// without one.
func Version() string {
	const unknown = "unknown"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknown
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == "github.com/musterkafka/muster" && m.Version != "" {
			return m.Version
		}
	}
	return unknown
}
