package conn

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Answer is what became of one started request. An Answer may be moved but not
// duplicated: only one copy of it may be used and released.
type Answer struct {
	Req     kmsg.Request // as it was given to Start, without AtMost
	Version int16        // that Req was sent in
	Err     error        // nil, or an *Error

	conn  *Conn
	frame *frame // nil if Err is not, or if the request has no answer
	body  []byte
}

// Body returns the response after its header. It is valid until Release, and
// empty if there was an error or the request has no response.
func (a *Answer) Body() []byte { return a.body }

// Into decodes the response into resp, which must be of the kind that answers
// Req. Byte slices in resp alias the frame and are valid until Release; strings
// are not. A response that asks this client to hold back (KIP-219) delays what is
// sent next on the connection. Into returns Err if it is set, and an *Error if
// the response does not parse; the connection goes on.
func (a *Answer) Into(resp kmsg.Response) error {
	if a.Err != nil {
		return a.Err
	}
	if a.frame == nil {
		return nil
	}
	resp.SetVersion(a.Version)
	if err := resp.ReadFrom(a.body); err != nil {
		return a.conn.errorOf(a.Req, true, fmt.Errorf("cannot decode response version %d of %d bytes: %w", a.Version, len(a.body), err))
	}
	if pause := throttle(resp); pause > 0 {
		a.conn.queue.holdUntil(time.Now().Add(pause))
	}
	return nil
}

// Release gives the memory of the response back. What Body returned, and what
// Into made to alias it, must not be used afterwards; builds with the race
// detector overwrite it. Releasing twice does nothing. An answer that is never
// released is left to the garbage collector.
func (a *Answer) Release() {
	a.frame.release()
	a.frame, a.body = nil, nil
}
