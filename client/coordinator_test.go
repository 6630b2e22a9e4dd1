package client

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/groupmember/driver"
)

// coordinates makes every broker name node as the coordinator of every group,
// or answer with code.
func (f *fakes) coordinates(node int32, code int16) {
	for _, b := range f.all() {
		b.On(keyHeartbeat, heartbeatOK)
		b.On(keyFindCoordinator, func(req kmsg.Request) kmsg.Response {
			resp := kmsg.NewPtrFindCoordinatorResponse()
			resp.NodeID, resp.Host, resp.Port, resp.ErrorCode = node, fmt.Sprintf("b%d", node), 9092, code
			for _, group := range req.(*kmsg.FindCoordinatorRequest).CoordinatorKeys {
				c := kmsg.NewFindCoordinatorResponseCoordinator()
				c.Key, c.NodeID, c.Host, c.Port, c.ErrorCode = group, resp.NodeID, resp.Host, resp.Port, code
				resp.Coordinators = append(resp.Coordinators, c)
			}
			return resp
		})
	}
}

func TestFindWorksInEveryVersion(t *testing.T) {
	for version := range int16(7) {
		synctest.Test(t, func(t *testing.T) {
			f := newFakes(t, 2)
			f.coordinates(2, 0)
			f.broker(1).Offer(keyFindCoordinator, 0, version)
			f.broker(2).Offer(keyFindCoordinator, 0, version)
			co := f.client(Config{}).coordinator("g", t)
			code, err := co.Find(t.Context(), false)
			require.NoError(t, err)
			require.Zero(t, code)
			_, err = co.Request(t.Context(), groupmember.RouteControl, kmsg.NewPtrHeartbeatRequest())
			require.NoError(t, err)
			require.Len(t, f.broker(2).Seen(keyHeartbeat), 1)
		})
	}
}

func TestACoordinatorIsRememberedForAllOfTheClientUntilItIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 2)
		f.coordinates(2, 0)
		cl := f.client(Config{})
		one, two := cl.coordinator("g", 1), cl.coordinator("g", 2)
		find := func(co driver.Coordinator, forget bool, lookups int) {
			_, err := co.Find(t.Context(), forget)
			require.NoError(t, err)
			require.Equal(t, lookups, f.seen(keyFindCoordinator))
		}
		find(one, false, 1)
		find(two, false, 1)
		find(one, true, 2)
		f.coordinates(1, 0)
		find(two, true, 3)
		find(one, false, 3)
		find(one, true, 4)
		find(cl.coordinator("h", 1), false, 5)
	})
}

func TestForgettingAnOldCoordinatorKeepsANewerOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 2)
		f.coordinates(1, 0)
		cl := f.client(Config{})
		one, two := cl.coordinator("g", 1), cl.coordinator("g", 2)
		_, err := one.Find(t.Context(), false)
		require.NoError(t, err)
		_, err = two.Find(t.Context(), false)
		require.NoError(t, err)
		f.coordinates(2, 0)
		_, err = one.Find(t.Context(), true)
		require.NoError(t, err)
		_, err = two.Find(t.Context(), true) // means broker 1, which one has replaced already
		require.NoError(t, err)
		require.Equal(t, 2, f.seen(keyFindCoordinator))
	})
}

func TestAnErrorCodeOfFindIsHandedOnAndNotRemembered(t *testing.T) {
	for _, code := range []int16{kerr.CoordinatorNotAvailable.Code, kerr.CoordinatorLoadInProgress.Code, kerr.GroupAuthorizationFailed.Code} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakes(t, 1)
			f.coordinates(1, code)
			co := f.client(Config{}).coordinator("g", t)
			got, err := co.Find(t.Context(), false)
			require.NoError(t, err)
			require.Equal(t, code, got)
			_, err = co.Request(t.Context(), groupmember.RouteGroup, kmsg.NewPtrHeartbeatRequest())
			require.ErrorIs(t, err, errNoCoordinator)
			require.True(t, err.(interface{ Unsent() bool }).Unsent())

			f.coordinates(1, 0)
			got, err = co.Find(t.Context(), false)
			require.NoError(t, err)
			require.Zero(t, got)
		})
	}
}

func TestAHeldRequestOfTheGroupDoesNotHoldUpControl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.coordinates(1, 0)
		f.broker(1).On(14, func(kmsg.Request) kmsg.Response { return kmsg.NewPtrSyncGroupResponse() })
		co := f.client(Config{}).coordinator("g", t)
		_, err := co.Find(t.Context(), false)
		require.NoError(t, err)
		release := f.broker(1).Hold(14)
		synced := make(chan error)
		go func() {
			_, err := co.Request(t.Context(), groupmember.RouteGroup, kmsg.NewPtrSyncGroupRequest())
			synced <- err
		}()
		synctest.Wait()
		start := time.Now()
		_, err = co.Request(t.Context(), groupmember.RouteControl, kmsg.NewPtrHeartbeatRequest())
		require.NoError(t, err)
		require.Zero(t, time.Since(start))
		release()
		require.NoError(t, <-synced)
	})
}

// A dead connection drops the cached coordinator on every path that uses it.
func TestANetworkFailureForgetsTheCoordinator(t *testing.T) {
	for _, route := range []groupmember.Route{groupmember.RouteGroup, groupmember.RouteControl} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakes(t, 2)
			f.coordinates(1, 0)
			cl := f.client(Config{})
			co := cl.coordinator("g", t)
			_, err := co.Find(t.Context(), false)
			require.NoError(t, err)
			f.broker(1).Refuse(errors.New("down"))
			f.broker(1).DropConnections()
			_, err = co.Request(t.Context(), route, kmsg.NewPtrHeartbeatRequest())
			require.Error(t, err)
			f.coordinates(2, 0)
			_, err = co.Find(t.Context(), false)
			require.NoError(t, err)
			_, err = co.Request(t.Context(), route, kmsg.NewPtrHeartbeatRequest())
			require.NoError(t, err)
			require.Len(t, f.broker(2).Seen(keyHeartbeat), 1)
		})
	}
}

func TestACoordinatorThatMetadataDoesNotNameYetIsReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.add(9)
		f.coordinates(9, 0)
		co := f.client(Config{}).coordinator("g", t)
		_, err := co.Find(t.Context(), false)
		require.NoError(t, err)
		_, err = co.Request(t.Context(), groupmember.RouteGroup, kmsg.NewPtrHeartbeatRequest())
		require.NoError(t, err)
		require.Len(t, f.broker(9).Seen(keyHeartbeat), 1)
	})
}

func TestAnAnswerThatDoesNotNameTheGroupIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.broker(1).On(keyFindCoordinator, func(kmsg.Request) kmsg.Response { return kmsg.NewPtrFindCoordinatorResponse() })
		_, err := f.client(Config{}).coordinator("g", t).Find(t.Context(), false)
		require.ErrorContains(t, err, `group "g"`)
	})
}

func TestLookUpsGoToAllBrokersInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 3)
		f.coordinates(1, kerr.CoordinatorNotAvailable.Code)
		co := f.client(Config{}).coordinator("g", t)
		for range 60 {
			_, err := co.Find(t.Context(), true)
			require.NoError(t, err)
		}
		for _, b := range f.all() {
			require.NotEmpty(t, b.Seen(keyFindCoordinator), "one stale broker must not decide alone")
		}
	})
}

func TestAHeldRequestThatIsGivenUpLosesItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.coordinates(1, 0)
		f.broker(1).On(keyJoinGroup, func(kmsg.Request) kmsg.Response { return kmsg.NewPtrJoinGroupResponse() })
		co := f.client(Config{}).coordinator("g", t)
		_, err := co.Find(t.Context(), false)
		require.NoError(t, err)
		f.broker(1).Hold(keyJoinGroup)
		ctx, giveUp := context.WithCancel(t.Context())
		given := make(chan error)
		go func() {
			_, err := co.Request(ctx, groupmember.RouteGroup, kmsg.NewPtrJoinGroupRequest())
			given <- err
		}()
		synctest.Wait()
		giveUp()
		require.ErrorIs(t, <-given, context.Canceled)

		soon, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = co.Request(soon, groupmember.RouteGroup, kmsg.NewPtrHeartbeatRequest())
		require.NoError(t, err, "a request behind the held one")
	})
}

func TestWhatCannotBeTriedAgainSaysSoToTheMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.coordinates(1, 0)
		f.broker(1).Offer(keyJoinGroup, 100, 101)
		cl := f.client(Config{})
		co := cl.coordinator("g", t)
		_, err := co.Find(t.Context(), false)
		require.NoError(t, err)
		kind := func() groupmember.FailureKind {
			_, err := co.Request(t.Context(), groupmember.RouteGroup, kmsg.NewPtrJoinGroupRequest())
			told, ok := errors.AsType[*driver.Error](err)
			require.True(t, ok, "%v", err)
			require.True(t, told.Unsent)
			return told.Kind
		}
		require.Equal(t, groupmember.Unsupported, kind())
		require.NoError(t, cl.Close())
		require.Equal(t, groupmember.Closed, kind())
	})
}

// The next one at that address may be a broker.
func TestAMemberTriesOnWhileSomethingElseAnswersInPlaceOfABroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.coordinates(1, 0)
		f.broker(1).Offer(keyMetadata, 100, 101)
		co := f.client(Config{}).coordinator("g", t)
		_, err := co.Find(t.Context(), false)
		told, ok := errors.AsType[*driver.Error](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, groupmember.Unreachable, told.Kind)
	})
}

// A broker answers what it was asked over a connection in order, so one that does
// not answer a commit would not answer the next one there either.
func TestACommitWithoutAnAnswerIsGivenUpWithItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.coordinates(1, 0)
		f.broker(1).On(int16(kmsg.OffsetCommit), func(kmsg.Request) kmsg.Response { return kmsg.NewPtrOffsetCommitResponse() })
		co := f.client(Config{}).coordinator("g", t)
		_, err := co.Find(t.Context(), false)
		require.NoError(t, err)
		release := f.broker(1).Hold(int16(kmsg.OffsetCommit))
		start := time.Now()
		_, err = co.Request(t.Context(), groupmember.RouteControl, kmsg.NewPtrOffsetCommitRequest())
		require.ErrorIs(t, err, errCommitUnanswered)
		require.False(t, err.(interface{ Unsent() bool }).Unsent())
		require.Equal(t, commitTimeout, time.Since(start))

		release()
		dials := f.broker(1).Dials()
		_, err = co.Find(t.Context(), true)
		require.NoError(t, err)
		_, err = co.Request(t.Context(), groupmember.RouteControl, kmsg.NewPtrOffsetCommitRequest())
		require.NoError(t, err)
		require.Equal(t, dials+1, f.broker(1).Dials(), "over another connection")
	})
}
