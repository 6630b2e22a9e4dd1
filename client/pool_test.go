package client

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/conn"
)

// bootstrapped returns a client of f that has its first metadata. The seed's
// connection is gone by then.
func (f *fakes) bootstrapped(cfg Config) *Client {
	cl := f.client(cfg)
	_, err := cl.await(f.t.Context(), anyCluster)
	require.NoError(f.t, err)
	synctest.Wait()
	return cl
}

func TestEachClassAndOwnerHasAConnectionOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		cl := f.bootstrapped(Config{})
		one, two := new(int), new(int)
		keys := []connKey{
			{1, classControl, nil},
			{1, classProduce, nil},
			{1, classGroup, one},
			{1, classGroup, two},
			{1, classFetch, one},
		}
		seen := make(map[*conn.Conn]bool)
		for range 2 {
			for _, k := range keys {
				c, err := cl.conn(t.Context(), k.node, k.class, k.owner)
				require.NoError(t, err)
				seen[c] = true
			}
		}
		require.Len(t, seen, len(keys))
		require.Equal(t, 1+len(keys), f.dials(), "and one for the seed")
	})
}

func TestSeedsAreLetGoOnceTheClusterIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended []string
		f := newFakes(t, 1)
		f.bootstrapped(Config{Trace: &Trace{Conn: &conn.Trace{
			Ended: func(addr string, _ error) { ended = append(ended, addr) },
		}}})
		require.Equal(t, []string{"b1:9092"}, ended)
	})
}

func TestAConnectionThatComesAfterItsOwnerHasGoneIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		cl := f.bootstrapped(Config{})
		gate := make(chan struct{})
		var late *conn.Conn
		cl.pool.dial = func(_ context.Context, addr string, _ *conn.Trace) (_ *conn.Conn, err error) {
			<-gate
			late, err = conn.Dial(t.Context(), addr, conn.Config{Dial: f.dial})
			return late, err
		}
		failed := make(chan error)
		go func() {
			_, err := cl.conn(t.Context(), 1, classFetch, f)
			failed <- err
		}()
		synctest.Wait()
		cl.drop(f)
		close(gate)
		require.ErrorIs(t, <-failed, errDropped)
		require.ErrorIs(t, late.Err(), conn.ErrClosed)
	})
}

func TestCallersAtTheSameTimeShareOneAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		cl := f.bootstrapped(Config{})
		before := f.dials()
		release := f.broker(1).Hold(18)
		var callers sync.WaitGroup
		for range 10 {
			callers.Go(func() {
				_, err := cl.conn(t.Context(), 1, classFetch, cl)
				require.NoError(t, err)
			})
		}
		synctest.Wait()
		release()
		callers.Wait()
		require.Equal(t, before+1, f.dials())
	})
}

func TestACallerThatGivesUpTakesNothingFromTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		cl := f.bootstrapped(Config{})
		release := f.broker(1).Hold(18)
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		time.AfterFunc(2*time.Second, release)
		done := make(chan error)
		go func() {
			_, err := cl.conn(t.Context(), 1, classControl, nil)
			done <- err
		}()
		_, err := cl.conn(ctx, 1, classControl, nil)
		require.ErrorIs(t, err, why)
		require.True(t, conn.Unsent(err))
		require.NoError(t, <-done)
	})
}

func TestAnUnreachableBrokerIsBlamedOnItsAdvertisedAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 2)
		cl := f.bootstrapped(Config{})
		f.broker(2).Refuse(errors.New("no such host"))
		for range 3 {
			_, err := cl.conn(t.Context(), 2, classProduce, nil)
			unreachable, ok := errors.AsType[*UnreachableError](err)
			require.True(t, ok)
			require.Equal(t, int32(2), unreachable.Node)
			require.Equal(t, "b2:9092", unreachable.Addr)
			require.ErrorContains(t, err, "advertised.listeners")
			require.ErrorContains(t, err, "no such host")
			require.True(t, conn.Unsent(err))
		}
		require.Len(t, f.log.with("cannot reach a broker"), 1)
		f.broker(2).Refuse(nil)
		_, err := cl.conn(t.Context(), 2, classProduce, nil)
		require.NoError(t, err)
		require.Len(t, f.log.with("can be reached again"), 1)
	})
}

func TestAttemptsInARowAreSpacedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 2)
		cl := f.bootstrapped(Config{})
		f.broker(2).Refuse(errors.New("down"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for context.Cause(ctx) == nil {
			_, err := cl.conn(ctx, 2, classProduce, nil)
			require.Error(t, err)
		}
		require.InDelta(t, 65, f.broker(2).Dials(), 10, "once a second, and quicker at first; metadata tries now and then")
	})
}

// A broker that hangs up as soon as it is asked something must not be dialed
// without a pause, although every dial succeeds.
func TestABrokerThatHangsUpIsDialedGently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 2)
		cl := f.bootstrapped(Config{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for context.Cause(ctx) == nil {
			c, err := cl.conn(ctx, 2, classProduce, nil)
			if err == nil {
				f.broker(2).DropConnections()
				<-c.Done()
			}
		}
		require.Less(t, f.broker(2).Dials(), 140)
	})
}

func TestADeadConnectionIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		cl := f.bootstrapped(Config{})
		first, err := cl.conn(t.Context(), 1, classFetch, cl)
		require.NoError(t, err)
		time.Sleep(time.Minute)
		before := f.seen(keyMetadata)
		f.broker(1).DropConnections()
		synctest.Wait()
		second, err := cl.conn(t.Context(), 1, classFetch, cl)
		require.NoError(t, err)
		require.NotSame(t, first, second)
		time.Sleep(2 * time.Second)
		require.Greater(t, f.seen(keyMetadata), before, "the leaders may have moved")
	})
}

func TestDropEndsWhatItsOwnerHasAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 2)
		cl := f.bootstrapped(Config{})
		mine, others := new(int), new(int)
		gone, err := cl.conn(t.Context(), 1, classFetch, mine)
		require.NoError(t, err)
		stays, err := cl.conn(t.Context(), 1, classFetch, others)
		require.NoError(t, err)
		f.broker(2).Hold(18)
		pending := make(chan error)
		go func() {
			_, err := cl.conn(t.Context(), 2, classGroup, mine)
			pending <- err
		}()
		synctest.Wait()
		cl.drop(mine)
		require.Error(t, <-pending)
		require.ErrorIs(t, gone.Err(), conn.ErrClosed)
		require.NoError(t, stays.Err())
		again, err := cl.conn(t.Context(), 1, classFetch, mine)
		require.NoError(t, err)
		require.NotSame(t, gone, again)
	})
}

func TestABrokerThatMovesIsReachedAtItsNewAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		cl := f.bootstrapped(Config{})
		before, err := cl.conn(t.Context(), 1, classProduce, nil)
		require.NoError(t, err)
		f.add(5)
		cl.meta.current.Store(&cluster{number: 100, brokers: map[int32]broker{1: newBroker(1, "b5", 9092, nil)}})
		after, err := cl.conn(t.Context(), 1, classProduce, nil)
		require.NoError(t, err)
		require.Equal(t, "b5:9092", after.Addr())
		require.ErrorIs(t, before.Err(), conn.ErrClosed)
	})
}

func TestABrokerOutsideTheClusterIsAnErrorAndAReasonToRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		cl := f.bootstrapped(Config{})
		_, err := cl.conn(t.Context(), 7, classProduce, nil)
		require.ErrorContains(t, err, "broker 7 is not among")
		require.True(t, conn.Unsent(err))
		time.Sleep(time.Second)
		require.Equal(t, 2, f.seen(keyMetadata))
	})
}

func TestNothingIsKeptOfBrokersThatAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		cl := f.bootstrapped(Config{})
		for id := int32(2); id < 50; id++ {
			b := f.add(id)
			f.change(func() { f.members = []int32{1, id} })
			_, err := cl.fresh(t.Context(), nil)
			require.NoError(t, err)
			_, err = cl.conn(t.Context(), id, classProduce, nil)
			require.NoError(t, err)
			b.Refuse(errors.New("gone"))
			b.DropConnections()
			synctest.Wait()
			_, err = cl.conn(t.Context(), id, classProduce, nil)
			require.Error(t, err)
		}
		f.change(func() { f.members = []int32{1} })
		_, err := cl.fresh(t.Context(), nil)
		require.NoError(t, err)
		synctest.Wait()
		require.LessOrEqual(t, len(cl.pool.slots), 2)
		require.Empty(t, cl.pool.down)
	})
}

func TestCloseFailsRequestsAndConnectionsWithErrClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.broker(1).On(keyHeartbeat, heartbeatOK)
		cl := f.bootstrapped(Config{})
		f.broker(1).Hold(keyHeartbeat)
		failed := make(chan error)
		go func() {
			_, err := cl.requestNode(t.Context(), 1, kmsg.NewPtrHeartbeatRequest())
			failed <- err
		}()
		synctest.Wait()
		require.NoError(t, cl.Close())
		require.ErrorIs(t, <-failed, ErrClosed)
		_, err := cl.conn(t.Context(), 1, classFetch, cl)
		require.ErrorIs(t, err, ErrClosed)
		_, err = cl.requestAny(t.Context(), kmsg.NewPtrListGroupsRequest())
		require.ErrorIs(t, err, ErrClosed)
	})
}

func TestTheUsersTraceHearsOfRequestsAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			mu    sync.Mutex
			ended int
			apis  = make(map[string]int)
		)
		f := newFakes(t, 1)
		cl := f.bootstrapped(Config{Trace: &Trace{Conn: &conn.Trace{
			ReadDone: func(i conn.TraceInfo) { mu.Lock(); defer mu.Unlock(); apis[i.API()]++ },
			Ended:    func(string, error) { mu.Lock(); defer mu.Unlock(); ended++ },
		}}})
		_, err := cl.conn(t.Context(), 1, classControl, nil)
		require.NoError(t, err)
		require.NoError(t, cl.Close())
		require.Equal(t, map[string]int{"Metadata": 1}, apis)
		require.Equal(t, 2, ended, "the seed's connection and the broker's")
	})
}

func TestALiveConnectionIsHandedOutWithoutAllocating(t *testing.T) {
	f := newFakes(t, 1)
	cl := f.client(Config{})
	_, err := cl.await(t.Context(), anyCluster)
	require.NoError(t, err)
	_, err = cl.conn(t.Context(), 1, classFetch, f)
	require.NoError(t, err)
	allocs := testing.AllocsPerRun(100, func() {
		if _, err := cl.conn(t.Context(), 1, classFetch, f); err != nil {
			t.Error(err)
		}
	})
	require.Zero(t, allocs)
}
