package conn

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestReleaseIsIdempotentAndTakesTheBodyAway(t *testing.T) {
	f := newFrame(8)
	a := Answer{frame: f, body: f.data[4:]}
	a.Release()
	require.Nil(t, a.Body())
	a.Release()
	one, two := newFrame(8), newFrame(8)
	require.NotSame(t, one, two, "a frame released twice is still lent once")
}

func TestTheResponseOfRequestSurvivesLaterAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		next := byte('a')
		b.On(keySync, func(kmsg.Request) kmsg.Response {
			resp := kmsg.NewPtrSyncGroupResponse()
			resp.MemberAssignment = []byte{next, next, next}
			next++
			return resp
		})
		c := connect(t, b, Config{})
		var all []*kmsg.SyncGroupResponse
		for range 3 {
			resp, err := c.Request(t.Context(), kmsg.NewPtrSyncGroupRequest())
			require.NoError(t, err)
			all = append(all, resp.(*kmsg.SyncGroupResponse))
		}
		for i, want := range []string{"aaa", "bbb", "ccc"} {
			require.Equal(t, want, string(all[i].MemberAssignment))
		}
	})
}

func TestTraceFollowsARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		b.On(keyHeartbeat, func(kmsg.Request) kmsg.Response {
			time.Sleep(time.Second)
			return kmsg.NewPtrHeartbeatResponse()
		})
		type step struct {
			Name string
			TraceInfo
		}
		steps := make(chan step, 10)
		hook := func(name string) func(TraceInfo) {
			return func(info TraceInfo) { steps <- step{name, info} }
		}
		c := connect(t, b, Config{Trace: &Trace{
			RequestStart: hook("start"),
			WriteDone:    hook("written"),
			ReadDone:     hook("read"),
			Ended:        func(addr string, cause error) { steps <- step{Name: addr + " " + cause.Error()} },
		}})
		for range 2 {
			_, err := c.Request(t.Context(), kmsg.NewPtrHeartbeatRequest())
			require.NoError(t, err)
		}
		require.NoError(t, c.Close())
		close(steps)
		var got []step
		for s := range steps {
			got = append(got, s)
		}
		base := TraceInfo{Addr: testAddr, Key: keyHeartbeat, Version: 4}
		info := func(id int32, bytes int, took time.Duration) TraceInfo {
			i := base
			i.CorrelationID, i.Bytes, i.Took = id, bytes, took
			return i
		}
		require.Equal(t, []step{
			{"start", info(0, 29, 0)},
			{"written", info(1, 29, 0)},
			{"read", info(1, 16, time.Second)},
			{"start", info(0, 29, 0)},
			{"written", info(2, 29, 0)},
			{"read", info(2, 16, time.Second)},
			{Name: "broker:9092 connection closed by this client"},
		}, got)
		require.Equal(t, "Heartbeat", base.API())
	})
}
