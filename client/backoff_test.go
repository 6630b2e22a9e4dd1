package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBackoffDoublesUpToItsMostAndSpreads(t *testing.T) {
	b := backoff{50 * time.Millisecond, time.Second}
	for failures, want := range []time.Duration{0, 50, 100, 200, 400, 800, 1000, 1000} {
		want *= time.Millisecond
		require.Equal(t, want, b.spread(failures, 0.5))
		require.Equal(t, want*4/5, b.spread(failures, 0))
		require.Equal(t, want*6/5, b.spread(failures, 1))
	}
	require.Equal(t, time.Second, b.spread(1_000_000_000, 0.5))
}

func TestSleepEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		require.NoError(t, sleep(t.Context(), time.Second))
		require.Equal(t, time.Second, time.Since(start))

		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		require.ErrorIs(t, sleep(ctx, time.Hour), why)
		require.Equal(t, 2*time.Second, time.Since(start))
	})
}
