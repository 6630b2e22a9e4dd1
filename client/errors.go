package client

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/musterkafka/muster/conn"
)

// ErrClosed is why a call failed, or ended, whose Client was closed.
var ErrClosed = errors.New("client is closed")

// BootstrapError says that no broker has answered yet: within
// Config.BootstrapTimeout, or before the context of the call ended.
type BootstrapError struct {
	Waited   time.Duration
	Attempts []Attempt // one for each address of Config.Brokers
	Err      error     // the cause of the context's end; nil after BootstrapTimeout
}

// Attempt is what became of the latest try to reach one address.
type Attempt struct {
	Addr string
	Err  error // nil while there is no answer yet
}

// String names the address and the outcome.
func (a Attempt) String() string {
	if a.Err == nil {
		return a.Addr + ": no answer yet"
	}
	if text := a.Err.Error(); strings.Contains(text, a.Addr) {
		return text
	}
	return fmt.Sprintf("%s: %v", a.Addr, a.Err)
}

// Error names every address with its cause.
func (e *BootstrapError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no broker answered within %v", e.Waited.Round(time.Millisecond))
	if e.Err != nil {
		fmt.Fprintf(&b, " (%v)", e.Err)
	}
	for _, a := range e.Attempts {
		b.WriteString("; " + a.String())
	}
	b.WriteString("; check Config.Brokers, and that the brokers run and can be reached from here")
	return b.String()
}

// Unwrap returns the cause of the context's end and those of all addresses.
func (e *BootstrapError) Unwrap() []error {
	var errs []error
	if e.Err != nil {
		errs = append(errs, e.Err)
	}
	for _, a := range e.Attempts {
		if a.Err != nil {
			errs = append(errs, a.Err)
		}
	}
	return errs
}

// UnreachableError says that a broker of the cluster could not be reached at
// the address that the cluster itself gives for it.
type UnreachableError struct {
	Node int32  // the broker's ID
	Addr string // as advertised
	Err  error
}

// Error names the broker, its address, where that comes from, and the cause.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("cannot reach broker %d at %s: %v; the broker advertises this address itself (advertised.listeners): "+
		"check that it is right for clients on this machine", e.Node, e.Addr, e.Err)
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// TopicError is what a broker said about one topic. It unwraps to the error of
// package kerr, so errors.Is(err, kerr.UnknownTopicOrPartition) works.
type TopicError struct {
	Topic   string
	Message string // the broker's own words; "" if it had none
	Err     error
}

// Error names the topic and the cause, in the broker's words if it had any.
func (e *TopicError) Error() string {
	if refusal, ok := errors.AsType[*kerr.Error](e.Err); ok && e.Message != "" {
		return fmt.Sprintf("topic %q: %s: %s", e.Topic, refusal.Message, e.Message)
	}
	return fmt.Sprintf("topic %q: %v", e.Topic, e.Err)
}

// Unwrap returns the cause.
func (e *TopicError) Unwrap() error { return e.Err }

// codeError returns the error of package kerr for a broker's error code, nil
// for 0. A code that is not known there keeps its number.
func codeError(code int16) error {
	err, _ := kerr.ErrorForCode(code).(*kerr.Error) //nolint:errorlint // it is never wrapped
	switch {
	case err == nil:
		return nil
	case code != kerr.UnknownServerError.Code && err == kerr.UnknownServerError:
		return fmt.Errorf("error code %d: %w", code, refusalError{err})
	}
	return refusalError{err}
}

// refusalError is a broker's error whose text can stand in the middle of another.
type refusalError struct{ err *kerr.Error }

// Error returns kerr's text without its full stop.
func (e refusalError) Error() string { return strings.TrimSuffix(e.err.Error(), ".") }

// Unwrap returns the error of package kerr.
func (e refusalError) Unwrap() error { return e.err }

// unsentError is an error of this side, from before any byte of a request left.
type unsentError struct{ err error }

func unsent(err error) error { return &unsentError{err} }

func (e *unsentError) Error() string { return e.err.Error() }

// Unwrap lets conn.Unsent see what kind of error this is.
func (e *unsentError) Unwrap() []error { return []error{e.err, &conn.Error{Err: e.err}} }
