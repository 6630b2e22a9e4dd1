package conn

import (
	"encoding/binary"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// echo serves a connection without allocating: it answers each request with an
// empty Heartbeat v4 response.
func echo(nc net.Conn) {
	answerVersions(nc)
	answer := rawFrame(0, 0, 0, 0, 0, 0, 0, 0, 0)
	request := make([]byte, 1<<10)
	for {
		if _, err := io.ReadFull(nc, request[:sizeBytes]); err != nil {
			return
		}
		size := binary.BigEndian.Uint32(request)
		if _, err := io.ReadFull(nc, request[:size]); err != nil {
			return
		}
		copy(answer[sizeBytes:], request[correlationBytes:2*correlationBytes])
		if _, err := nc.Write(answer); err != nil {
			return
		}
	}
}

func dialEcho(tb testing.TB) *Conn {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	defer l.Close()
	go func() {
		if nc, err := l.Accept(); err == nil {
			defer nc.Close()
			echo(nc)
		}
	}()
	c, err := Dial(tb.Context(), l.Addr().String(), Config{})
	require.NoError(tb, err)
	tb.Cleanup(func() { c.Close() })
	c.versions[keyHeartbeat] = versionRange{true, 0, 4}
	return c
}

func TestARoundTripAllocatesNoMoreThanTheStartOfItsWriter(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes pools forget on purpose")
	}
	c := dialEcho(t)
	to := make(chan Answer, 1)
	req := kmsg.NewPtrHeartbeatRequest()
	resp := kmsg.NewPtrHeartbeatResponse()
	ctx := t.Context()
	allocs := testing.AllocsPerRun(1000, func() {
		if err := c.Start(ctx, req, to); err != nil {
			t.Fatal(err)
		}
		a := <-to
		if err := a.Into(resp); err != nil {
			t.Fatal(err)
		}
		a.Release()
	})
	require.LessOrEqual(t, allocs, 1.0)
}

func BenchmarkRoundTrip(b *testing.B) {
	c := dialEcho(b)
	to := make(chan Answer, 1)
	req := kmsg.NewPtrHeartbeatRequest()
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Start(b.Context(), req, to); err != nil {
			b.Fatal(err)
		}
		a := <-to
		a.Release()
	}
}

func BenchmarkPipeline(b *testing.B) {
	c := dialEcho(b)
	const depth = 64
	to := make(chan Answer, depth)
	req := kmsg.NewPtrHeartbeatRequest()
	b.ReportAllocs()
	for b.Loop() {
		for range depth {
			if err := c.Start(b.Context(), req, to); err != nil {
				b.Fatal(err)
			}
		}
		for range depth {
			a := <-to
			a.Release()
		}
	}
}
