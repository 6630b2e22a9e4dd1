package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Reading never stops silently: what is assigned has a question out, a time
// for the next one, or an error that waits for the application.

func TestSkipGoesOnThoughTheErrorHasComeAgainMeanwhile(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 2)
		b.write(0, 2)
		l := b.stored[partitionKey{"t", 0}]
		l.batches[0].data[len(l.batches[0].data)-1] ^= 1
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		problem, ok := errors.AsType[*PartitionError](firstError(t, c))
		require.True(t, ok)
		time.Sleep(10 * time.Second) // the application thinks; what is damaged is fetched again
		require.NoError(t, c.Skip(problem))
		require.Equal(t, []int64{2, 3}, soon(t, c, 2))
	})
}

// soon reads n records, or as many as come within two seconds.
func soon(t *testing.T, c *Consumer, n int) (got []int64) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Second, errTestEnd)
	defer cancel()
	for rec, err := range c.Records(ctx) {
		require.NoError(t, err)
		if got = append(got, rec.Offset); len(got) == n {
			break
		}
	}
	return got
}

// A member that is suspended for longer than the poll interval rests until the
// application asks. It must not take one that waits for one that is stuck.
func TestWaitingWhileSuspendedIsASignOfLife(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		b.member.owner.Suspended()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		for range c.Records(ctx) {
			require.Fail(t, "it is suspended")
		}
		require.GreaterOrEqual(t, b.member.asked, 60*60/300)
	})
}

// The back-off after an error may outlast the long poll that is under way.
func TestAnErrorComesAgainAfterItsBackoffAlone(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 2)
		b.writeBatch(0, batchWithABadRecord(), 3)
		c := b.open(ConsumerConfig{FetchMaxWait: 50 * time.Millisecond})
		b.member.assign(all(1))
		start := time.Now()
		for range 10 {
			_, err := drain(t, c, "records")
			require.Error(t, err)
		}
		require.Less(t, time.Since(start), 10*2*time.Second)
	})
}

// E17: the old leader still has the long poll when the new one takes over, and
// has nothing to say to it.
func TestALeaderThatMovesWhileAFetchIsOutIsFollowedAtOnce(t *testing.T) {
	within(t, []int32{1, 2}, func(t *testing.T, b *bench) {
		c := b.open(ConsumerConfig{FetchMaxWait: 10 * time.Second})
		b.broker(1).On(keyFetch, func(req kmsg.Request) kmsg.Response {
			time.Sleep(10 * time.Second)
			return emptyFetch(req.(*kmsg.FetchRequest))
		})
		b.member.assign(all(2))
		time.Sleep(time.Second)
		synctest.Wait()
		b.move(0, 2)
		b.write(0, 2)
		b.cl.refresh("the test has moved a leader")
		time.Sleep(10 * time.Second) // the long poll at the other broker is over
		require.Equal(t, []int64{0, 1}, soon(t, c, 2))
	})
}

// emptyFetch answers that there is nothing.
func emptyFetch(req *kmsg.FetchRequest) kmsg.Response {
	resp := kmsg.NewPtrFetchResponse()
	for _, t := range req.Topics {
		rt := kmsg.NewFetchResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			rp := kmsg.NewFetchResponseTopicPartition()
			rp.Partition = p.Partition
			rp.RecordBatches = []byte{}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}
