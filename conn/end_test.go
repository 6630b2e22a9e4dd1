package conn

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/musterkafka/muster/internal/fakebroker"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// startFive starts five requests and returns where their answers come.
func startFive(t *testing.T, c *Conn) <-chan Answer {
	to := make(chan Answer, 5)
	for range 5 {
		require.NoError(t, c.Start(t.Context(), ask("x"), to))
	}
	return to
}

func TestCloseEndsAConnectionInEveryState(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, b *fakebroker.Broker, c *Conn) <-chan Answer{
		"idle":    func(*testing.T, *fakebroker.Broker, *Conn) <-chan Answer { return nil },
		"at once": func(t *testing.T, _ *fakebroker.Broker, c *Conn) <-chan Answer { return startFive(t, c) },
		"throttled": func(t *testing.T, _ *fakebroker.Broker, c *Conn) <-chan Answer {
			c.queue.holdUntil(time.Now().Add(time.Hour))
			return startFive(t, c)
		},
		"unanswered": func(t *testing.T, b *fakebroker.Broker, c *Conn) <-chan Answer {
			b.Hold(keyFind)
			to := startFive(t, c)
			synctest.Wait()
			return to
		},
		"dropped by the broker": func(t *testing.T, b *fakebroker.Broker, c *Conn) <-chan Answer {
			b.Hold(keyFind)
			to := startFive(t, c)
			synctest.Wait()
			b.DropConnections()
			synctest.Wait()
			return to
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBroker(t)
				c := connect(t, b, Config{})
				to := prepare(t, b, c)
				begin := time.Now()
				require.NoError(t, c.Close())
				require.Zero(t, time.Since(begin))
				require.Len(t, to, cap(to), "every request has its answer when Close returns")
				<-c.Done()
				require.Error(t, c.Err())
				require.NoError(t, c.Close())

				_, err := c.Request(t.Context(), ask("late"))
				require.ErrorIs(t, err, errors.Unwrap(c.Err()))
				require.True(t, Unsent(err))
			})
		})
	}
}

func TestAnEndedConnectionFailsEveryRequestExactlyOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newBroker(t), Config{MaxInFlight: 4})
		const callers, each = 8, 50
		to := make(chan Answer, callers*each)
		started := make(chan int, callers)
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				n := 0
				for range each {
					if c.Start(t.Context(), ask("x"), to) == nil {
						n++
					}
				}
				started <- n
			})
		}
		wg.Go(func() { c.Close() })
		wg.Wait()
		total := 0
		for range callers {
			total += <-started
		}
		require.Len(t, to, total)
	})
}

func TestABrokerThatHangsUpFailsWhatIsUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		c := connect(t, b, Config{})
		_, err := c.Request(t.Context(), ask("x"))
		require.NoError(t, err)
		b.On(keyFind, func(kmsg.Request) kmsg.Response { return fakebroker.Drop() })
		release := b.Hold(keyFind)
		to := startFive(t, c)
		synctest.Wait()
		release()
		for range 5 {
			a := <-to
			require.ErrorIs(t, a.Err, io.EOF)
			require.EqualError(t, a.Err, "broker broker:9092: FindCoordinator: the broker closed the connection (EOF)")
		}
		require.EqualError(t, c.Err(), "broker broker:9092: the broker closed the connection (EOF)")
	})
}

func TestHangingUpAtTheFirstRequestHintsAtSASL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		c := connect(t, b, Config{})
		b.On(keyFind, func(kmsg.Request) kmsg.Response { return fakebroker.Drop() })
		_, err := c.Request(t.Context(), ask("x"))
		require.ErrorContains(t, err, "does the listener expect SASL?")
	})
}

func TestHangingUpOnAnIdleConnectionHintsAtNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		c := connect(t, b, Config{})
		b.DropConnections()
		<-c.Done()
		require.EqualError(t, c.Err(), "broker broker:9092: the broker closed the connection (EOF)")
	})
}

func TestAnswersThatCannotBeTrustedEndTheConnection(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer []byte
		want   string
	}{
		{"wrong correlation ID", rawFrame(2, 0, 0), "answer has correlation ID 2, expected 1 for FindCoordinator"},
		{"too short", []byte{0, 0, 0, 3, 0, 0, 1}, "answer claims a size of 3 bytes, less than its header has"},
		{"negative size", []byte{0xff, 0xff, 0xff, 0xff}, "answer claims a size of -1 bytes"},
		{"above the limit", []byte{0, 0, 8, 1}, "answer claims a size of 2049 bytes, more than allowed (2048)"},
		{"header cut off", rawFrame(1, 2, 0), "answer of 6 bytes ends within the tagged fields of its header"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBroker(t)
				c := connect(t, b, Config{MaxResponseBytes: 2048})
				b.On(keyFind, func(kmsg.Request) kmsg.Response { return fakebroker.Raw(test.answer) })
				release := b.Hold(keyFind)
				to := startFive(t, c)
				release()
				for range 5 {
					require.ErrorContains(t, (<-to).Err, test.want)
				}
				require.ErrorContains(t, c.Err(), test.want)
			})
		})
	}
}

func TestAnAnswerThatNobodyAskedForEndsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer server.Close()
		go func() {
			answerVersions(server)
			server.Write(rawFrame(0, 0, 0))
		}()
		c, err := New(t.Context(), client, testAddr, Config{})
		require.NoError(t, err)
		defer c.Close()
		<-c.Done()
		require.EqualError(t, c.Err(), "broker broker:9092: the broker sent an answer that nobody asked for")
	})
}

func TestAnAnswerThatHasNoRoomEndsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newBroker(t), Config{})
		require.NoError(t, c.Start(t.Context(), ask("x"), make(chan Answer)))
		<-c.Done()
		require.ErrorContains(t, c.Err(), "no room in the channel for the answer to FindCoordinator")
	})
}

func TestABrokerThatDiesWithinAnAnswerSaysHowMuchCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		go func() {
			answerVersions(server)
			server.Read(make([]byte, 1<<10))
			server.Write([]byte{0, 0, 1, 0, 0, 0, 0, 1, 9, 9})
			server.Close()
		}()
		c, err := New(t.Context(), client, testAddr, Config{})
		require.NoError(t, err)
		defer c.Close()
		_, err = c.Request(t.Context(), ask("x"))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.ErrorContains(t, err, "stream ends after 6 of the 256 bytes of an answer")
	})
}
