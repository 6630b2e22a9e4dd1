package conn

import (
	"cmp"
	"context"
	"math"
	"net"
	"time"
)

const (
	defaultClientID       = "muster"
	defaultDialTimeout    = 10 * time.Second
	defaultRequestTimeout = 30 * time.Second
	defaultFrameBytes     = 100 << 20
	defaultMaxInFlight    = 256

	mostFrameBytes = 1 << 30                          // of the two gibibytes that a frame can claim
	mostClientID   = math.MaxInt16                    // what the header of a request can carry
	longestTimeout = math.MaxInt32 * time.Millisecond // as of everything that a request can say
)

// Config says how a connection behaves. The zero value works, and so does a
// negative number, which means the same as zero. A duration above 24 days means 24
// days. It is not written to after it was passed on.
type Config struct {
	// ClientID names the application in the broker's logs, metrics and
	// quotas. Empty means "muster". It has 32767 bytes at most.
	ClientID string

	// DialTimeout limits connecting and the handshake together. Zero means 10 s.
	DialTimeout time.Duration

	// RequestTimeout limits how long the oldest unanswered request may wait
	// for its answer, on top of what the request itself allows the broker
	// to wait, and how long the writing of one request may take. When it
	// passes, the connection ends: the answers behind could not be told
	// apart any more. JoinGroup and SyncGroup are not limited. Zero means 30 s.
	RequestTimeout time.Duration

	// MaxRequestBytes is the largest request that is sent, MaxResponseBytes
	// the largest answer that is accepted, both without the four bytes of the
	// size. Zero means 100 MiB; more than 1 GiB means 1 GiB.
	MaxRequestBytes, MaxResponseBytes int

	// MaxInFlight is how many requests may be queued and unanswered at a
	// time. Start blocks while there are as many. Zero means 256.
	MaxInFlight int

	// Dial opens the TCP connection. Nil means a net.Dialer with keep-alive.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// Trace is told about requests. Nil means nobody is.
	Trace *Trace
}

func (c Config) withDefaults() Config {
	c.ClientID = cmp.Or(c.ClientID, defaultClientID)
	c.DialTimeout = min(positive(c.DialTimeout, defaultDialTimeout), longestTimeout)
	c.RequestTimeout = min(positive(c.RequestTimeout, defaultRequestTimeout), longestTimeout)
	c.MaxRequestBytes = min(positive(c.MaxRequestBytes, defaultFrameBytes), mostFrameBytes)
	c.MaxResponseBytes = min(positive(c.MaxResponseBytes, defaultFrameBytes), mostFrameBytes)
	c.MaxInFlight = positive(c.MaxInFlight, defaultMaxInFlight)
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext // keep-alive is on by default
	}
	return c
}

func positive[T int | time.Duration](value, otherwise T) T {
	if value > 0 {
		return value
	}
	return otherwise
}
