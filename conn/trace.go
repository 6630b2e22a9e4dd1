package conn

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Trace is a set of optional functions that are told what happens on a
// connection. They are called in the goroutines of the connection and of its
// callers, from several at once, and hold these up while they run. The
// handshake is not traced.
type Trace struct {
	// RequestStart is called when a request was encoded and is about to be
	// queued. Its CorrelationID is not known yet and 0.
	RequestStart func(TraceInfo)

	// WriteDone is called when a request was written, or when that failed.
	WriteDone func(TraceInfo)

	// ReadDone is called when the answer to a request was read.
	ReadDone func(TraceInfo)

	// Ended is called once, when the connection has ended and everything
	// unanswered has failed.
	Ended func(addr string, cause error)
}

// TraceInfo is what a Trace is told about one request.
type TraceInfo struct {
	Addr          string        // the broker's
	Key, Version  int16         // of the API
	CorrelationID int32         // pairs the answer with its request on this connection
	Bytes         int           // of the frame with its size: to write, written, or read
	Took          time.Duration // the write, or from Start to the answer; 0 for RequestStart
	Err           error         // of the write or the answer; nil if it went well
}

// API returns the name of the request's API, for example "JoinGroup".
func (i TraceInfo) API() string { return kmsg.NameForKey(i.Key) }

func traceInfo(c *Conn, call *call, bytes int) TraceInfo {
	return TraceInfo{Addr: c.addr, Key: call.req.Key(), Version: call.version, CorrelationID: call.id, Bytes: bytes}
}

func (t *Trace) requestStart(c *Conn, call *call, bytes int) {
	if t != nil && t.RequestStart != nil {
		t.RequestStart(traceInfo(c, call, bytes))
	}
}

func (t *Trace) writeDone(c *Conn, call *call, bytes int, took time.Duration, err error) {
	if t != nil && t.WriteDone != nil {
		info := traceInfo(c, call, bytes)
		info.Took, info.Err = took, err
		t.WriteDone(info)
	}
}

func (t *Trace) readDone(c *Conn, call *call, bytes int, now time.Time, err error) {
	if t != nil && t.ReadDone != nil {
		info := traceInfo(c, call, bytes)
		info.Took, info.Err = now.Sub(call.started), err
		t.ReadDone(info)
	}
}

func (t *Trace) ended(addr string, cause error) {
	if t != nil && t.Ended != nil {
		t.Ended(addr, cause)
	}
}
