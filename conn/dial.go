package conn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
)

// Dial connects to the broker at addr (host:port), with TCP keep-alive, and
// continues as New does; Config.DialTimeout and ctx limit both together. All
// addresses of a name are tried. Errors are of type *Error, wrap what the net
// package said, and Unsent is true for them.
func Dial(ctx context.Context, addr string, cfg Config) (*Conn, error) {
	cfg = cfg.withDefaults()
	ctx, cancel := cfg.dialContext(ctx)
	defer cancel()
	nc, err := cfg.Dial(ctx, "tcp", addr)
	if err != nil {
		return nil, &Error{Addr: addr, Err: explainDial(ctx, err)}
	}
	return New(ctx, nc, addr, cfg)
}

// dialContext limits ctx by the dial timeout and says so in its cause.
func (c Config) dialContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.DialTimeout,
		fmt.Errorf("dial timeout of %v is over (%w)", c.DialTimeout, os.ErrDeadlineExceeded))
}

func explainDial(ctx context.Context, err error) error {
	if context.Cause(ctx) != nil {
		return fmt.Errorf("cannot connect: %w (%w): is the host up, and the port open in firewalls?", context.Cause(ctx), err)
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Errorf("cannot connect: %w: is the name right, also where the broker advertises its listeners?", err)
	}
	return fmt.Errorf("cannot connect: %w: is the broker running, and is this the port of its listener?", err)
}
