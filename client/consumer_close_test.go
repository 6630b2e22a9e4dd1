package client

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCloseIsPromptInEveryState(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 10)
		c := b.open(ConsumerConfig{})
		start := time.Now()
		require.NoError(t, c.Close(t.Context()))
		require.NoError(t, c.Close(t.Context()), "twice")
		require.Zero(t, time.Since(start))
		require.Equal(t, 1, b.member.left)
		for _, err := range c.Records(t.Context()) {
			require.ErrorIs(t, err, ErrConsumerClosed)
		}
		require.ErrorIs(t, c.Commit(t.Context()), ErrConsumerClosed)
	})
}

func TestCloseEndsALoopAndCommits(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 10)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		closed := make(chan error, 1)
		for rec, err := range c.Records(t.Context()) {
			require.NoError(t, err)
			if rec.Offset == 4 {
				go func() { closed <- c.Close(t.Context()) }()
				time.Sleep(time.Second)
			}
			require.LessOrEqual(t, rec.Offset, int64(4))
		}
		require.NoError(t, <-closed)
		require.EqualValues(t, 5, b.member.have(0))
	})
}

func TestCloseWithAnEndedContextStillCommitsAndLeaves(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 10)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		read(t, c, 5)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, c.Close(ctx))
		require.EqualValues(t, 4, b.member.have(0))
		require.Equal(t, 1, b.member.left)
	})
}

func TestCloseDoesNotWaitForEverForABody(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 10)
		c := b.open(ConsumerConfig{CloseTimeout: 4 * time.Second})
		b.member.assign(all(1))
		for rec, err := range c.Records(t.Context()) {
			require.NoError(t, err)
			if rec.Offset == 4 {
				start := time.Now()
				require.NoError(t, c.Close(t.Context()), "from the body itself: it cannot come to an end")
				require.Equal(t, 3*time.Second, time.Since(start), "the rest is for committing and leaving")
			}
		}
		require.EqualValues(t, 4, b.member.have(0), "the record in hand is not done")
	})
}

func TestCommitsComeByThemselves(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 10)
		c := b.open(ConsumerConfig{CommitInterval: 2 * time.Second})
		b.member.assign(all(1))
		read(t, c, 4)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.EqualValues(t, 3, b.member.have(0))
		before := len(b.member.commits)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Len(t, b.member.commits, before, "nothing new, no request")
	})
}

func TestWaitingForRecordsIsASignOfLife(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		for range c.Records(ctx) {
			require.Fail(t, "there are no records")
		}
		require.GreaterOrEqual(t, b.member.asked, 60*60/300)
		before := b.member.asked
		time.Sleep(time.Hour)
		require.LessOrEqual(t, b.member.asked, before+1, "without a loop there is none")
	})
}
