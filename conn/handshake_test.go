package conn

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// conversation serves a connection: it answers each request with the next of
// the answers and then hangs up. It returns the version of each request.
func conversation(nc net.Conn, answers ...[]byte) <-chan []int16 {
	asked := make(chan []int16, 1)
	go func() {
		defer nc.Close()
		var versions []int16
		for _, answer := range answers {
			request := make([]byte, 1<<10)
			if _, err := nc.Read(request); err != nil {
				break
			}
			versions = append(versions, int16(request[7]))
			if _, err := nc.Write(answer); err != nil {
				break
			}
		}
		asked <- versions
	}()
	return asked
}

func TestHandshakeAsksInVersionsThatTheBrokerUnderstands(t *testing.T) {
	unsupported := func(rest ...byte) []byte { return rawFrame(0, append([]byte{0, 35}, rest...)...) }
	plain := []byte{0, 0, 0, 1, 0, keyHeartbeat, 0, 0, 0, 3} // Heartbeat 0 to 3, as an array
	ok0 := rawFrame(0, append([]byte{0, 0}, plain...)...)
	ok2 := rawFrame(0, append(append([]byte{0, 0}, plain...), 0, 0, 0, 0)...)
	ok3 := rawFrame(0, 0, 0, 2, 0, keyHeartbeat, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0)
	for _, test := range []struct {
		name    string
		answers [][]byte
		asked   []int16
		err     string
	}{
		{"at once", [][]byte{ok3}, []int16{3}, ""},
		{"with its range", [][]byte{unsupported(0, 0, 0, 1, 0, 18, 0, 0, 0, 2), ok2}, []int16{3, 2}, ""},
		{"without a range", [][]byte{unsupported(0, 0, 0, 0), ok0}, []int16{3, 0}, ""},
		{"with a null range", [][]byte{unsupported(0xff, 0xff, 0xff, 0xff), ok0}, []int16{3, 0}, ""},
		{"with a range that holds what it refused", [][]byte{unsupported(0, 0, 0, 1, 0, 18, 0, 0, 0, 9), ok2}, []int16{3, 2}, ""},
		{
			"refuses for ever",
			[][]byte{unsupported(0, 0, 0, 1, 0, 18, 0, 0, 0, 9), unsupported(0, 0, 0, 1, 0, 18, 0, 0, 0, 9), unsupported(0, 0, 0, 0), unsupported(0, 0, 0, 0)},
			[]int16{3, 2, 1, 0},
			"the broker refused version 0: UNSUPPORTED_VERSION",
		},
		{
			"is too new",
			[][]byte{unsupported(0, 0, 0, 1, 0, 18, 0, 7, 0, 9)},
			[]int16{3},
			"no common version: this client can send 0 to 2, the broker offers 7 to 9",
		},
		{"fails otherwise", [][]byte{rawFrame(0, 0, 42, 1, 0, 0, 0, 0, 0)}, []int16{3}, "the broker refused version 3: INVALID_REQUEST"},
		{"hangs up", [][]byte{nil}, []int16{3}, "connection closed before the first answer"},
		{"another correlation ID", [][]byte{rawFrame(1, 0, 0)}, []int16{3}, "first answer has correlation ID 1, expected 0"},
		{"claims more keys than it sends", [][]byte{rawFrame(0, 0, 0, 0xff, 0xff, 0xff, 0xff, 7)}, []int16{3}, "cannot decode response version 3"},
		{"empty answer", [][]byte{rawFrame(0)}, []int16{3}, "cannot decode response version 3 of 0 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := net.Pipe()
				asked := conversation(server, test.answers...)
				c, err := New(t.Context(), client, testAddr, Config{})
				if test.err != "" {
					require.ErrorContains(t, err, "broker broker:9092: ApiVersions: ")
					require.ErrorContains(t, err, test.err)
					require.True(t, Unsent(err))
					require.Equal(t, test.asked, <-asked)
					_, err = client.Write([]byte{1})
					require.ErrorIs(t, err, io.ErrClosedPipe, "a failed handshake closes the connection")
					return
				}
				require.NoError(t, err)
				version, ok := c.Version(keyHeartbeat)
				require.True(t, ok)
				require.Equal(t, int16(3), version)
				require.Equal(t, test.asked, <-asked)
				require.NoError(t, c.Close())
			})
		})
	}
}

func TestHandshakeErrorsKeepTheBrokersWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		b.On(apiVersionsKey, func(req kmsg.Request) kmsg.Response {
			resp := req.ResponseKind().(*kmsg.ApiVersionsResponse)
			resp.ErrorCode = kerr.ClusterAuthorizationFailed.Code
			return resp
		})
		_, err := Dial(t.Context(), testAddr, Config{Dial: b.Dial})
		require.ErrorIs(t, err, kerr.ClusterAuthorizationFailed)
	})
}

func TestTheDialTimeoutCoversTheHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		b.Hold(apiVersionsKey)
		slow := func(ctx context.Context, network, addr string) (net.Conn, error) {
			time.Sleep(4 * time.Second)
			return b.Dial(ctx, network, addr)
		}
		begin := time.Now()
		_, err := Dial(t.Context(), testAddr, Config{Dial: slow})
		require.Equal(t, 10*time.Second, time.Since(begin))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.ErrorContains(t, err, "connected, but got no answer: dial timeout of 10s is over")
		require.ErrorContains(t, err, "is this the port of a Kafka listener, and of one without TLS?")
	})
}

func TestCancellingDialSaysWhy(t *testing.T) {
	bored := errors.New("bored")
	for name, dial := range map[string]func(ctx context.Context, network, addr string) (net.Conn, error){
		"while connecting": func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		},
		"while shaking hands": nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBroker(t)
				b.Hold(apiVersionsKey)
				if dial == nil {
					dial = b.Dial
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(bored) })
				begin := time.Now()
				_, err := Dial(ctx, testAddr, Config{Dial: dial})
				require.ErrorIs(t, err, bored)
				require.Equal(t, time.Second, time.Since(begin))
			})
		})
	}
}

func TestDialErrorsKeepTheCauseAndSayWhatToCheck(t *testing.T) {
	for _, test := range []struct {
		name  string
		cause error
		want  string
	}{
		{"refused", syscall.ECONNREFUSED, "is the broker running, and is this the port of its listener?"},
		{"unreachable", syscall.EHOSTUNREACH, "no route to host"},
		{"no such name", &net.DNSError{Err: "no such host", Name: "broker", IsNotFound: true}, "is the name right"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBroker(t)
			b.Refuse(test.cause)
			_, err := Dial(t.Context(), testAddr, Config{Dial: b.Dial})
			require.ErrorContains(t, err, "broker broker:9092: cannot connect: ")
			require.ErrorContains(t, err, test.want)
			require.ErrorIs(t, err, test.cause)
			require.True(t, Unsent(err))
		})
	}
}

func TestTheContextOfDialMeansNothingLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		c, err := Dial(ctx, testAddr, Config{Dial: newBroker(t).Dial})
		require.NoError(t, err)
		defer c.Close()
		cancel()
		time.Sleep(time.Hour)
		_, err = c.Request(t.Context(), ask("x"))
		require.NoError(t, err)
	})
}
