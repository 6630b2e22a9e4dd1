package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strconv"
	"time"

	"github.com/musterkafka/muster/groupmember"
)

// Entry is one step of a member.
type Entry struct {
	Line    int // of the history, from 1, the header's
	At      time.Time
	Event   groupmember.Event
	Actions []groupmember.Action
}

// Reader reads a history. It is not safe for concurrent use.
type Reader struct {
	codec   codec
	in      *bufio.Reader
	longest int // line that is read
	header  Header
	lines   int // read so far
	torn    bool
}

// ErrEmpty says that there is not even a header.
var ErrEmpty = errors.New("the history is empty")

// NewReader reads the header of the history in in. Its error is ErrEmpty, that of
// in, or says in which way this is no history that can be read.
func NewReader(in io.Reader) (*Reader, error) { return newReader(in, longest) }

func newReader(in io.Reader, longest int) (*Reader, error) {
	r := &Reader{in: bufio.NewReader(in), longest: longest}
	line, whole, err := r.line()
	if errors.Is(err, io.EOF) {
		return nil, ErrEmpty
	}
	if err == nil {
		err = r.readHeader(line)
	}
	if err == nil {
		return r, nil
	}
	if !whole && errors.Is(err, errEnds) {
		err = fmt.Errorf("the header is cut off: %w", err)
	}
	return nil, fmt.Errorf("line 1: %w", err)
}

// Header returns the first line.
func (r *Reader) Header() Header { return r.header }

// Torn reports whether the history ends in the middle of a line, as that of a
// process that was killed may. That line has been left out.
func (r *Reader) Torn() bool { return r.torn }

// Entries yields what follows the header. An error, which names the line, is the
// last thing yielded. What has been read is not yielded again.
func (r *Reader) Entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for {
			line, whole, err := r.line()
			if errors.Is(err, io.EOF) {
				return
			}
			e := Entry{Line: r.lines}
			if err == nil {
				err = r.readEntry(line, &e)
			}
			if !whole && errors.Is(err, errEnds) {
				r.torn = true
				return
			}
			if err != nil {
				yield(Entry{}, fmt.Errorf("line %d: %w", r.lines, err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// line returns the next line, and whether it is whole, which the last one is not
// if nothing ends it.
func (r *Reader) line() (line []byte, whole bool, err error) {
	for {
		part, err := r.in.ReadSlice('\n')
		if len(line)+len(part) > r.longest {
			return nil, true, fmt.Errorf("the line has more than %d bytes", r.longest)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			r.lines++
			return line, true, nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			r.lines++
			return line, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, true, err
		}
	}
}

func (r *Reader) readHeader(line []byte) error {
	d := r.codec.decoder(line)
	first := true
	err := d.object(func(name string) error {
		if first != (name == "history") {
			return errNotOne
		}
		first = false
		switch name {
		case "history":
			return d.readFormat()
		case "muster":
			return d.read(reflect.ValueOf(&r.header.Muster).Elem())
		case "started":
			return d.readTime(&r.header.Started)
		case "config":
			return d.read(reflect.ValueOf(&r.header.Config).Elem())
		}
		return errField
	})
	switch {
	case first:
		return errNotOne
	case err != nil:
		return err
	case r.header.Started.IsZero():
		return errNoTime
	}
	return d.end()
}

var (
	errNotOne = errors.New("this is not the history of a group member")
	errField  = errors.New("there is no such field")
	errNoTime = errors.New("there is no time")
)

func (d *decoder) readFormat() error {
	n, err := d.number()
	if err == nil && n != strconv.Itoa(format) {
		return fmt.Errorf("the history has format %s: this version of muster reads format %d", n, format)
	}
	return err
}

func (d *decoder) readTime(at *time.Time) error {
	text, err := d.text()
	if err != nil {
		return err
	}
	*at, err = time.Parse(time.RFC3339Nano, text)
	return err
}

func (r *Reader) readEntry(line []byte, e *Entry) error {
	d := r.codec.decoder(line)
	timed := false
	err := d.object(func(name string) error {
		switch name {
		case "at":
			var since int64
			err := d.read(reflect.ValueOf(&since).Elem())
			timed = true
			e.At = r.header.Started.Add(time.Duration(since))
			return err
		case "event":
			return d.read(reflect.ValueOf(&e.Event).Elem())
		case "actions":
			return d.read(reflect.ValueOf(&e.Actions).Elem())
		case "history":
			return errors.New("another history begins here: a file holds that of one member")
		}
		return errField
	})
	switch {
	case err != nil:
		return err
	case !timed:
		return errNoTime
	case e.Event == nil:
		return errors.New("there is no event")
	}
	return d.end()
}
