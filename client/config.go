package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/musterkafka/muster/conn"
)

const (
	defaultPort             = "9092"
	defaultDialTimeout      = 10 * time.Second
	defaultRequestTimeout   = 30 * time.Second
	defaultBootstrapTimeout = 30 * time.Second
	defaultMetadataMaxAge   = 5 * time.Minute

	longest = math.MaxInt32 * time.Millisecond // what brokers take; sums of it do not overflow
)

// Config says which cluster a Client talks to, and how. Only Brokers must be
// set. It is not written to after New. Durations may not be negative, nor above 24 days.
type Config struct {
	// Brokers are the addresses to start from, each "host:port" or "host" for
	// port 9092; an IPv6 address with a port is written "[::1]:9092". One that
	// answers is enough: it names all the others. They are asked in turn and
	// again later if none of the cluster's brokers can be reached any more
	// (KIP-899).
	Brokers []string

	// ClientID names the application in the brokers' logs, metrics and quotas.
	// Empty means "muster".
	ClientID string

	// DialTimeout limits the making of one connection, handshake included, over
	// all the addresses of the host's name (KIP-602). Zero means 10 s.
	DialTimeout time.Duration

	// RequestTimeout limits how long a broker may take to answer, on top of
	// what the request itself lets it wait. Zero means 30 s.
	RequestTimeout time.Duration

	// BootstrapTimeout limits how long a call waits for the first answer of any
	// broker before it fails with a *BootstrapError. Zero means 30 s.
	BootstrapTimeout time.Duration

	// MetadataMaxAge is how old the knowledge of brokers and topics may get
	// before it is asked for again without a reason. Zero means 5 min.
	MetadataMaxAge time.Duration

	// Logger is told what a person should know. Nil means slog.Default() with
	// everything below Warn dropped.
	Logger *slog.Logger

	// Trace is told what happens, for metrics and spans. Nil means nobody is.
	Trace *Trace

	// Dial opens the TCP connections. Nil means a net.Dialer with keep-alive.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Trace is a set of optional functions. They are called from the Client's
// goroutines and must not block.
type Trace struct {
	Conn *conn.Trace // of every connection
}

// validate returns the addresses of Brokers with their ports, or every problem
// of the configuration.
func (c *Config) validate() (seeds []string, err error) {
	var problems []error
	if len(c.Brokers) == 0 {
		problems = append(problems, errors.New("Brokers is empty: name at least one broker as host:port"))
	}
	for _, broker := range c.Brokers {
		seed, err := address(broker)
		if err != nil {
			problems = append(problems, fmt.Errorf("Brokers: %q: %w", broker, err))
		}
		seeds = append(seeds, seed)
	}
	for _, timeout := range []struct {
		name  string
		value time.Duration
	}{
		{"DialTimeout", c.DialTimeout},
		{"RequestTimeout", c.RequestTimeout},
		{"BootstrapTimeout", c.BootstrapTimeout},
		{"MetadataMaxAge", c.MetadataMaxAge},
	} {
		switch {
		case timeout.value < 0:
			problems = append(problems, fmt.Errorf("%s is %v: it must not be negative; zero means the default", timeout.name, timeout.value))
		case timeout.value > longest:
			problems = append(problems, fmt.Errorf("%s is %v: it must be at most %v", timeout.name, timeout.value, longest))
		}
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("client config: %w", errors.Join(problems...))
	}
	return seeds, nil
}

var errOneEach = errors.New("has no valid host: write one broker per entry as host:port")

// address completes broker to host:port.
func address(broker string) (string, error) {
	if strings.Contains(broker, "://") {
		return "", errors.New("is a URL: write host:port without a scheme")
	}
	if strings.ContainsAny(broker, " \t\r\n,;/@") {
		return "", errOneEach
	}
	host, port, err := net.SplitHostPort(broker)
	if err != nil && !strings.Contains(broker, ":") {
		host, port, err = broker, defaultPort, nil
	}
	switch {
	case err != nil && net.ParseIP(broker) != nil:
		return "", fmt.Errorf("is an IPv6 address without a port: write [%s]:%s", broker, defaultPort)
	case err != nil:
		return "", fmt.Errorf("is not host:port: %w", err)
	case host == "":
		return "", errOneEach
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("port %q is not a number from 1 to 65535", port)
	}
	return net.JoinHostPort(host, port), nil
}

func (c Config) withDefaults() Config {
	c.DialTimeout = cmp.Or(c.DialTimeout, defaultDialTimeout)
	c.RequestTimeout = cmp.Or(c.RequestTimeout, defaultRequestTimeout)
	c.BootstrapTimeout = cmp.Or(c.BootstrapTimeout, defaultBootstrapTimeout)
	c.MetadataMaxAge = cmp.Or(c.MetadataMaxAge, defaultMetadataMaxAge)
	if c.Trace == nil {
		c.Trace = new(Trace)
	}
	return c
}

func (c *Config) logger() *slog.Logger {
	if c.Logger != nil {
		return c.Logger
	}
	return slog.New(warnings{slog.Default().Handler()})
}

// warnings is a handler that drops what is below Warn.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

func (w warnings) WithGroup(name string) slog.Handler {
	return warnings{w.Handler.WithGroup(name)}
}
