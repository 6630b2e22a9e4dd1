package client

import (
	"context"
	"log/slog"
)

// Client reaches one Kafka cluster. Any number of consumers, producers and
// admin calls share it, and its methods may be called from many goroutines.
//
// It has one goroutine that keeps up with the cluster, those of its connections, and one more while a
// connection is being made. They start when they are first needed and are gone
// when Close returns.
type Client struct {
	cfg   Config
	log   *slog.Logger
	seeds []string

	life context.Context // ends at Close; its cause is ErrClosed
	end  context.CancelCauseFunc

	pool         *pool
	meta         *metadata
	coordinators coordinators
}

// New makes a Client of cfg without any I/O: a broker that cannot be reached is
// reported by the first call that needs one. The error names every problem of
// cfg. A Client that is not needed any more must be closed.
func New(cfg Config) (*Client, error) {
	seeds, err := cfg.validate()
	if err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	cl := &Client{cfg: cfg, log: cfg.logger(), seeds: seeds}
	cl.life, cl.end = context.WithCancelCause(context.Background())
	cl.pool = newPool(cl)
	cl.meta = newMetadata(cl)
	return cl, nil
}

// Close ends every connection and returns when the Client's goroutines are
// gone. It always returns nil and may be called more than once. Consumers and
// producers should be closed before: those that were not can neither commit,
// leave their group nor flush any more, and everything they are asked from then
// on fails with ErrClosed.
func (cl *Client) Close() error {
	cl.end(ErrClosed)
	cl.meta.close()
	cl.pool.close()
	return nil
}
