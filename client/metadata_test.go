package client

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestNewAndCloseTouchNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		cl := f.client(Config{})
		require.Zero(t, cl.snapshot().number)
		require.NoError(t, cl.Close())
		require.NoError(t, cl.Close())
		require.Zero(t, f.dials())
	})
}

func TestTheFirstRequestAsksForBrokersOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 2)
		cl := f.client(Config{})
		c, err := cl.await(t.Context(), anyCluster)
		require.NoError(t, err)
		require.Len(t, c.brokers, 2)
		seen := f.broker(1).Seen(keyMetadata)
		require.Len(t, seen, 1)
		req := seen[0].(*kmsg.MetadataRequest)
		require.NotNil(t, req.Topics)
		require.Empty(t, req.Topics)
		require.False(t, req.AllowAutoTopicCreation)
	})
}

func TestWatchedTopicsAreInOneRequestAndInTheSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.topics["a"] = topicAnswer("a", idA, 0, partitionAnswer(0, 1, 0))
		f.topics["b"] = topicAnswer("b", idB, 0, partitionAnswer(0, 1, 0))
		cl := f.client(Config{})
		defer cl.watch([]string{"b", "a"})()
		c, err := cl.await(t.Context(), func(c *cluster) bool { _, ok := c.topic("b"); return ok })
		require.NoError(t, err)
		require.Len(t, c.topics, 2)
		require.Equal(t, 1, f.seen(keyMetadata))
	})
}

func TestANewTopicIsAskedForWithoutAnybodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.topics["a"] = topicAnswer("a", idA, 0, partitionAnswer(0, 1, 0))
		cl := f.bootstrapped(Config{})
		time.Sleep(time.Minute)
		defer cl.watch([]string{"a"})()
		defer cl.watch([]string{"a"})() // not new any more
		time.Sleep(time.Second)
		require.Contains(t, cl.snapshot().topics, "a")
		require.Equal(t, 2, f.seen(keyMetadata))
	})
}

func TestATopicStaysWatchedUntilTheLastReleaseOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.topics["a"] = topicAnswer("a", idA, 0, partitionAnswer(0, 1, 0))
		cl := f.client(Config{})
		first, second := cl.watch([]string{"a"}), cl.watch([]string{"a"})
		first()
		first() // twice is once
		c, err := cl.fresh(t.Context(), nil)
		require.NoError(t, err)
		require.Contains(t, c.topics, "a")
		second()
		c, err = cl.fresh(t.Context(), nil)
		require.NoError(t, err)
		require.NotContains(t, c.topics, "a")
	})
}

func TestRefreshesAreCoalesced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		cl := f.client(Config{})
		_, err := cl.await(t.Context(), anyCluster)
		require.NoError(t, err)
		for range 1000 {
			cl.refresh("test")
		}
		time.Sleep(10 * time.Second)
		require.Equal(t, 2, f.seen(keyMetadata))
	})
}

func TestChangedIsClosedByTheNextSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		cl := f.client(Config{})
		c, err := cl.await(t.Context(), anyCluster)
		require.NoError(t, err)
		changed := cl.changed()
		cl.refresh("test")
		<-changed
		require.Greater(t, cl.snapshot().number, c.number)
	})
}

func TestMetadataIsRefreshedWhenItIsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		cl := f.client(Config{MetadataMaxAge: time.Minute})
		_, err := cl.await(t.Context(), anyCluster)
		require.NoError(t, err)
		time.Sleep(3*time.Minute + time.Second)
		require.Equal(t, 4, f.seen(keyMetadata))
	})
}

// A topic that does not exist is asked for once a second, for as long as
// somebody waits.
func TestWaitingForWhatDoesNotExistIsGentleAndEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		cl := f.client(Config{})
		defer cl.watch([]string{"a"})()
		why := errors.New("no patience")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, why)
		defer cancel()
		_, err := cl.await(ctx, func(c *cluster) bool { got, ok := c.topic("a"); return ok && got.err == 0 })
		require.ErrorIs(t, err, why)
		require.InDelta(t, 61, f.seen(keyMetadata), 4)
		require.Empty(t, f.log.with("WARN"))
	})
}

func TestAWaiterSeesATopicSoonAfterItsCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		cl := f.client(Config{})
		defer cl.watch([]string{"a"})()
		time.AfterFunc(10*time.Second, func() {
			f.change(func() { f.topics["a"] = topicAnswer("a", idA, 0, partitionAnswer(0, 1, 0)) })
		})
		start := time.Now()
		_, err := cl.await(t.Context(), func(c *cluster) bool { got, ok := c.topic("a"); return ok && got.err == 0 })
		require.NoError(t, err)
		require.Less(t, time.Since(start), 11*time.Second+time.Second/10)
	})
}

// Nobody waits in a call here, but whoever watches a topic does.
func TestAWatchedTopicIsSeenSoonAfterItsCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		cl := f.client(Config{})
		defer cl.watch([]string{"a"})()
		time.Sleep(time.Minute)
		require.InDelta(t, 61, f.seen(keyMetadata), 4)
		f.change(func() { f.topics["a"] = topicAnswer("a", idA, 0, partitionAnswer(0, 1, 0)) })
		time.Sleep(time.Second + time.Second/10)
		got, _ := cl.snapshot().topic("a")
		require.Zero(t, got.err)
		before := f.seen(keyMetadata)
		time.Sleep(time.Minute)
		require.Equal(t, before, f.seen(keyMetadata), "and then not asked for any more")
	})
}

func TestUnreachableSeedsAreReportedWithinTheBootstrapTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 0)
		cl := f.client(Config{Brokers: []string{"x:1", "y:2"}})
		start := time.Now()
		_, err := cl.await(t.Context(), anyCluster)
		require.Equal(t, 30*time.Second, time.Since(start))
		bootstrap, ok := errors.AsType[*BootstrapError](err)
		require.True(t, ok)
		require.Equal(t, "x:1", bootstrap.Attempts[0].Addr)
		require.ErrorContains(t, bootstrap.Attempts[1].Err, "connection refused")
		require.Len(t, f.log.with("cannot get metadata"), 1, "said once")

		f.place("x:1", f.add(1))
		f.change(func() { f.members = []int32{1} })
		_, err = cl.await(t.Context(), anyCluster)
		require.NoError(t, err, "the client goes on trying")
	})
}

func TestAContextThatEndsBeforeTheBootstrapSaysWhatWasTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 0)
		f.add(9).Hold(18) // accepts, and is silent
		cl := f.client(Config{Brokers: []string{"x:1", "b9:9092"}})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err := cl.requestAny(ctx, kmsg.NewPtrListGroupsRequest())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "no broker answered within 2s")
		require.ErrorContains(t, err, "connection refused")
		require.ErrorContains(t, err, "b9:9092: no answer yet")
	})
}

func TestASilentSeedDoesNotHoldUpTheNextOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.add(9).Hold(18)
		cl := f.client(Config{Brokers: []string{"b9:9092", "b1:9092"}})
		start := time.Now()
		_, err := cl.await(t.Context(), anyCluster)
		require.NoError(t, err)
		require.Equal(t, patience, time.Since(start))
	})
}

func TestABrokerThatNamesNoBrokersIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.members = nil
		time.AfterFunc(time.Second, func() { f.change(func() { f.members = []int32{1} }) })
		cl := f.client(Config{})
		c, err := cl.await(t.Context(), anyCluster)
		require.NoError(t, err)
		require.Len(t, c.brokers, 1)
	})
}

func TestSeedsAreAskedAgainWhenNoKnownBrokerIsReachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 3)
		cl := f.client(Config{Brokers: []string{"seed:9092"}})
		f.place("seed:9092", f.broker(1))
		_, err := cl.await(t.Context(), anyCluster)
		require.NoError(t, err)

		next := f.add(4) // all brokers are replaced behind the same name (KIP-899)
		f.place("seed:9092", next)
		f.change(func() { f.members, f.controller = []int32{4}, 4 })
		for id := range int32(3) {
			f.broker(id + 1).Refuse(errors.New("gone"))
			f.broker(id + 1).DropConnections()
		}
		c, err := cl.fresh(t.Context(), nil)
		require.NoError(t, err)
		require.Len(t, c.brokers, 1)
		_, ok := c.broker(4)
		require.True(t, ok)
	})
}

func TestASilentBrokerDoesNotHoldUpMetadata(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 3)
		cl := f.client(Config{Brokers: []string{"b3:9092"}})
		_, err := cl.await(t.Context(), anyCluster)
		require.NoError(t, err)
		f.broker(1).Hold(keyMetadata)
		f.broker(2).Hold(keyMetadata)
		for range 5 {
			start := time.Now()
			_, err = cl.fresh(t.Context(), nil)
			require.NoError(t, err)
			require.LessOrEqual(t, time.Since(start), 3*patience)
		}
	})
}

func TestABrokerOfAnotherClusterIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 2)
		cl := f.client(Config{Brokers: []string{"b1:9092", "b2:9092"}})
		_, err := cl.await(t.Context(), anyCluster)
		require.NoError(t, err)
		f.broker(1).On(keyMetadata, func(req kmsg.Request) kmsg.Response {
			resp := f.metadata(req).(*kmsg.MetadataResponse)
			resp.ClusterID = new("other")
			resp.Brokers = resp.Brokers[:1]
			return resp
		})
		for range 10 {
			c, err := cl.fresh(t.Context(), nil)
			require.NoError(t, err)
			require.Equal(t, "c", c.id)
			require.Len(t, c.brokers, 2)
		}
		f.broker(2).Refuse(errors.New("down"))
		f.broker(2).DropConnections()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = cl.fresh(ctx, nil)
		require.Error(t, err)
		require.Len(t, f.log.with(`cluster \"other\"`), 1)
	})
}

func TestBrokersThatAreDownAreDialedGently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		cl := f.client(Config{})
		_, err := cl.await(t.Context(), anyCluster)
		require.NoError(t, err)
		f.broker(1).Refuse(errors.New("down"))
		f.broker(1).DropConnections()
		before := f.broker(1).Dials()
		cl.refresh("test")
		time.Sleep(5 * time.Minute)
		require.Less(t, f.broker(1).Dials()-before, 2*350)
		require.Len(t, f.log.with("WARN"), 2, "%v", f.log.with("WARN"))

		f.broker(1).Refuse(nil)
		start := time.Now()
		_, err = cl.fresh(t.Context(), nil)
		require.NoError(t, err)
		require.Less(t, time.Since(start), 3*time.Second)
	})
}

func TestCloseEndsThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 0)
		cl := f.client(Config{})
		failed := make(chan error)
		for range 3 {
			go func() {
				_, err := cl.await(t.Context(), anyCluster)
				failed <- err
			}()
		}
		synctest.Wait()
		require.NoError(t, cl.Close())
		for range 3 {
			require.ErrorIs(t, <-failed, ErrClosed)
		}
		_, err := cl.await(t.Context(), anyCluster)
		require.ErrorIs(t, err, ErrClosed)
	})
}

func TestCloseDoesNotWaitForASilentNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.broker(1).Hold(18)
		cl := f.client(Config{})
		cl.refresh("test")
		synctest.Wait()
		start := time.Now()
		require.NoError(t, cl.Close())
		require.Zero(t, time.Since(start))
	})
}

func TestASilentSeedHasItsCauseWithinAShortBootstrapTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.broker(1).Hold(18)
		cl := f.client(Config{BootstrapTimeout: 2 * time.Second})
		_, err := cl.await(t.Context(), anyCluster)
		require.ErrorContains(t, err, "no broker answered within 2s")
		require.ErrorContains(t, err, "ApiVersions")
		require.NotContains(t, err.Error(), "no answer yet")
	})
}

// A DialTimeout that is over names the step, not only the address.
func TestANetworkThatSwallowsEverythingIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 0)
		cl := f.client(Config{DialTimeout: time.Second})
		cl.cfg.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		_, err := cl.await(t.Context(), anyCluster)
		bootstrap, ok := errors.AsType[*BootstrapError](err)
		require.True(t, ok)
		require.Equal(t, 30*time.Second, bootstrap.Waited)
		require.ErrorContains(t, err, "b1:9092")
		require.ErrorContains(t, err, "1s")
	})
}

func TestEveryVersionOfMetadataIsUnderstood(t *testing.T) {
	for version := int16(1); version <= 13; version++ {
		synctest.Test(t, func(t *testing.T) {
			f := newFakes(t, 1)
			f.broker(1).Offer(keyMetadata, 0, version)
			f.topics["a"] = topicAnswer("a", idA, 0, partitionAnswer(0, 1, 4))
			cl := f.client(Config{})
			defer cl.watch([]string{"a", "missing"})()
			c, err := cl.await(t.Context(), func(c *cluster) bool { _, ok := c.topic("a"); return ok })
			require.NoError(t, err)
			got, _ := c.topic("a")
			require.Equal(t, []int32{1}, leaders(c, "a"))
			require.Equal(t, version >= 7, got.partitions[0].leaderEpoch == 4)
			require.Equal(t, version >= 10, got.id == idA)
			missing, _ := c.topic("missing")
			require.Equal(t, int16(unknownTopic), missing.err)
		})
	}
}
