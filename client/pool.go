package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/musterkafka/muster/conn"
)

// class is what a connection is for. A broker serves one request of a
// connection at a time, so what it may hold must not share one with what may
// not wait.
type class uint8

const (
	classControl class = iota // metadata, look-ups, commits, leaving: nothing that is held
	classGroup                // JoinGroup, SyncGroup, Heartbeat of one member
	classFetch                // Fetch of one consumer
	classProduce              // Produce
)

func (c class) String() string {
	return [...]string{"control", "group", "fetch", "produce"}[c]
}

// connKey names a connection. Node is a broker's ID, or that of a seed
// (seedNode). Owner sets apart the members and consumers of one Client; it is
// nil for classControl and classProduce, which they share.
type connKey struct {
	node  int32
	class class
	owner any
}

// pool keeps one connection per key. A connection is made by a goroutine of its
// own, one at a time per key, so that a caller who gives up takes nothing from
// the others; the goroutine ends with the attempt.
type pool struct {
	address func(node int32) (string, error) // where node is now
	dial    func(ctx context.Context, addr string, trace *conn.Trace) (*conn.Conn, error)
	trace   *conn.Trace // the user's; nil for none
	report  reporter
	life    context.Context
	wg      sync.WaitGroup

	mu     sync.Mutex
	closed bool
	slots  map[connKey]*slot
	down   map[int32]error // why nodes could not be reached last time
}

// reporter is told of what the pool sees. Its methods are called without the
// pool's mutex.
type reporter interface {
	dialed(key connKey, err error, news bool) // news: it was the other way round before
	ended(key connKey, cause error)
}

// slot is the place of one connection. The pool's mutex guards its fields.
type slot struct {
	key     connKey
	life    context.Context // ends when the slot is given up
	end     context.CancelCauseFunc
	attempt *attempt   // under way, or the one that made conn; nil if neither
	conn    *conn.Conn // nil if there is none
	opened  time.Time  // when conn was
	rest    time.Time  // no attempt before this
	failed  int        // failures in a row
}

// attempt is one attempt to connect. Its results are written before done is closed.
type attempt struct {
	done chan struct{}
	conn *conn.Conn
	err  error
}

func newPool(cl *Client) *pool {
	return &pool{
		address: cl.address,
		dial:    cl.dial,
		trace:   cl.cfg.Trace.Conn,
		report:  cl,
		life:    cl.life,
		slots:   make(map[connKey]*slot),
		down:    make(map[int32]error),
	}
}

// get returns the live connection of key. If there is none it waits for one to
// be made, until ctx ends. Its errors are certain to have come before any
// request left.
func (p *pool) get(ctx context.Context, key connKey) (*conn.Conn, error) {
	addr, err := p.address(key.node)
	if err != nil {
		return nil, err
	}
	a, moved, err := p.reserve(key, addr)
	if moved != nil {
		moved.Close()
	}
	if err != nil {
		return nil, unsent(err)
	}
	select {
	case <-a.done:
		return a.conn, a.err
	case <-ctx.Done():
		return nil, unsent(fmt.Errorf("broker %s: %w", addr, p.waited(key.node, context.Cause(ctx))))
	}
}

// reserve returns the attempt that yields the connection of key, starting one
// if necessary; and a connection to close, if the broker is now at another
// address.
func (p *pool) reserve(key connKey, addr string) (a *attempt, moved *conn.Conn, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, ErrClosed
	}
	s := p.slots[key]
	if s == nil {
		s = &slot{key: key}
		s.life, s.end = context.WithCancelCause(p.life)
		p.slots[key] = s
	}
	s.settle(time.Now())
	if s.conn != nil && s.conn.Addr() != addr {
		moved, s.conn, s.attempt = s.conn, nil, nil
	}
	if s.attempt == nil {
		s.attempt = &attempt{done: make(chan struct{})}
		rest := s.rest
		p.wg.Go(func() { p.connect(s, rest) })
	}
	return s.attempt, moved, nil
}

// settle takes note of the end of the connection. One that ended soon after it
// was opened counts as a failure, or a broker that hangs up on everybody would
// be dialed without a pause.
func (s *slot) settle(now time.Time) {
	if s.conn == nil || s.conn.Err() == nil {
		return
	}
	if now.Sub(s.opened) < reconnectBackoff.most {
		s.failed++
		s.rest = now.Add(reconnectBackoff.after(s.failed))
	} else {
		s.failed = 0
	}
	s.conn, s.attempt = nil, nil
}

// connect makes the connection of s, not before the time rest.
func (p *pool) connect(s *slot, rest time.Time) {
	c, err := p.open(s, rest)
	a, news := p.settleAttempt(s, c, err)
	if c != nil && a.conn == nil {
		c.Close()
	}
	if context.Cause(s.life) == nil {
		p.report.dialed(s.key, err, news)
	}
	close(a.done)
}

// settleAttempt takes note of the outcome of an attempt, which has failed if
// the slot was given up meanwhile.
func (p *pool) settleAttempt(s *slot, c *conn.Conn, err error) (a *attempt, news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a = s.attempt
	if context.Cause(s.life) != nil {
		a.err = unsent(context.Cause(s.life))
		return a, false
	}
	before := p.down[s.key.node]
	if err == nil {
		a.conn = c
		s.conn, s.opened, s.rest = c, time.Now(), time.Time{}
		delete(p.down, s.key.node)
		return a, before != nil
	}
	a.err, s.attempt = err, nil
	p.down[s.key.node] = err
	s.failed++
	s.rest = time.Now().Add(reconnectBackoff.after(s.failed))
	return a, before == nil
}

func (p *pool) open(s *slot, rest time.Time) (*conn.Conn, error) {
	if wait := time.Until(rest); wait > 0 {
		if err := sleep(s.life, wait); err != nil {
			return nil, unsent(err)
		}
	}
	addr, err := p.address(s.key.node)
	if err != nil {
		return nil, err
	}
	c, err := p.dial(s.life, addr, p.traceOf(s))
	if err != nil && s.key.node >= 0 {
		err = &UnreachableError{Node: s.key.node, Addr: addr, Err: err}
	}
	return c, err
}

// traceOf is the user's trace with the pool's own interest in the end.
func (p *pool) traceOf(s *slot) *conn.Trace {
	var trace conn.Trace
	if p.trace != nil {
		trace = *p.trace
	}
	users := trace.Ended
	trace.Ended = func(addr string, cause error) {
		p.mu.Lock()
		s.settle(time.Now())
		p.mu.Unlock()
		if context.Cause(s.life) == nil {
			p.report.ended(s.key, cause)
		}
		if users != nil {
			users(addr, cause)
		}
	}
	return &trace
}

// waited says what a caller waited for in vain.
func (p *pool) waited(node int32, cause error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := p.down[node]; last != nil {
		return fmt.Errorf("no connection yet: %w; the last attempt failed: %w", cause, last)
	}
	return fmt.Errorf("no connection yet: %w", cause)
}

// unreachable reports whether the last attempt to reach node failed.
func (p *pool) unreachable(node int32) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.down[node] != nil
}

// prune forgets what it knows of brokers that are not there any more, except
// for connections that still live.
func (p *pool) prune(there func(node int32) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, s := range p.slots {
		s.settle(time.Now())
		if s.conn == nil && s.attempt == nil && !there(key.node) {
			s.end(errNotThere)
			delete(p.slots, key)
		}
	}
	for node := range p.down {
		if !there(node) {
			delete(p.down, node)
		}
	}
}

var errNotThere = errors.New("the broker is not part of the cluster any more")

// drop closes the connections of the keys that match, and ends the attempts for them.
func (p *pool) drop(match func(connKey) bool, why error) {
	var conns []*conn.Conn
	p.mu.Lock()
	for key, s := range p.slots {
		if match(key) {
			s.end(why)
			delete(p.slots, key)
			if s.conn != nil {
				conns = append(conns, s.conn)
			}
		}
	}
	p.mu.Unlock()
	for _, c := range conns {
		c.Close()
	}
}

// close ends everything and waits for it.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.drop(func(connKey) bool { return true }, ErrClosed)
	p.wg.Wait()
}
