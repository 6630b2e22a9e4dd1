package conn

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/musterkafka/muster/internal/fakebroker"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestRequestReturnsTheDecodedResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newBroker(t), Config{})
		resp, err := c.Request(t.Context(), ask("billing"))
		require.NoError(t, err)
		require.Equal(t, "billing", resp.(*kmsg.FindCoordinatorResponse).Host)
		require.Equal(t, int16(3), resp.GetVersion())
	})
}

func TestAnswersComeInTheOrderOfRequestsThatWereAllSentBeforeTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		release := b.Hold(keyFind)
		c := connect(t, b, Config{})
		to := make(chan Answer, 100)
		for i := range 100 {
			require.NoError(t, c.Start(t.Context(), ask(strconv.Itoa(i)), to))
		}
		synctest.Wait()
		require.Len(t, b.Seen(keyFind), 100)
		require.Empty(t, to)
		release()
		for i := range 100 {
			require.Equal(t, strconv.Itoa(i), host(t, <-to))
		}
	})
}

func TestConcurrentCallersGetTheirOwnAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newBroker(t), Config{MaxInFlight: 3})
		var callers sync.WaitGroup
		for i := range 50 {
			callers.Go(func() {
				name := strconv.Itoa(i)
				resp, err := c.Request(t.Context(), ask(name))
				if err != nil || resp.(*kmsg.FindCoordinatorResponse).Host != name {
					t.Errorf("asked for %s, got %v, %v", name, resp, err)
				}
			})
		}
		callers.Wait()
	})
}

func TestCancellingOneCallerHarmsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		release := b.Hold(keyFind)
		c := connect(t, b, Config{})
		ctx, cancel := context.WithCancelCause(t.Context())
		first, third := make(chan Answer, 1), make(chan Answer, 1)
		require.NoError(t, c.Start(t.Context(), ask("first"), first))
		second := make(chan error, 1)
		go func() {
			_, err := c.Request(ctx, ask("second"))
			second <- err
		}()
		synctest.Wait()
		require.NoError(t, c.Start(t.Context(), ask("third"), third))
		synctest.Wait()

		bored := errors.New("bored")
		cancel(bored)
		err := <-second
		require.ErrorIs(t, err, bored)
		require.False(t, Unsent(err))
		release()
		require.Equal(t, "first", host(t, <-first))
		require.Equal(t, "third", host(t, <-third))
		require.NoError(t, c.Err())
	})
}

func TestARequestWhoseContextHasEndedIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		c := connect(t, b, Config{})
		ctx, cancel := context.WithCancelCause(t.Context())
		bored := errors.New("bored")
		cancel(bored)
		_, err := c.Request(ctx, ask("x"))
		require.ErrorIs(t, err, bored)
		require.True(t, Unsent(err))
		synctest.Wait()
		require.Empty(t, b.Seen(keyFind))
	})
}

func TestStartBlocksOnlyWhileMaxInFlightIsReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		release := b.Hold(keyFind)
		c := connect(t, b, Config{MaxInFlight: 2})
		ended, cancel := context.WithCancelCause(t.Context())
		bored := errors.New("bored")
		cancel(bored)

		to := make(chan Answer, 3)
		require.NoError(t, c.Start(ended, ask("1"), to), "an ended context does not stop what need not wait")
		require.NoError(t, c.Start(ended, ask("2"), to))
		err := c.Start(ended, ask("3"), to)
		require.ErrorIs(t, err, bored)
		require.True(t, Unsent(err))

		third := make(chan error, 1)
		go func() { third <- c.Start(t.Context(), ask("3"), to) }()
		synctest.Wait()
		require.Empty(t, third)
		release()
		require.NoError(t, <-third)
		for _, name := range []string{"1", "2", "3"} {
			require.Equal(t, name, host(t, <-to))
		}
	})
}

func TestProduceWithoutAcknowledgementIsDoneWhenWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		release := b.Hold(keyFind)
		c := connect(t, b, Config{})
		found, produced := make(chan Answer, 2), make(chan Answer, 1)
		require.NoError(t, c.Start(t.Context(), ask("before"), found))
		req := kmsg.NewPtrProduceRequest()
		req.Acks = 0
		require.NoError(t, c.Start(t.Context(), req, produced))
		require.NoError(t, c.Start(t.Context(), ask("after"), found))

		a := <-produced
		require.NoError(t, a.Err)
		require.Empty(t, a.Body())
		require.NoError(t, a.Into(kmsg.NewPtrProduceResponse()))
		a.Release()
		require.Len(t, b.Seen(keyProduce), 1)
		require.Empty(t, found)
		release()
		require.Equal(t, "before", host(t, <-found))
		require.Equal(t, "after", host(t, <-found))

		resp, err := c.Request(t.Context(), req)
		require.NoError(t, err)
		require.Empty(t, resp.(*kmsg.ProduceResponse).Topics)
	})
}

func TestRequestsAboveTheLimitAreRefusedUnsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The header before a FindCoordinator v3 for "muster" has 17 bytes, the
		// request another 3 and its key.
		c := connect(t, newBroker(t), Config{MaxRequestBytes: 30})
		_, err := c.Request(t.Context(), ask("0123456789"))
		require.NoError(t, err)
		_, err = c.Request(t.Context(), ask("0123456789+"))
		require.ErrorContains(t, err, "broker broker:9092: FindCoordinator: request has 31 bytes, more than MaxRequestBytes allows (30)")
		require.True(t, Unsent(err))
		_, err = c.Request(t.Context(), ask("goes on"))
		require.NoError(t, err)
	})
}

func TestAResponseThatDoesNotParseFailsOnlyItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		b.On(keyHeartbeat, func(kmsg.Request) kmsg.Response {
			return fakebroker.Raw(rawFrame(1, 0, 0xff))
		})
		c := connect(t, b, Config{})
		_, err := c.Request(t.Context(), kmsg.NewPtrHeartbeatRequest())
		require.ErrorContains(t, err, "broker broker:9092: Heartbeat: cannot decode response version 4 of 1 bytes")
		require.False(t, Unsent(err))
		_, err = c.Request(t.Context(), ask("goes on"))
		require.NoError(t, err)
	})
}

func TestTaggedFieldsInAResponseHeaderAreSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		b.On(keyHeartbeat, func(kmsg.Request) kmsg.Response {
			header := []byte{2, 5, 0, 9, 3, 'a', 'b', 'c'} // tag 5 is empty, tag 9 is abc
			return fakebroker.Raw(rawFrame(1, append(header, 0, 0, 0, 0, 0, 27, 0)...))
		})
		c := connect(t, b, Config{})
		resp, err := c.Request(t.Context(), kmsg.NewPtrHeartbeatRequest())
		require.NoError(t, err)
		require.Equal(t, int16(27), resp.(*kmsg.HeartbeatResponse).ErrorCode)
	})
}

func TestWhatWasNotWrittenIsUnsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		go answerVersions(server)
		c, err := New(t.Context(), client, testAddr, Config{})
		require.NoError(t, err)
		to := make(chan Answer, 3)
		for i := range 3 {
			require.NoError(t, c.Start(t.Context(), ask(strconv.Itoa(i)), to))
		}
		_, err = server.Read(make([]byte, 1)) // of the first request
		require.NoError(t, err)
		require.NoError(t, c.Close())
		server.Close()
		require.Equal(t, []bool{false, true, true}, []bool{Unsent((<-to).Err), Unsent((<-to).Err), Unsent((<-to).Err)})
	})
}

// The read loop ends while the write of the request is stuck: only the write
// loop knows that nothing of it has left.
func TestWhatTheWriteLoopKnowsCountsWhenTheReadLoopEndsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer server.Close()
		go answerVersions(server)
		c, err := New(t.Context(), client, testAddr, Config{})
		require.NoError(t, err)
		defer c.Close()
		to := make(chan Answer, 1)
		require.NoError(t, c.Start(t.Context(), ask("x"), to))
		synctest.Wait()
		_, err = server.Write([]byte{0xff, 0xff, 0xff, 0xff})
		require.NoError(t, err)
		a := <-to
		require.ErrorContains(t, a.Err, "answer claims a size of -1 bytes")
		require.True(t, Unsent(a.Err))
	})
}

// versionsAnswer offers FindCoordinator 0 to 4.
var versionsAnswer = rawFrame(0, 0, 0, 2, 0, keyFind, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0)

// answerVersions reads one ApiVersions request from nc and answers it.
func answerVersions(nc net.Conn) {
	nc.Read(make([]byte, 1<<10))
	nc.Write(versionsAnswer)
}
