package client

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCloseWritesWhatIsThere(t *testing.T) {
	withProducer(t, ProducerConfig{Linger: time.Minute}, []int32{1}, func(t *testing.T, b *produceBench) {
		b.sendAll(0, 0, 9)
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // as after Ctrl-C
		require.NoError(t, b.p.Close(ctx))
		b.requireWritten(counting(0, 9))
		require.NoError(t, b.p.Close(t.Context()))
		require.ErrorIs(t, b.send(t.Context(), 0, 10), ErrProducerClosed)
		_, err := b.p.Produce(t.Context(), record(0, 10))
		require.ErrorIs(t, err, ErrProducerClosed)
		require.NoError(t, b.p.Flush(t.Context()))
	})
}

func TestCloseGivesUpInTimeAndTellsEveryCallback(t *testing.T) {
	withProducer(t, ProducerConfig{MaxBatchBytes: 100, CloseTimeout: 4 * time.Second}, []int32{1}, func(t *testing.T, b *produceBench) {
		release := b.broker(1).Hold(keyProduce)
		defer release()
		b.sendAll(0, 0, 9)
		start := time.Now()
		err := b.p.Close(t.Context())
		require.Equal(t, 4*time.Second, since(start))
		require.ErrorContains(t, err, "10 records were not written")
		outcomes := b.done()
		require.Len(t, outcomes, 10)
		for i, o := range outcomes {
			require.Equal(t, uint64(i), o.id)
			require.ErrorIs(t, o.err, ErrProducerClosed)
		}
	})
}

func TestCloseHeedsTheNearerDeadline(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{-1}, func(t *testing.T, b *produceBench) {
		b.sendAll(0, 1, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		require.Error(t, b.p.Close(ctx))
		require.Equal(t, time.Second, since(start))
	})
}

func TestClosingTheClientFailsWhatItsProducersHave(t *testing.T) {
	withProducer(t, ProducerConfig{MaxBatchBytes: 500, BufferBytes: 500}, []int32{1}, func(t *testing.T, b *produceBench) {
		defer b.broker(1).Hold(keyProduce)()
		large := record(0, 1)
		large.Value = make([]byte, 400)
		failed := make(chan error, 2)
		require.NoError(t, b.p.Send(t.Context(), large, func(_ Offset, err error) { failed <- err }))
		blocked := make(chan error, 1)
		go func() { blocked <- b.p.Send(t.Context(), large, nil) }()
		synctest.Wait()
		require.NoError(t, b.cl.Close())
		require.ErrorIs(t, <-failed, ErrClosed)
		require.ErrorIs(t, <-blocked, ErrClosed)
		require.ErrorIs(t, b.send(t.Context(), 0, 2), ErrClosed)
		require.ErrorIs(t, b.p.Close(t.Context()), ErrClosed)
	})
}

func TestSendersThatWaitForATopicEndWithTheProducer(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
		refused := make(chan error, 1)
		go func() { refused <- b.p.Send(t.Context(), &Record{Topic: "nowhere"}, nil) }()
		synctest.Wait()
		require.NoError(t, b.p.Close(t.Context()))
		require.ErrorIs(t, <-refused, ErrProducerClosed)
	})
}

func TestAProducerThatIsNotUsedTouchesNothing(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
		synctest.Wait()
		require.NoError(t, b.p.Close(t.Context()))
		require.Zero(t, b.dials())
	})
}

func TestSendAndCloseAtTheSameTimeLoseNoCallback(t *testing.T) {
	withProducer(t, ProducerConfig{MaxBatchBytes: 200, BufferBytes: 1000}, []int32{1, 1, 1}, func(t *testing.T, b *produceBench) {
		const senders, each = 8, 50
		taken := make(chan int, senders)
		for s := range senders {
			go func() {
				n := 0
				for i := range each {
					if b.send(t.Context(), int32(s%3), uint64(s*each+i)) == nil {
						n++
					}
				}
				taken <- n
			}()
		}
		require.NoError(t, b.p.Close(t.Context()))
		total := 0
		for range senders {
			total += <-taken
		}
		require.Len(t, b.done(), total)
		for _, o := range b.done() {
			require.NoError(t, o.err)
		}
	})
}

// Whether a broker may have written a record is told as it was known when the record was
// given up: the answer that comes during the callbacks changes nothing (go test -race).
func TestAnAnswerDuringTheCallbacksOfWhatWasGivenUpIsHarmless(t *testing.T) {
	withProducer(t, ProducerConfig{Linger: time.Millisecond, DeliveryTimeout: time.Second}, []int32{1}, func(t *testing.T, b *produceBench) {
		b.broker(1).Hold(keyProduce)
		require.NoError(t, b.p.Send(t.Context(), record(0, 0), func(Offset, error) { time.Sleep(2 * time.Second) }))
		b.sendAll(0, 1, 1)
		time.Sleep(2 * time.Second)
		b.broker(1).DropConnections() // the request fails, sent as it was
		require.NoError(t, b.p.Flush(t.Context()))
		var pe *ProduceError
		require.ErrorAs(t, b.oneOutcome().err, &pe)
		require.True(t, pe.MaybeWritten)
	})
}

// A callback that waits for its own Producer is wrong, but Close ends.
func TestCloseWithinACallbackEndsInTime(t *testing.T) {
	withProducer(t, ProducerConfig{CloseTimeout: 2 * time.Second}, []int32{1}, func(t *testing.T, b *produceBench) {
		start := time.Now()
		closed := make(chan error, 1)
		require.NoError(t, b.p.Send(t.Context(), record(0, 0), func(Offset, error) { closed <- b.p.Close(t.Context()) }))
		b.sendAll(0, 1, 1)
		require.ErrorContains(t, <-closed, "callback")
		require.Less(t, since(start), 5*time.Second)
		require.NoError(t, b.p.Flush(t.Context()))
		require.Len(t, b.done(), 1)
	})
}

// Records count until their callbacks have returned, or a callback that is slower than the
// broker would make the memory grow for ever.
func TestSlowCallbacksHoldUpSend(t *testing.T) {
	withProducer(t, ProducerConfig{MaxBatchBytes: 500, BufferBytes: 1000}, []int32{1}, func(t *testing.T, b *produceBench) {
		goOn := make(chan struct{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		large := record(0, 1)
		large.Value = make([]byte, 400)
		taken := 0
		for taken < 100 && b.p.Send(ctx, large, func(Offset, error) { <-goOn }) == nil {
			taken++
		}
		require.Less(t, taken, 7)
		close(goOn)
		require.NoError(t, b.p.Flush(t.Context()))
		require.NoError(t, b.p.Send(t.Context(), large, nil))
	})
}

// Room may have to wait for the callback that asks for it.
func TestSendInACallbackFailsRatherThanWaitForItself(t *testing.T) {
	withProducer(t, ProducerConfig{MaxBatchBytes: 500, BufferBytes: 500}, []int32{1}, func(t *testing.T, b *produceBench) {
		large := record(0, 1)
		large.Value = make([]byte, 400)
		outcomes, elsewhere := make(chan error, 10), make(chan error, 1)
		var deep func(depth int) error
		deep = func(depth int) error {
			if depth > 0 {
				return deep(depth - 1)
			}
			return b.p.Send(t.Context(), large, nil)
		}
		require.NoError(t, b.p.Send(t.Context(), large, func(Offset, error) {
			for range cap(outcomes) {
				outcomes <- deep(200)
			}
			go func() { elsewhere <- b.p.Send(t.Context(), large, nil) }()
			time.Sleep(time.Minute) // the other one waits, which is right
		}))
		require.NoError(t, <-outcomes, "there is room for some")
		var last error
		for range cap(outcomes) - 1 {
			last = <-outcomes
		}
		require.ErrorIs(t, last, errSendInCallback)
		require.NoError(t, <-elsewhere)
		require.NoError(t, b.p.Close(t.Context()))
	})
}

func TestTheLogHearsNowAndThenOfFailuresWithoutACallback(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
		for range 100 {
			b.answer(0, 29)
			require.NoError(t, b.p.Send(t.Context(), record(0, 1), nil))
			require.NoError(t, b.p.Flush(t.Context()))
		}
		told := b.log.with("records were not written")
		require.Len(t, told, 1)
		require.Contains(t, told[0], "records=1 ")
		require.Contains(t, told[0], "ACL")
		require.NoError(t, b.p.Close(t.Context()))
		require.Contains(t, b.log.with("records were not written")[1], "records=99 ")
	})
}
