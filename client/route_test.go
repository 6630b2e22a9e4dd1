package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/conn"
	"github.com/musterkafka/muster/internal/fakebroker"
)

const keyListGroups = 16

func listGroupsOK(kmsg.Request) kmsg.Response { return kmsg.NewPtrListGroupsResponse() }

func TestAnyBrokerThatAnswersWillDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 3)
		f.broker(1).On(keyListGroups, func(kmsg.Request) kmsg.Response { return fakebroker.Drop() })
		f.broker(2).On(keyListGroups, listGroupsOK)
		f.broker(2).Hold(keyListGroups)
		f.broker(3).On(keyListGroups, listGroupsOK)
		cl := f.bootstrapped(Config{RequestTimeout: 30 * time.Second})
		for range 10 {
			start := time.Now()
			_, err := cl.requestAny(t.Context(), kmsg.NewPtrListGroupsRequest())
			require.NoError(t, err)
			require.Less(t, time.Since(start), 12*time.Second, "a silent broker gets a part of the time only")
		}
	})
}

func TestTheErrorOfAllBrokersNamesEachCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 2)
		cl := f.bootstrapped(Config{})
		f.broker(1).Refuse(errors.New("cable pulled"))
		f.broker(2).Refuse(errors.New("no route"))
		_, err := cl.requestAny(t.Context(), kmsg.NewPtrListGroupsRequest())
		require.ErrorContains(t, err, "ListGroups: no broker answers")
		require.ErrorContains(t, err, "cable pulled")
		require.ErrorContains(t, err, "no route")
	})
}

func TestARequestThatMayHaveArrivedIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.broker(1).On(keyHeartbeat, func(kmsg.Request) kmsg.Response { return fakebroker.Drop() })
		cl := f.bootstrapped(Config{})
		_, err := cl.requestNode(t.Context(), 1, kmsg.NewPtrHeartbeatRequest())
		require.Error(t, err)
		require.False(t, conn.Unsent(err))
		require.Len(t, f.broker(1).Seen(keyHeartbeat), 1)
	})
}

func TestTheControllerIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 3)
		refuse := func(kmsg.Request) kmsg.Response {
			resp := kmsg.NewPtrListGroupsResponse()
			resp.ErrorCode = 41
			return resp
		}
		f.broker(1).On(keyListGroups, refuse)
		f.broker(2).On(keyListGroups, refuse)
		f.broker(3).On(keyListGroups, listGroupsOK)
		cl := f.bootstrapped(Config{})
		time.AfterFunc(time.Second, func() { f.change(func() { f.controller = 2 }) })
		time.AfterFunc(5*time.Second, func() { f.change(func() { f.controller = 3 }) })
		refused := func(resp kmsg.Response) bool { return resp.(*kmsg.ListGroupsResponse).ErrorCode == 41 }
		_, err := cl.requestController(t.Context(), kmsg.NewPtrListGroupsRequest(), refused)
		require.NoError(t, err)
		require.NotEmpty(t, f.broker(1).Seen(keyListGroups))
		require.NotEmpty(t, f.broker(2).Seen(keyListGroups))
		require.Len(t, f.broker(3).Seen(keyListGroups), 1)
	})
}

func TestTheSearchForAControllerEnds(t *testing.T) {
	for name, test := range map[string]struct {
		within time.Duration
		setUp  func(*fakes)
		want   string
	}{
		"nobody is": {61 * time.Second, func(f *fakes) { f.controller = -1 }, "no answer of the cluster's controller within 1m0s"},
		"it is down": {61 * time.Second, func(f *fakes) {
			f.controller = 2
			f.broker(2).Refuse(errors.New("cable pulled"))
		}, "cable pulled"},
		"it hangs up": {time.Second, func(f *fakes) {
			f.broker(1).On(keyListGroups, func(kmsg.Request) kmsg.Response { return fakebroker.Drop() })
		}, "ListGroups"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakes(t, 2)
			test.setUp(f)
			cl := f.client(Config{})
			ctx, cancel := context.WithTimeout(t.Context(), test.within)
			defer cancel()
			_, err := cl.requestController(ctx, kmsg.NewPtrListGroupsRequest(), func(kmsg.Response) bool { return false })
			require.ErrorContains(t, err, test.want, name)
			require.NoError(t, context.Cause(ctx), name)
		})
	}
}
