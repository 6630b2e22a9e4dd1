package driver

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"github.com/musterkafka/muster/groupmember"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var config = groupmember.Config{Group: "g", Settle: -1}

// hold answers one API only when the context ends, and the rest healthily.
func hold(api kmsg.Key) func(context.Context, groupmember.Route, kmsg.Request) (kmsg.Response, error) {
	return func(ctx context.Context, _ groupmember.Route, req kmsg.Request) (kmsg.Response, error) {
		if kmsg.Key(req.Key()) != api {
			return nil, nil
		}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
}

// refuse answers one API with a code, and the rest healthily.
func refuse(api kmsg.Key, code *kerr.Error) func(context.Context, groupmember.Route, kmsg.Request) (kmsg.Response, error) {
	return func(_ context.Context, _ groupmember.Route, req kmsg.Request) (kmsg.Response, error) {
		if kmsg.Key(req.Key()) != api {
			return nil, nil
		}
		resp := req.ResponseKind()
		switch resp := resp.(type) {
		case *kmsg.JoinGroupResponse:
			resp.ErrorCode = code.Code
		case *kmsg.HeartbeatResponse:
			resp.ErrorCode = code.Code
		}
		return resp, nil
	}
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestMemberHeartbeatsEveryInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(world)
		g := Start(config, w.ports())
		time.Sleep(61 * time.Second)
		synctest.Wait()
		requireState(t, g, groupmember.Stable)
		require.Equal(t, 20, w.asked("Heartbeat"))
		require.NoError(t, g.Leave(within(t, time.Second), "done", false))
		require.Equal(t, 1, w.asked("LeaveGroup"))
		require.NoError(t, g.Err())
		require.Equal(t, []string{"assigned", "revoke", "released"}, w.owner())
	})
}

func TestTrustedFollowsTheHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(world)
		g := Start(config, w.ports())
		require.Zero(t, g.Trusted())
		begin := time.Now()
		synctest.Wait()
		require.Equal(t, begin.Add(45*time.Second-4500*time.Millisecond), g.Trusted())
		time.Sleep(4 * time.Second)
		synctest.Wait()
		require.Equal(t, begin.Add(3*time.Second+45*time.Second-4500*time.Millisecond), g.Trusted())
		require.NoError(t, g.Leave(within(t, time.Second), "done", false))
	})
}

func TestSilentCoordinatorSuspendsTheOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(world)
		var silent atomic.Bool
		w.request = func(context.Context, groupmember.Route, kmsg.Request) (kmsg.Response, error) {
			if silent.Load() {
				return nil, &net.OpError{Op: "read", Err: errors.New("connection reset")}
			}
			return nil, nil
		}
		g := Start(config, w.ports())
		synctest.Wait()
		silent.Store(true)
		time.Sleep(40*time.Second + 499*time.Millisecond)
		synctest.Wait()
		require.Equal(t, []string{"assigned"}, w.owner())
		time.Sleep(time.Millisecond)
		synctest.Wait()
		require.Equal(t, []string{"assigned", "suspended"}, w.owner())
		_, err := g.Commit(t.Context(), oneOffset)
		requireKind(t, err, groupmember.Suspect)

		silent.Store(false)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"assigned", "suspended", "resumed"}, w.owner())
		require.Equal(t, int32(1), g.Status().Generation)
		require.NoError(t, g.Leave(within(t, time.Second), "done", false))
	})
}

func requireKind(t *testing.T, err error, kind groupmember.FailureKind) {
	t.Helper()
	var failure *Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, kind.String(), failure.Kind.String())
}

func TestLeaveWithinContextOnABrokerThatNeverAnswers(t *testing.T) {
	for _, api := range []kmsg.Key{kmsg.JoinGroup, kmsg.SyncGroup, kmsg.LeaveGroup} {
		t.Run(api.Name(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{request: hold(api)}
				g := Start(config, w.ports())
				time.Sleep(time.Second)
				begin := time.Now()
				err := g.Leave(within(t, 5*time.Second), "done", false)
				if api == kmsg.SyncGroup { // the ID is known, and LeaveGroup takes another connection
					require.NoError(t, err)
					require.Zero(t, time.Since(begin))
					require.Equal(t, 1, w.asked("LeaveGroup"))
					return
				}
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, 5*time.Second, time.Since(begin))
				<-g.Done()
			})
		})
	}
}

func TestLeaveBeforeACoordinatorIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{find: func(ctx context.Context) (int16, error) {
			<-ctx.Done()
			return 0, context.Cause(ctx)
		}}
		g := Start(config, w.ports())
		time.Sleep(time.Second)
		require.NoError(t, g.Leave(within(t, 5*time.Second), "done", false))
		require.Empty(t, w.owner())
	})
}

func TestLeaveDoesNotWaitForAnAssignorThatNeverReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		w := &world{plan: func(context.Context) ([]groupmember.Assignment, error) {
			<-stuck
			return nil, nil
		}}
		g := Start(config, w.ports())
		time.Sleep(time.Second)
		begin := time.Now()
		err := g.Leave(within(t, 5*time.Second), "done", false)
		requireKind(t, err, groupmember.TimedOut)
		require.Equal(t, 6*time.Second, time.Since(begin))
		require.Equal(t, 1, w.asked("LeaveGroup"))
		close(stuck)
		<-g.Done()
	})
}

func TestLeaveTwiceWaitsForTheSameEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := Start(config, new(world).ports())
		synctest.Wait()
		first := make(chan error, 1)
		go func() { first <- g.Leave(within(t, time.Second), "done", false) }()
		require.NoError(t, g.Leave(within(t, time.Second), "done", false))
		require.NoError(t, <-first)
		require.NoError(t, g.Leave(within(t, time.Second), "done", false))
	})
}

func TestCommitAndLookUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := Start(config, new(world).ports())
		synctest.Wait()
		results, err := g.Commit(t.Context(), oneOffset)
		require.NoError(t, err)
		require.Equal(t, []groupmember.OffsetResult{{Offset: oneOffset[0]}}, results)
		results, err = g.LookUp(t.Context(), groupmember.Partitions{"orders": {0}})
		require.NoError(t, err)
		require.Equal(t, int64(7), results[0].Offset.Next)
		require.NoError(t, g.Leave(within(t, time.Second), "done", false))
		_, err = g.Commit(t.Context(), oneOffset)
		requireKind(t, err, groupmember.Closed)
	})
}

func TestCommitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{request: hold(kmsg.OffsetCommit)}
		g := Start(config, w.ports())
		synctest.Wait()
		enough := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(2*time.Second, func() { cancel(enough) })
		_, err := g.Commit(ctx, oneOffset)
		require.ErrorIs(t, err, enough)
		requireState(t, g, groupmember.Stable)
		require.NoError(t, g.Leave(within(t, time.Second), "done", false))
	})
}

func TestOwnerMayCommitWhileItLetsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(world)
		var g *Group
		w.revoke = func(ctx context.Context, _ groupmember.Partitions, lost bool) {
			time.Sleep(10 * time.Second)
			_, err := g.Commit(ctx, oneOffset)
			if err != nil || lost {
				w.note(&w.told, "commit failed")
			}
		}
		g = Start(config, w.ports())
		synctest.Wait()
		g.Rejoin("subscription has changed")
		time.Sleep(11 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"assigned", "revoke", "released", "assigned"}, w.owner())
		require.Equal(t, 3, w.asked("Heartbeat"), "heartbeats go on while the application lets go")
		require.NoError(t, g.Leave(within(t, time.Minute), "done", false))
	})
}

func TestLossCancelsTheRevokeThatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(world)
		var expelled atomic.Bool
		w.request = func(ctx context.Context, route groupmember.Route, req kmsg.Request) (kmsg.Response, error) {
			if expelled.Load() {
				return refuse(kmsg.Heartbeat, kerr.UnknownMemberID)(ctx, route, req)
			}
			return nil, nil
		}
		w.revoke = func(ctx context.Context, _ groupmember.Partitions, lost bool) {
			if !lost {
				<-ctx.Done()
			}
		}
		g := Start(config, w.ports())
		synctest.Wait()
		g.Rejoin("subscription has changed")
		synctest.Wait()
		require.Equal(t, []string{"assigned", "revoke"}, w.owner())
		expelled.Store(true)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"assigned", "revoke", "suspended", "released", "lost", "released", "assigned"}, w.owner())
		expelled.Store(false)
		require.ErrorIs(t, g.Leave(within(t, time.Second), "done", false), context.DeadlineExceeded, "the application does not let go")
	})
}

func TestPanicInAnAssignorIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{plan: func(context.Context) ([]groupmember.Assignment, error) { panic("no idea") }}
		g := Start(config, w.ports())
		<-g.Done()
		requireKind(t, g.Err(), groupmember.Rejected)
		require.ErrorContains(t, g.Err(), "no idea")
		require.Equal(t, 3, w.asked("JoinGroup"))
		require.Equal(t, 3, w.asked("LeaveGroup"), "the group is told each time")
	})
}

func TestRefusalUnwrapsToTheBrokersCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{request: refuse(kmsg.JoinGroup, kerr.GroupAuthorizationFailed)}
		g := Start(config, w.ports())
		<-g.Done()
		require.ErrorIs(t, g.Err(), kerr.GroupAuthorizationFailed)
		require.EqualError(t, g.Err(), `group membership: group "g": joining: GROUP_AUTHORIZATION_FAILED (check that the ACLs allow READ on the group)`)
		require.NoError(t, g.Leave(t.Context(), "done", false))
	})
}

func TestConfigThatIsNotValidIsDoneAtOnce(t *testing.T) {
	g := Start(groupmember.Config{}, new(world).ports())
	<-g.Done()
	require.ErrorContains(t, g.Err(), "group is empty")
	require.NoError(t, g.Leave(t.Context(), "done", false))
	_, err := g.LookUp(t.Context(), groupmember.Partitions{"orders": {0}})
	requireKind(t, err, groupmember.Closed)
	require.Equal(t, groupmember.Idle, g.Status().State)
}

func TestSignsOfLifeArePassedOnButNotEachOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		w := new(world)
		ports := w.ports()
		ports.Trace = &Trace{Event: func(ev groupmember.Event) {
			if _, ok := ev.(groupmember.Asked); ok {
				asked++
			}
		}}
		g := Start(groupmember.Config{Group: "g", PollInterval: 20 * time.Second}, ports)
		for range 100 {
			g.Asked()
			time.Sleep(100 * time.Millisecond)
		}
		synctest.Wait()
		require.InDelta(t, 10, asked, 1)
		require.Equal(t, []string{"assigned"}, w.owner())

		time.Sleep(20 * time.Second)
		synctest.Wait()
		requireState(t, g, groupmember.Resting)
		require.Equal(t, []string{"assigned", "lost", "released"}, w.owner())
		g.Asked()
		synctest.Wait()
		requireState(t, g, groupmember.Stable)
		require.NoError(t, g.Leave(within(t, time.Second), "done", false))
	})
}

func TestAskedDoesNotAllocate(t *testing.T) {
	g := Start(groupmember.Config{Group: "g", PollInterval: time.Hour}, new(world).ports())
	require.Zero(t, testing.AllocsPerRun(100, g.Asked))
	require.NoError(t, g.Leave(t.Context(), "done", false))
}

func TestWhoGivesUpACommitInATransactionWithdrawsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(world)
		var loading atomic.Bool
		loading.Store(true)
		w.request = func(_ context.Context, _ groupmember.Route, req kmsg.Request) (kmsg.Response, error) {
			resp, ok := req.ResponseKind().(*kmsg.TxnOffsetCommitResponse)
			if !ok {
				return nil, nil
			}
			p := kmsg.TxnOffsetCommitResponseTopicPartition{Partition: 0}
			if loading.Load() {
				p.ErrorCode = kerr.CoordinatorLoadInProgress.Code
			}
			resp.Topics = []kmsg.TxnOffsetCommitResponseTopic{{Topic: "orders", Partitions: []kmsg.TxnOffsetCommitResponseTopicPartition{p}}}
			return resp, nil
		}
		g := Start(config, w.ports())
		synctest.Wait()
		producer := groupmember.Producer{TransactionalID: "t", ID: 7}
		_, err := g.CommitInTransaction(within(t, 10*time.Second), producer, oneOffset)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		synctest.Wait()
		tries := w.asked("TxnOffsetCommit")
		require.Greater(t, tries, 5)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, tries, w.asked("TxnOffsetCommit"), "nothing more is sent")

		loading.Store(false)
		results, err := g.CommitInTransaction(t.Context(), producer, oneOffset)
		require.NoError(t, err)
		require.Equal(t, []groupmember.OffsetResult{{Offset: oneOffset[0]}}, results)
		require.NoError(t, g.Leave(within(t, time.Second), "done", false))
	})
}
