package integration

import (
	"context"
	"encoding/binary"
	"net"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// A Silencer carries the connections of one client, and can keep the answers to
// its offset commits from it, with everything that comes behind them on the same
// connection. Its methods may be called from any goroutine.
type Silencer struct {
	Caught <-chan struct{} // closed when there is a commit that stays without an answer

	mu     sync.Mutex
	armed  bool
	caught chan struct{}
}

// NewSilencer returns a Silencer that lets everything through.
func NewSilencer() *Silencer {
	caught := make(chan struct{})
	return &Silencer{Caught: caught, caught: caught}
}

// Silence keeps back the answer to the next commit, and to no other.
func (s *Silencer) Silence() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = true
}

// Dial is for a Config of our client.
func (s *Silencer) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &silenced{Conn: conn, by: s, gone: make(chan struct{})}, nil
}

// sent is told the key of each request, and says whether its connection falls silent.
func (s *Silencer) sent(key int16) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.armed || key != int16(kmsg.OffsetCommit) {
		return false
	}
	s.armed = false
	close(s.caught)
	return true
}

// silenced is a connection whose requests are watched.
type silenced struct {
	net.Conn
	by   *Silencer
	head []byte // of the request that is being written, up to its key
	rest int    // bytes to come of that request

	mu     sync.Mutex
	silent bool
	once   sync.Once
	gone   chan struct{} // closed by Close
}

// Write implements net.Conn.
func (c *silenced) Write(b []byte) (int, error) {
	c.watch(b)
	return c.Conn.Write(b)
}

// watch finds the keys of requests in what is written: each has four bytes of its
// size before it.
func (c *silenced) watch(b []byte) {
	const size, key = 4, 2
	for len(b) > 0 {
		if c.rest > 0 {
			n := min(c.rest, len(b))
			b, c.rest = b[n:], c.rest-n
			continue
		}
		n := min(size+key-len(c.head), len(b))
		c.head, b = append(c.head, b[:n]...), b[n:]
		if len(c.head) == size+key {
			c.rest = int(binary.BigEndian.Uint32(c.head)) - key
			if c.by.sent(int16(binary.BigEndian.Uint16(c.head[size:]))) {
				c.mu.Lock()
				c.silent = true
				c.mu.Unlock()
			}
			c.head = c.head[:0]
		}
	}
}

// Read implements net.Conn. Once the connection is silent it waits for its end.
func (c *silenced) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	silent := c.silent
	c.mu.Unlock()
	if silent {
		<-c.gone
		return 0, net.ErrClosed
	}
	return n, err
}

// Close implements net.Conn.
func (c *silenced) Close() error {
	c.once.Do(func() { close(c.gone) })
	return c.Conn.Close()
}
