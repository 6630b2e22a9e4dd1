package conn

import (
	"errors"
	"math"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/musterkafka/muster/internal/fakebroker"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestTheOldestRequestHasADeadline(t *testing.T) {
	fetch := kmsg.NewPtrFetchRequest()
	fetch.MaxWaitMillis = 5000
	produce := kmsg.NewPtrProduceRequest()
	produce.Acks, produce.TimeoutMillis = -1, 1500
	negative := kmsg.NewPtrFetchRequest()
	negative.MaxWaitMillis = -5000

	for _, test := range []struct {
		name string
		req  kmsg.Request
		want time.Duration
	}{
		{"plain", kmsg.NewPtrHeartbeatRequest(), 30 * time.Second},
		{"fetch waits for data", fetch, 35 * time.Second},
		{"capped fetch waits for data", AtMost(fetch, 12), 35 * time.Second},
		{"produce waits for replicas", produce, 31500 * time.Millisecond},
		{"negative wait counts as none", negative, 30 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBroker(t)
				b.Hold(test.req.Key())
				c := connect(t, b, Config{})
				time.Sleep(time.Hour) // an idle connection lives
				begin := time.Now()
				_, err := c.Request(t.Context(), test.req)
				require.ErrorIs(t, err, os.ErrDeadlineExceeded)
				require.ErrorContains(t, err, "no answer to "+kmsg.NameForKey(test.req.Key())+" for "+test.want.String())
				require.Equal(t, test.want, time.Since(begin))
				require.False(t, Unsent(err))
			})
		})
	}
}

func TestJoinGroupAndSyncGroupWaitForEver(t *testing.T) {
	for _, req := range []kmsg.Request{kmsg.NewPtrJoinGroupRequest(), kmsg.NewPtrSyncGroupRequest()} {
		t.Run(kmsg.NameForKey(req.Key()), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBroker(t)
				release := b.Hold(req.Key())
				c := connect(t, b, Config{})
				held, behind := make(chan Answer, 1), make(chan Answer, 1)
				require.NoError(t, c.Start(t.Context(), req, held))
				b.Hold(keyHeartbeat)
				require.NoError(t, c.Start(t.Context(), kmsg.NewPtrHeartbeatRequest(), behind))
				time.Sleep(24 * time.Hour)
				require.NoError(t, c.Err())

				release()
				begin := time.Now()
				require.NoError(t, (<-held).Err)
				require.ErrorIs(t, (<-behind).Err, os.ErrDeadlineExceeded)
				require.Equal(t, 30*time.Second, time.Since(begin), "counted from when it was the oldest")
			})
		})
	}
}

func TestAShorterDeadlineBehindALongerOneIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		release := b.Hold(keyFetch)
		b.Hold(keyHeartbeat)
		c := connect(t, b, Config{})
		long, short := make(chan Answer, 1), make(chan Answer, 1)
		fetch := kmsg.NewPtrFetchRequest()
		fetch.MaxWaitMillis = 3_600_000
		require.NoError(t, c.Start(t.Context(), fetch, long))
		require.NoError(t, c.Start(t.Context(), kmsg.NewPtrHeartbeatRequest(), short))
		time.Sleep(time.Minute)
		release()
		begin := time.Now()
		require.NoError(t, (<-long).Err)
		require.Error(t, (<-short).Err)
		require.Equal(t, 30*time.Second, time.Since(begin))
	})
}

func TestASteadyPipelineOutlivesTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		b.On(keyHeartbeat, func(kmsg.Request) kmsg.Response {
			time.Sleep(20 * time.Second)
			return kmsg.NewPtrHeartbeatResponse()
		})
		c := connect(t, b, Config{})
		to := make(chan Answer, 10)
		for range cap(to) {
			require.NoError(t, c.Start(t.Context(), kmsg.NewPtrHeartbeatRequest(), to))
		}
		for range cap(to) {
			require.NoError(t, (<-to).Err, "each is the oldest for 20 s only")
		}
	})
}

func TestAPeerThatStopsReadingIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer server.Close()
		go answerVersions(server)
		c, err := New(t.Context(), client, testAddr, Config{RequestTimeout: 7 * time.Second})
		require.NoError(t, err)
		defer c.Close()
		begin := time.Now()
		_, err = c.Request(t.Context(), ask("x"))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.ErrorContains(t, err, "cannot write FindCoordinator after 0 of ")
		require.True(t, Unsent(err))
		require.Equal(t, 7*time.Second, time.Since(begin))
	})
}

func TestProduceWithoutAcknowledgementFailsIfItCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		go func() {
			conversation(server, versionsAnswer) // and hangs up
		}()
		c, err := New(t.Context(), client, testAddr, Config{})
		require.NoError(t, err)
		defer c.Close()
		c.versions[keyProduce] = versionRange{known: true, max: 9}
		req := kmsg.NewPtrProduceRequest()
		req.Acks = 0
		_, err = c.Request(t.Context(), req)
		require.Error(t, err)
		require.True(t, Unsent(err))
		require.ErrorIs(t, err, errors.Unwrap(c.Err()))
	})
}

func TestThrottlingDelaysTheNextRequest(t *testing.T) {
	throttled := func(millis int32) fakebroker.Handler {
		return func(kmsg.Request) kmsg.Response {
			resp := kmsg.NewPtrHeartbeatResponse()
			resp.ThrottleMillis = millis
			return resp
		}
	}
	for _, test := range []struct {
		name    string
		version int16
		millis  int32
		want    time.Duration
	}{
		{"a moment", 4, 1, time.Millisecond},
		{"longer than the request timeout", 4, 40_000, 40 * time.Second},
		{"days", 4, math.MaxInt32, 5 * time.Minute},
		{"no throttle", 4, 0, 0},
		{"negative", 4, -1, 0},
		{"the broker waited itself", 1, 500, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBroker(t)
				b.On(keyHeartbeat, throttled(test.millis))
				c := connect(t, b, Config{})
				_, err := c.Request(t.Context(), AtMost(kmsg.NewPtrHeartbeatRequest(), test.version))
				require.NoError(t, err)
				for _, want := range []time.Duration{test.want, 0} {
					begin := time.Now()
					_, err = c.Request(t.Context(), ask("x"))
					require.NoError(t, err)
					require.Equal(t, want, time.Since(begin))
				}
			})
		})
	}
}

func TestThrottlingDoesNotHideASilentBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		b.Hold(keyFind)
		c := connect(t, b, Config{})
		waiting := make(chan Answer, 2)
		require.NoError(t, c.Start(t.Context(), ask("x"), waiting))
		synctest.Wait()
		c.queue.holdUntil(time.Now().Add(time.Hour))
		require.NoError(t, c.Start(t.Context(), ask("y"), waiting))
		begin := time.Now()
		require.False(t, Unsent((<-waiting).Err))
		require.True(t, Unsent((<-waiting).Err))
		require.Equal(t, 30*time.Second, time.Since(begin))
	})
}

func TestAnEndlessTimeoutDoesNotOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		c := connect(t, b, Config{RequestTimeout: math.MaxInt64, DialTimeout: math.MaxInt64})
		release := b.Hold(keyFetch)
		fetch := kmsg.NewPtrFetchRequest()
		fetch.MaxWaitMillis = math.MaxInt32
		time.AfterFunc(time.Hour, release)
		_, err := c.Request(t.Context(), fetch)
		require.NoError(t, err)
	})
}

func TestAClientIDThatDoesNotFitARequestIsRefused(t *testing.T) {
	_, err := Dial(t.Context(), testAddr, Config{ClientID: strings.Repeat("x", math.MaxInt16+1), Dial: newBroker(t).Dial})
	require.ErrorContains(t, err, "the ClientID has 32768 bytes")
}
