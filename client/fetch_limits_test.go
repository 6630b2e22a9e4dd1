package client

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/internal/fakebroker"
)

// E01: brokers cut an answer at its byte limit, wherever that is.
func TestABatchThatIsCutOffComesWithTheNextAnswer(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 3)
		b.write(0, 3)
		batches := b.stored[partitionKey{"t", 0}].batches
		whole := len(batches[1].data)
		cuts := 0
		b.broker(1).On(keyFetch, func(r kmsg.Request) kmsg.Response {
			req := r.(*kmsg.FetchRequest)
			resp := b.fetch(1, req).(*kmsg.FetchResponse)
			if req.Topics[0].Partitions[0].FetchOffset < 3 {
				p := &resp.Topics[0].Partitions[0]
				p.RecordBatches = p.RecordBatches[:len(p.RecordBatches)-whole+cuts%whole]
			}
			return resp
		})
		b.member.committed[partitionKey{"t", 0}] = groupmember.Offset{Topic: "t", Next: 0}
		for ; cuts < whole; cuts++ {
			c := b.open(ConsumerConfig{CommitInterval: -1})
			b.member.assign(all(1))
			start := time.Now()
			require.Equal(t, []int64{0, 1, 2, 3, 4, 5}, offsets(read(t, c, 6)), "%d of %d bytes", cuts, whole)
			require.Zero(t, time.Since(start), "the next fetch is sent at once")
			b.member.owner.Revoke(t.Context(), all(1), true)
			b.member.done = make(chan struct{})
			require.NoError(t, c.Close(t.Context()))
			b.member.done = make(chan struct{})
		}
	})
}

// E02, KIP-74: the first batch comes whole, whatever the limits.
func TestABatchLargerThanTheLimitsIsRead(t *testing.T) {
	within(t, []int32{1, 1}, func(t *testing.T, b *bench) {
		for range 3 {
			b.write(0, 100)
			b.write(1, 100)
		}
		c := b.open(ConsumerConfig{FetchMaxPartitionBytes: 1, FetchMaxBytes: 1, BufferBytes: 1})
		b.member.assign(all(2))
		require.Len(t, read(t, c, 600), 600)
	})
}

func TestPartitionsTakeTurnsWhenAnAnswerHasNoRoomForAll(t *testing.T) {
	within(t, []int32{1, 1, 1, 1}, func(t *testing.T, b *bench) {
		for range 10 {
			for p := range int32(4) {
				b.write(p, 10)
			}
		}
		one := len(b.stored[partitionKey{"t", 0}].batches[0].data)
		c := b.open(ConsumerConfig{FetchMaxBytes: one, FetchMaxPartitionBytes: one})
		b.member.assign(all(4))
		seen := make(map[int32]int)
		for _, rec := range read(t, c, 200) {
			seen[rec.Partition]++
		}
		for p := range int32(4) {
			require.InDelta(t, 50, seen[p], 30, "partition %d of %v", p, seen)
		}
	})
}

func TestASlowApplicationDoesNotFillTheMemory(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		for range 100 {
			b.write(0, 100)
		}
		one := len(b.stored[partitionKey{"t", 0}].batches[1].data)
		c := b.open(ConsumerConfig{FetchMaxPartitionBytes: one, BufferBytes: 5 * one})
		b.member.assign(all(1))
		for range c.Records(t.Context()) {
			time.Sleep(time.Minute)
			break
		}
		require.LessOrEqual(t, b.seen(keyFetch), fetchDepth)
		c.mu.Lock()
		defer c.mu.Unlock()
		require.LessOrEqual(t, c.fetchers[1].buffered, 5*one)
	})
}

// E12: the answer to a question of an assignment that is over.
func TestAnAnswerForAnOldAssignmentIsDropped(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 10)
		b.member.committed[partitionKey{"t", 0}] = groupmember.Offset{Topic: "t", Next: 7}
		release := b.broker(1).Hold(keyFetch)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		synctest.Wait()
		require.Equal(t, 1, b.seen(keyFetch))
		b.member.owner.Revoke(t.Context(), all(1), false)
		b.member.committed[partitionKey{"t", 0}] = groupmember.Offset{Topic: "t", Next: 2}
		b.member.assign(all(1))
		synctest.Wait()
		release()
		require.Equal(t, []int64{2, 3}, offsets(read(t, c, 2)))
	})
}

func TestOldBrokersAreReadByNameAndNewOnesByID(t *testing.T) {
	for _, version := range []int16{4, 6, 7, 11, 12, 13, 17, 18} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			within(t, []int32{1}, func(t *testing.T, b *bench) {
				b.broker(1).Offer(keyFetch, 0, version)
				b.write(0, 3)
				c := b.open(ConsumerConfig{})
				b.member.assign(all(1))
				require.Len(t, read(t, c, 3), 3)
				req := b.broker(1).Seen(keyFetch)[0].(*kmsg.FetchRequest)
				require.Equal(t, min(version, fetchVersionMax), req.Version)
				require.EqualValues(t, -1, req.SessionEpoch, "E09: no session is opened")
			})
		})
	}
}

func TestAThrottledConsumerWaits(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.broker(1).On(keyFetch, func(req kmsg.Request) kmsg.Response {
			resp := b.fetch(1, req.(*kmsg.FetchRequest)).(*kmsg.FetchResponse)
			resp.ThrottleMillis = 10_000
			return resp
		})
		b.write(0, 3)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		require.Len(t, read(t, c, 3), 3)
		time.Sleep(5 * time.Second)
		require.Equal(t, 1, b.seen(keyFetch), "KIP-219")
		time.Sleep(6 * time.Second)
		require.Equal(t, 2, b.seen(keyFetch))
	})
}

func TestAnAnswerThatDoesNotParseIsRetried(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 3)
		bad := true
		b.broker(1).On(keyFetch, func(req kmsg.Request) kmsg.Response {
			if bad {
				bad = false
				return fakebroker.Raw([]byte{0, 0, 0, 9, 0, 0, 0, 0, 0, 1, 2, 3, 4})
			}
			return b.fetch(1, req.(*kmsg.FetchRequest))
		})
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		require.Len(t, read(t, c, 3), 3)
		require.False(t, bad)
	})
}
