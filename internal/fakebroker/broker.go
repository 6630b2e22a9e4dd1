// Package fakebroker is a scripted Kafka broker for tests. It speaks the wire
// format over net.Pipe, so it works within testing/synctest; it knows nothing of
// what the requests mean: a test says what it answers.
package fakebroker

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A Handler answers one request. It runs in a goroutine of the connection that
// the request came on, one at a time, as in a real broker. Nil means that there
// is never an answer; see also Drop and Raw. The broker sets the version of the
// response, except that of ApiVersions, and writes none to a produce request
// that asks for no acknowledgement.
type Handler func(req kmsg.Request) kmsg.Response

// Broker is one broker, at whatever address it is dialed. Its methods may be
// called from many goroutines at once.
//
// Each connection has a goroutine that reads requests, as far as it can, and
// one that answers them in order. All of them have ended when Close returns.
type Broker struct {
	t  testing.TB
	wg sync.WaitGroup

	mu       sync.Mutex // guards what follows
	handlers map[int16]Handler
	held     map[int16]chan struct{} // closed on release
	offers   map[int16]offer
	seen     map[int16][]kmsg.Request
	peers    map[*peer]struct{}
	refusal  error
	dials    int
	closed   bool
}

type offer struct{ min, max int16 }

// New returns a broker that offers every API that kmsg knows in every version,
// and answers ApiVersions and nothing else. It is closed when the test ends.
func New(t testing.TB) *Broker {
	b := &Broker{
		t:        t,
		handlers: make(map[int16]Handler),
		held:     make(map[int16]chan struct{}),
		offers:   make(map[int16]offer),
		seen:     make(map[int16][]kmsg.Request),
		peers:    make(map[*peer]struct{}),
	}
	for key := range int16(kmsg.MaxKey + 1) {
		if req := kmsg.RequestForKey(key); req != nil {
			b.offers[key] = offer{0, req.MaxVersion()}
		}
	}
	b.On(apiVersionsKey, b.apiVersions)
	t.Cleanup(b.Close)
	return b
}

// On makes h answer the requests of an API from now on.
func (b *Broker) On(key int16, h Handler) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.handlers[key] = h
}

// Offer makes the broker offer an API in these versions on connections made
// from now on. It does not offer the API at all if min is above max.
func (b *Broker) Offer(key, min, max int16) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.offers[key] = offer{min, max}
}

// Hold keeps the answers of an API back, those that a handler gives from now on,
// until release is called. They hold back what comes behind them on their
// connection. Holding an API that is held already is an error of the test.
func (b *Broker) Hold(key int16) (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held[key] != nil {
		b.t.Errorf("fakebroker: %s is held already", kmsg.NameForKey(key))
	}
	gate := make(chan struct{})
	b.held[key] = gate
	return sync.OnceFunc(func() {
		b.mu.Lock()
		delete(b.held, key)
		b.mu.Unlock()
		close(gate)
	})
}

// Seen returns the requests of an API that have arrived so far, in order, those
// that are not answered yet among them.
func (b *Broker) Seen(key int16) []kmsg.Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]kmsg.Request(nil), b.seen[key]...)
}

// Dials returns how often the broker was dialed.
func (b *Broker) Dials() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dials
}

// Refuse makes dialing fail with err, or work again if err is nil.
func (b *Broker) Refuse(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refusal = err
}

// Dial connects to the broker. It fits where a net.Dialer's DialContext does.
func (b *Broker) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if context.Cause(ctx) != nil {
		return nil, context.Cause(ctx)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dials++
	err := b.refusal
	if err == nil && b.closed {
		err = syscall.ECONNREFUSED
	}
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("%s: %w", addr, err)}
	}
	client, server := net.Pipe()
	p := newPeer(b, server)
	b.peers[p] = struct{}{}
	b.wg.Go(p.run)
	return client, nil
}

// DropConnections closes all connections, as a crash does.
func (b *Broker) DropConnections() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for p := range b.peers {
		p.nc.Close()
	}
}

// Close ends all connections, refuses new ones and waits for the goroutines of
// the broker. Handlers that wait for something must be let go before.
func (b *Broker) Close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.DropConnections()
	b.wg.Wait()
}

// A Cluster is brokers by address (host:port).
type Cluster map[string]*Broker

// Dial connects to the broker at addr; there must be one, or the connection is
// refused.
func (c Cluster) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if b := c[addr]; b != nil {
		return b.Dial(ctx, network, addr)
	}
	return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("%s: %w", addr, syscall.ECONNREFUSED)}
}
