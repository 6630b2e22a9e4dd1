package fakebroker

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const heartbeatKey = 12

func heartbeat(kmsg.Request) kmsg.Response { return kmsg.NewPtrHeartbeatResponse() }

func dial(t *testing.T, b *Broker) net.Conn {
	nc, err := b.Dial(t.Context(), "tcp", "broker:9092")
	require.NoError(t, err)
	t.Cleanup(func() { nc.Close() })
	return nc
}

func send(t *testing.T, nc net.Conn, req kmsg.Request, id int32) {
	_, err := nc.Write(kmsg.NewRequestFormatter().AppendRequest(nil, req, id))
	require.NoError(t, err)
}

func TestAnswersCarryTheCorrelationIDInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(t)
		b.On(heartbeatKey, heartbeat)
		nc := dial(t, b)
		req := kmsg.NewPtrHeartbeatRequest()
		for id := int32(7); id < 10; id++ {
			send(t, nc, req, id)
		}
		for id := byte(7); id < 10; id++ {
			answer := make([]byte, 4+4+2)
			_, err := io.ReadFull(nc, answer)
			require.NoError(t, err)
			require.Equal(t, []byte{0, 0, 0, 6, 0, 0, 0, id, 0, 0}, answer)
		}
		require.Len(t, b.Seen(heartbeatKey), 3)
	})
}

func TestHeldAnswersWaitForTheirRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(t)
		b.On(heartbeatKey, heartbeat)
		release := b.Hold(heartbeatKey)
		nc := dial(t, b)
		send(t, nc, kmsg.NewPtrHeartbeatRequest(), 1)
		read := make(chan error, 1)
		go func() {
			_, err := io.ReadFull(nc, make([]byte, 10))
			read <- err
		}()
		synctest.Wait()
		require.Empty(t, read)
		release()
		require.NoError(t, <-read)
	})
}

func TestCloseEndsConnectionsWithHeldAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(t)
		b.On(heartbeatKey, heartbeat)
		b.Hold(heartbeatKey)
		nc := dial(t, b)
		send(t, nc, kmsg.NewPtrHeartbeatRequest(), 1)
		synctest.Wait()
		b.Close()
		_, err := nc.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
		_, err = b.Dial(t.Context(), "tcp", "broker:9092")
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
	})
}

func TestScriptedAnswersWriteBytesOrHangUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(t)
		answers := []kmsg.Response{Raw([]byte("noise")), Drop()}
		b.On(heartbeatKey, func(kmsg.Request) kmsg.Response {
			next := answers[0]
			answers = answers[1:]
			return next
		})
		nc := dial(t, b)
		send(t, nc, kmsg.NewPtrHeartbeatRequest(), 1)
		send(t, nc, kmsg.NewPtrHeartbeatRequest(), 2)
		all, err := io.ReadAll(nc)
		require.NoError(t, err)
		require.Equal(t, "noise", string(all))
	})
}

func TestUnofferedApiVersionsIsAnsweredInVersionZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(t)
		for key := range int16(kmsg.MaxKey + 1) {
			b.Offer(key, 1, 0)
		}
		b.Offer(18, 0, 2)
		nc := dial(t, b)
		req := kmsg.NewPtrApiVersionsRequest()
		req.Version = 3
		req.ClientSoftwareName, req.ClientSoftwareVersion = "test", "1"
		send(t, nc, req, 1)
		answer := make([]byte, 4+4+2+4+6)
		_, err := io.ReadFull(nc, answer)
		require.NoError(t, err)
		require.Equal(t, []byte{0, 35, 0, 0, 0, 1, 0, 18, 0, 0, 0, 2}, answer[8:])
	})
}

func TestClusterRoutesByAddress(t *testing.T) {
	one, two := New(t), New(t)
	down := errors.New("cable pulled")
	two.Refuse(down)
	cluster := Cluster{"one:9092": one, "two:9092": two}

	nc, err := cluster.Dial(t.Context(), "tcp", "one:9092")
	require.NoError(t, err)
	nc.Close()
	_, err = cluster.Dial(t.Context(), "tcp", "two:9092")
	require.ErrorIs(t, err, down)
	_, err = cluster.Dial(t.Context(), "tcp", "three:9092")
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	require.Equal(t, []int{1, 1}, []int{one.Dials(), two.Dials()})
}
