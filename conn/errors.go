package conn

import (
	"errors"
	"fmt"
)

// ErrClosed is why a connection ended that its owner closed.
var ErrClosed = errors.New("connection closed by this client")

// Error is a failure of the network or of the conversation with one broker. An
// error code inside a response is not an Error: it is the broker's word.
type Error struct {
	Addr string // the broker's, as it was dialed
	API  string // of the request that failed, for example "JoinGroup"; "" if it was none
	Sent bool   // whether a byte of the request may have left
	Err  error  // why
}

// Error names the broker, the request and the cause.
func (e *Error) Error() string {
	if e.API == "" {
		return fmt.Sprintf("broker %s: %v", e.Addr, e.Err)
	}
	return fmt.Sprintf("broker %s: %s: %v", e.Addr, e.API, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Unsent reports whether err says that no byte of a request has left this
// process, so that sending it again cannot do anything twice. It is false for
// nil and for every error that is not about a connection.
func Unsent(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && !e.Sent
}
