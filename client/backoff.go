package client

import (
	"context"
	"math/rand/v2"
	"time"
)

// A backoff is how long to wait after failures in a row: first after one, twice
// as long after each further one, at most most, and up to a fifth more or less,
// so that many clients do not come back at the same time (KIP-144, KIP-580).
type backoff struct{ first, most time.Duration }

var (
	reconnectBackoff = backoff{50 * time.Millisecond, time.Second}
	retryBackoff     = backoff{100 * time.Millisecond, time.Second}
)

// after returns the time to wait after so many failures in a row; 0 if there
// were none.
func (b backoff) after(failures int) time.Duration {
	return b.spread(failures, rand.Float64())
}

// spread is after with a chance from 0 to 1 in place of a random one.
func (b backoff) spread(failures int, chance float64) time.Duration {
	if failures <= 0 {
		return 0
	}
	wait := b.first
	for range failures - 1 {
		if wait *= 2; wait >= b.most {
			wait = b.most
			break
		}
	}
	return time.Duration(float64(wait) * (0.8 + 0.4*chance))
}

// sleep waits for d, or until ctx ends and returns its cause.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
