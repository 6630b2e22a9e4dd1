package conn

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// FuzzFrameReader: frames that were read, written again, are the beginning of
// the stream, and no memory is taken above the limit.
func FuzzFrameReader(f *testing.F) {
	f.Add(rawFrame(1, 2, 3))
	f.Add(append(rawFrame(1), rawFrame(2, 3)...))
	f.Add([]byte{0x7f, 0xff, 0xff, 0xff, 1})
	f.Add([]byte{0x80, 0, 0, 0, 1})
	f.Add([]byte{0, 0, 4, 0, 1})
	f.Fuzz(func(t *testing.T, stream []byte) {
		const limit = 1 << 10
		r := newFrameReader(bytes.NewReader(stream), limit)
		var again []byte
		for {
			frame, err := r.next()
			if err != nil {
				break
			}
			require.LessOrEqual(t, len(frame.data), limit)
			again = append(again, 0, 0, byte(len(frame.data)>>8), byte(len(frame.data)))
			again = append(again, frame.data...)
			frame.release()
		}
		require.True(t, bytes.HasPrefix(stream, again))
	})
}

// FuzzSplitHeader: a header is never longer than the response, and the body is
// its end.
func FuzzSplitHeader(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0, 9}, true)
	f.Add([]byte{0, 0, 0, 1, 2, 5, 0, 9, 3, 'a', 'b', 'c', 9}, true)
	f.Add([]byte{0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0x0f}, true)
	f.Add([]byte{0, 0, 0}, false)
	f.Fuzz(func(t *testing.T, response []byte, flexible bool) {
		id, body, err := splitHeader(response, flexible)
		if err != nil {
			return
		}
		require.True(t, bytes.HasSuffix(response, body))
		require.GreaterOrEqual(t, len(response)-len(body), correlationBytes)
		require.Equal(t, id, int32(response[0])<<24|int32(response[1])<<16|int32(response[2])<<8|int32(response[3]))
	})
}

// FuzzHandshake: whatever a peer answers to ApiVersions, New comes back with a
// connection or an error that says that nothing was sent.
func FuzzHandshake(f *testing.F) {
	f.Add(rawFrame(0, 0, 35, 0, 0, 0, 0))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n"))
	f.Add([]byte{0x15, 3, 3, 0, 2, 2, 70})
	f.Add(rawVersions())
	f.Fuzz(func(t *testing.T, answer []byte) {
		c, err := New(t.Context(), newScript(nil, answer), testAddr, Config{})
		if err != nil {
			require.True(t, Unsent(err))
			return
		}
		require.NoError(t, c.Close())
	})
}

// FuzzAnswers: whatever a broker answers to one request of any API, Request
// comes back with either a response or an error before the stream has ended.
func FuzzAnswers(f *testing.F) {
	for key := range int16(kmsg.MaxKey + 1) {
		if req := kmsg.RequestForKey(key); req != nil {
			resp := req.ResponseKind()
			resp.SetVersion(req.MaxVersion())
			f.Add(rawFrame(1, resp.AppendTo([]byte{0})...), key)
		}
	}
	f.Add(rawFrame(2, 0), int16(keyHeartbeat))
	f.Add(rawFrame(1, 0)[:7], int16(keyHeartbeat))
	handshake := rawVersions()
	f.Fuzz(func(t *testing.T, answer []byte, key int16) {
		req := kmsg.RequestForKey(key)
		if req == nil {
			return
		}
		c, err := New(t.Context(), newScript(handshake, answer), testAddr, Config{MaxResponseBytes: 1 << 16})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		resp, err := c.Request(ctx, req)
		require.True(t, (resp == nil) != (err == nil))
		require.NoError(t, context.Cause(ctx), "the stream has ended, so must the request")
		require.NoError(t, c.Close())
	})
}

// rawVersions returns an ApiVersions answer that offers everything.
func rawVersions() []byte {
	resp := kmsg.NewPtrApiVersionsResponse()
	resp.SetVersion(apiVersionsMax)
	for key := range int16(kmsg.MaxKey + 1) {
		if maxVersion(key) >= 0 {
			resp.ApiKeys = append(resp.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: key, MaxVersion: maxVersion(key)})
		}
	}
	return rawFrame(0, resp.AppendTo(nil)...)
}

// A script is a connection that reads as its greeting, then, when a request
// was written after the first one, as its answer, and then as its end. Without
// a greeting it answers at once.
type script struct {
	net.Conn // nil: nothing else is used

	greeting, answer io.Reader
	written          atomic.Int32
	proceed          chan struct{} // closed by the write that asks for the answer, or by Close
	once             sync.Once
}

func newScript(greeting, answer []byte) *script {
	s := &script{greeting: bytes.NewReader(greeting), answer: bytes.NewReader(answer), proceed: make(chan struct{})}
	if len(greeting) == 0 {
		s.once.Do(func() { close(s.proceed) })
	}
	return s
}

func (s *script) Read(p []byte) (int, error) {
	if n, err := s.greeting.Read(p); err == nil {
		return n, nil
	}
	<-s.proceed
	return s.answer.Read(p)
}

func (s *script) Write(p []byte) (int, error) {
	if s.written.Add(1) == 2 {
		s.once.Do(func() { close(s.proceed) })
	}
	return len(p), nil
}

func (s *script) Close() error {
	s.once.Do(func() { close(s.proceed) })
	return nil
}

func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }
