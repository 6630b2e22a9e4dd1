package client

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The process is stopped in the body of the loop for longer than its session, and
// then goes on (SIGSTOP and SIGCONT): the first to run may be the loop.
func TestAfterAStandstillAlmostNothingIsHandedOut(t *testing.T) {
	const session = 40 * time.Second
	for _, size := range []int{1, 5, 16, 100} {
		for _, at := range []int64{0, 1, 14, 15, 16, 17, 99} {
			t.Run(fmt.Sprintf("batches of %d, stopped at %d", size, at), func(t *testing.T) {
				within(t, []int32{1}, func(t *testing.T, b *bench) {
					for range 200 / size {
						b.write(0, size)
					}
					c := b.open(ConsumerConfig{CommitInterval: -1})
					b.member.assign(all(1))
					b.member.trust(time.Now().Add(session))
					ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Minute, errTestEnd)
					defer cancel()
					late := -1
					for rec, err := range c.Records(ctx) {
						require.NoError(t, err)
						if late >= 0 {
							late++
						}
						if rec.Offset == at {
							time.Sleep(time.Minute)
							late = 0
						}
					}
					require.Less(t, late, trustEvery)
					require.LessOrEqual(t, late, max(size-1, 0), "the rest of the batch in hand at most")
				})
			})
		}
	}
}

func TestAfterAStandstillNoBatchIsHandedOut(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		for range 10 {
			b.write(0, 5)
		}
		c := b.open(ConsumerConfig{CommitInterval: -1})
		b.member.assign(all(1))
		b.member.trust(time.Now().Add(40 * time.Second))
		ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Minute, errTestEnd)
		defer cancel()
		batches := 0
		for _, err := range c.Batches(ctx) {
			require.NoError(t, err)
			if batches++; batches == 3 {
				time.Sleep(time.Minute)
			}
		}
		require.Equal(t, 3, batches)
	})
}
