package client

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// What brokers say is not believed without a look at it.

// Numbers below zero stand for the addresses that the Client began with.
func TestABrokerWithANegativeIDIsNotBelieved(t *testing.T) {
	for _, id := range []int32{-1, -2, math.MinInt32} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakes(t, 1)
			f.coordinates(id, 0)
			f.change(func() {
				f.members = []int32{1, id}
				f.controller = id
			})
			cl := f.client(Config{})
			c, err := cl.fresh(t.Context(), nil)
			require.NoError(t, err)
			require.Len(t, c.brokers, 1)
			for range 10 {
				_, err = cl.fresh(t.Context(), nil)
				require.NoError(t, err)
			}
			_, _, err = cl.findCoordinator(t.Context(), "g")
			require.ErrorContains(t, err, "broker's answer")
			require.Len(t, cl.snapshot().brokers, 1)
		})
	}
}

// A broker that refuses every offset, even the one it has just named.
func TestAnOffsetThatIsRefusedAgainAndAgainIsNotAskedForWithoutAPause(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 3)
		b.answerWith(0, 1)
		c := b.open(ConsumerConfig{Reset: ResetLatest})
		b.member.assign(all(1))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Less(t, b.seen(keyFetch), 100)
		require.Less(t, b.seen(keyListOffsets), 100)
		require.Len(t, b.log.with("is not there any more"), 1, "said once")

		b.answerWith(0, 0)
		time.Sleep(2 * time.Second)
		b.write(0, 2)
		require.Len(t, soon(t, c, 2), 2, "it goes on as soon as the broker does")
	})
}

// What has arrived is not thrown away because more cannot be had: with
// ResetLatest the application would never see it.
func TestRecordsThatHaveArrivedOutliveAReset(t *testing.T) {
	for _, policy := range []Reset{ResetEarliest, ResetLatest} {
		within(t, []int32{1}, func(t *testing.T, b *bench) {
			b.write(0, 10)
			b.broker(1).On(keyFetch, func(r kmsg.Request) kmsg.Response {
				req := r.(*kmsg.FetchRequest)
				if req.Topics[0].Partitions[0].FetchOffset >= 10 {
					b.expire(0, 20)
				}
				return b.fetch(1, req)
			})
			b.member.committed[partitionKey{"t", 0}] = offsetOf(0)
			c := b.open(ConsumerConfig{Reset: policy})
			b.member.assign(all(1))
			time.Sleep(5 * time.Second) // the application is busy with something else
			require.Equal(t, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, soon(t, c, 10))
			require.NoError(t, c.Commit(t.Context()))
			require.EqualValues(t, 9, b.member.have(0))
			require.Equal(t, []int64{9}, soon(t, c, 2), "the last one was left undone")
			b.write(0, 1)
			require.Equal(t, []int64{20}, soon(t, c, 1))
		})
	}
}

// The offset that is refused is not the one that is wanted any more.
func TestARefusalOfAnOffsetThatIsNotWantedAnyMoreResetsNothing(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 2)
		b.writeBatch(0, batchWithABadRecord(), 3)
		b.write(0, 2)
		b.member.committed[partitionKey{"t", 0}] = offsetOf(0)
		refuse := true
		b.broker(1).On(keyFetch, func(r kmsg.Request) kmsg.Response {
			req := r.(*kmsg.FetchRequest)
			if req.Topics[0].Partitions[0].FetchOffset == 7 && refuse {
				refuse = false
				time.Sleep(5 * time.Second)
				b.logs.Lock()
				defer b.logs.Unlock()
				resp, _ := b.read(1, req)
				resp.Topics[0].Partitions[0].ErrorCode = 1
				return resp
			}
			return b.fetch(1, req)
		})
		c := b.open(ConsumerConfig{Reset: ResetLatest})
		b.member.assign(all(1))
		_, err := drain(t, c, "records")
		require.ErrorContains(t, err, "at offset 3")
		time.Sleep(10 * time.Second)
		require.Zero(t, b.seen(keyListOffsets))
		_, err = drain(t, c, "records")
		require.ErrorContains(t, err, "at offset 3")
	})
}
