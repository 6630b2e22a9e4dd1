package conn

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Conn is one connection to one broker. Its methods may be called from many
// goroutines at once.
//
// The read loop has a goroutine for as long as the connection lives; the write
// loop has one only while there is something to write, so that a connection at rest
// costs one. Start encodes a request in its caller's goroutine and puts it into
// queue; the write loop takes it from there, gives it its correlation ID and
// writes it; the read loop pairs each answer with the oldest request that waits
// for one. The write loop also owns the only timer: the oldest waiting request has a
// deadline, and a throttle an end.
type Conn struct {
	addr   string
	cfg    Config
	nc     net.Conn
	format *kmsg.RequestFormatter
	frames *frameReader // of the handshake, then of the read loop

	versions versionTable
	size     atomic.Int32 // of the last request

	slots  chan struct{} // one per request on its way; its capacity is MaxInFlight
	queue  queue
	wake   chan struct{} // room for one; the write loop looks at queue again
	pen    chan struct{} // room for one: whoever has put something in owns timer and writes
	writer func()        // writeAll, made once
	timer  *time.Timer   // nudges; nil until it is needed
	armed  time.Time     // when timer fires; zero if it does not

	life context.Context // ends when the connection does; its cause says why
	end  context.CancelCauseFunc
	wg   sync.WaitGroup
}

// New makes a connection of nc, which is already connected to the broker at
// addr, and asks the broker for its versions (KIP-35, KIP-511). The handshake
// has until ctx ends or Config.DialTimeout has passed; later, ctx means
// nothing to the connection. New owns nc from the call on and closes it if it
// fails. Its errors are of type *Error, and Unsent is true for all of them: no
// request of the caller has left.
func New(ctx context.Context, nc net.Conn, addr string, cfg Config) (*Conn, error) {
	cfg = cfg.withDefaults()
	c := &Conn{
		addr:   addr,
		cfg:    cfg,
		nc:     nc,
		format: kmsg.NewRequestFormatter(kmsg.FormatterClientID(cfg.ClientID)),
		frames: newFrameReader(nc, handshakeBytes),
		slots:  make(chan struct{}, cfg.MaxInFlight),
		wake:   make(chan struct{}, 1),
		pen:    make(chan struct{}, 1),
	}
	c.writer = c.writeAll
	c.queue.patience = cfg.RequestTimeout
	if err := c.handshake(ctx); err != nil {
		nc.Close()
		return nil, &Error{Addr: addr, API: kmsg.NameForKey(apiVersionsKey), Err: err}
	}
	c.frames.limit = cfg.MaxResponseBytes
	c.life, c.end = context.WithCancelCause(context.Background())
	c.wg.Go(c.run)
	return c, nil
}

// run is the life of the connection: the read loop, and then, when nobody
// writes any more, the failure of everything that is still unanswered.
func (c *Conn) run() {
	c.die(c.readLoop())
	c.pen <- struct{}{} // and it stays there
	if c.timer != nil {
		c.timer.Stop()
	}

	cause := context.Cause(c.life)
	for _, call := range c.queue.close() {
		call.frame.release()
		c.answer(call, Answer{Err: c.errorOf(call.req, call.sent, cause)})
	}
	c.cfg.Trace.ended(c.addr, cause)
}

// die ends the connection; the first cause is the one that counts. Closing the
// socket brings both loops back from their I/O.
func (c *Conn) die(cause error) {
	c.end(cause)
	c.nc.Close()
}

// Request issues req and waits for its response, decoded. The response is the
// caller's to keep. The connection sets the version of req. If ctx ends first
// Request returns its cause at once; the answer is dropped when it comes, and
// the connection and its other requests are not touched. Errors are of type
// *Error. The response to a request that has none (a produce request that asks for
// no acknowledgement) is empty. Request implements kmsg.Requestor.
func (c *Conn) Request(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	if context.Cause(ctx) != nil {
		return nil, c.errorOf(req, false, context.Cause(ctx))
	}
	to := make(chan Answer, 1)
	if err := c.Start(ctx, req, to); err != nil {
		return nil, err
	}
	select {
	case a := <-to:
		if a.Err != nil {
			return nil, a.Err
		}
		resp := a.Req.ResponseKind()
		if err := a.Into(resp); err != nil {
			return nil, err
		}
		return resp, nil // the frame is not released: resp aliases it
	case <-ctx.Done():
		return nil, c.errorOf(req, true, context.Cause(ctx))
	}
}

// Start issues req and returns without waiting for its answer, which goes to
// the channel to, exactly once, unless Start returns an error. The channel must have
// room for it at any time: the read loop waits for nobody, and an answer that
// does not fit ends the connection.
//
// Start sets the version of req to the highest that both ends speak (see
// AtMost for a lower one) and encodes it before it returns; nobody else may
// use req until then. It blocks only while Config.MaxInFlight requests are on
// their way, and then until ctx ends. An error of Start is of type *Error, and
// no byte of req has left.
func (c *Conn) Start(ctx context.Context, req kmsg.Request, to chan<- Answer) error {
	req, version, err := c.choose(req)
	if err != nil {
		return c.errorOf(req, false, err)
	}
	if err := c.acquire(ctx); err != nil {
		return c.errorOf(req, false, err)
	}
	req.SetVersion(version)
	frame, err := c.encode(req)
	if err != nil {
		<-c.slots
		return c.errorOf(req, false, err)
	}
	call := call{
		req:      req,
		version:  version,
		to:       to,
		frame:    frame,
		flexible: req.IsFlexible() && req.Key() != apiVersionsKey,
		silent:   !expectsAnswer(req),
		started:  time.Now(),
	}
	call.allowance, call.limited = allowance(req)
	c.cfg.Trace.requestStart(c, &call, len(frame.data))
	if !c.queue.push(call) {
		frame.release()
		<-c.slots
		return c.errorOf(req, false, context.Cause(c.life))
	}
	c.nudge()
	return nil
}

// acquire takes one slot. A context that has ended does not stop what need not wait.
func (c *Conn) acquire(ctx context.Context) error {
	select {
	case c.slots <- struct{}{}:
		return nil
	default:
	}
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%d requests are on their way already: %w", cap(c.slots), context.Cause(ctx))
	case <-c.life.Done():
		return context.Cause(c.life)
	}
}

// encode writes req into a pooled frame, sized by the last request: most connections
// carry many of the same kind.
func (c *Conn) encode(req kmsg.Request) (*frame, error) {
	f := newFrame(int(c.size.Load()))
	f.data = appendFrame(f.data[:0], c.format, req)
	if n := len(f.data) - sizeBytes; n > c.cfg.MaxRequestBytes {
		f.release()
		return nil, fmt.Errorf("request has %d bytes, more than MaxRequestBytes allows (%d)", n, c.cfg.MaxRequestBytes)
	}
	c.size.Store(int32(len(f.data)))
	return f, nil
}

// nudge makes the write loop look at the queue. If nobody has the pen it starts
// one, which wg outlives: run ends only with the pen in its own hands.
func (c *Conn) nudge() {
	select {
	case c.wake <- struct{}{}:
	default: // somebody will look anyway
	}
	select {
	case c.pen <- struct{}{}:
		c.wg.Go(c.writer)
	default: // whoever has it looks at wake after putting it down
	}
}

// answer hands a to the caller of call and frees its slot.
func (c *Conn) answer(call call, a Answer) {
	a.Req, a.Version, a.conn = call.req, call.version, c
	<-c.slots
	select {
	case call.to <- a:
	default:
		a.Release()
		c.die(fmt.Errorf("no room in the channel for the answer to %s", kmsg.NameForKey(call.req.Key())))
	}
}

// Version returns the version that a request of the API with this key is sent
// in on this connection: the highest that both ends speak. It is false if there
// is none.
func (c *Conn) Version(key int16) (version int16, ok bool) {
	version, err := c.versions.choose(key, maxVersion(key))
	return version, err == nil
}

// Addr returns the address that the connection was made with.
func (c *Conn) Addr() string { return c.addr }

// Done is closed when the connection has ended, for whatever reason.
func (c *Conn) Done() <-chan struct{} { return c.life.Done() }

// Err returns nil while the connection lives, and then why it ended, as an
// *Error: it wraps ErrClosed after Close.
func (c *Conn) Err() error {
	if context.Cause(c.life) == nil {
		return nil
	}
	return &Error{Addr: c.addr, Sent: true, Err: context.Cause(c.life)}
}

// Close ends the connection at once, fails what is unanswered with ErrClosed
// and returns when its goroutines are gone. It always returns nil, and may be
// called more than once, but not from within a Trace function.
func (c *Conn) Close() error {
	c.die(ErrClosed)
	c.wg.Wait()
	return nil
}

func (c *Conn) errorOf(req kmsg.Request, sent bool, err error) error {
	return &Error{Addr: c.addr, API: kmsg.NameForKey(req.Key()), Sent: sent, Err: err}
}
