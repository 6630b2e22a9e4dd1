package integration

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/client"
)

// The cluster is this test's own, and it is done to it what clusters meet.
func TestMusterGroupOutlivesItsBrokers(t *testing.T) {
	t.Parallel()
	c := Start(t, Options{Brokers: 3})
	require.True(t, t.Run("the coordinator is stopped", func(t *testing.T) { coordinatorStopped(t, c) }))
	require.True(t, t.Run("a leader is killed in the middle of fetching", func(t *testing.T) { leaderKilled(t, c) }))
	require.True(t, t.Run("a leader is killed in the middle of producing", func(t *testing.T) { leaderKilledProducing(t, c) }))
}

// Members and partitions stay as they are while the group moves to another
// coordinator.
func coordinatorStopped(t *testing.T, c *Cluster) {
	const partitions = 12
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	r := NewRecorder()
	traffic := c.Traffic(t, topic, partitions)
	c.MusterMember(t, r, "ann", group, topic)
	c.MusterMember(t, r, "bob", group, topic)
	awaitShares(t, c, r, group, map[string]int{"ann": 6, "bob": 6})
	traffic.Await(t, 500)

	first := coordinator(t, c, group, 0)
	stopped := time.Since(r.begin)
	c.Stop(t, first)
	coordinator(t, c, group, first)
	awaitShares(t, c, r, group, map[string]int{"ann": 6, "bob": 6})
	traffic.Await(t, 500)
	awaitReads(t, r, traffic.Stop(t))
	for _, e := range r.Events() {
		require.False(t, e.At > stopped && e.Kind != Read, "nothing changes hands: %v", e)
	}

	// What was done went to the new coordinator, and the group is still able
	// to change.
	c.MusterMember(t, r, "cid", group, topic)
	awaitShares(t, c, r, group, map[string]int{"ann": 4, "bob": 4, "cid": 4})
	traffic = c.Traffic(t, topic, partitions)
	traffic.Await(t, 500)
	c.Start(t, first)
	traffic.Stop(t)
	verdict := judgeAll(t, c, r, total(awaitEnds(t, c, topic, partitions)), topic, partitions)
	require.Zero(t, verdict.Duplicates)
}

func leaderKilled(t *testing.T, c *Cluster) {
	const partitions, produced = 12, 60_000
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	r := NewRecorder()
	c.FranzProduce(t, topic, "none", spread(produced, partitions))

	// Small answers, so that many are still to come; and a reader that is too
	// fast waits for the broker to die.
	killed := make(chan struct{})
	reads := 0
	ann := c.MusterMember(t, r, "ann", group, topic, func(cfg *MusterConfig) {
		cfg.Consumer.FetchMaxBytes = 32 << 10
		cfg.Consumer.BufferBytes = 64 << 10
		cfg.Body = func(*client.Record) {
			if reads++; reads > produced*8/10 {
				<-killed
			}
		}
	})
	awaitReads(t, r, produced/10)
	victim := coordinator(t, c, group, 0)%3 + 1 // leads a third of the partitions, and not the group
	c.Kill(t, victim)
	close(killed)
	read := Judge(r.Events(), nil).Read
	require.Less(t, read, produced*9/10, "there is still much to fetch when the broker dies")

	verdict := judgeAll(t, c, r, produced, topic, partitions)
	require.Zero(t, verdict.Duplicates)
	require.Len(t, ann.Log.Lines("level=WARN", "cannot reach a broker"), 1, "said once, not at each try")
	c.Start(t, victim)
}

// Without idempotence a record may be written twice, but none is lost, and none
// overtakes another.
func leaderKilledProducing(t *testing.T, c *Cluster) {
	const partitions, produced = 12, 24_000
	topic := c.CreateTopic(t, partitions)
	producer := c.MusterProducer(t, client.ProducerConfig{Partitioner: client.ManualPartitioner})
	var mu sync.Mutex
	var failed error
	next := make([]int, partitions) // numbers of each partition, in the order in which they are acknowledged
	for i := range produced {
		if i == produced/4 {
			c.Kill(t, 1)
		}
		record := &client.Record{Topic: topic, Partition: int32(i % partitions), Value: []byte(strconv.Itoa(i / partitions))}
		require.NoError(t, producer.Send(t.Context(), record, func(at client.Offset, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err == nil && next[at.Partition] != i/partitions {
				err = fmt.Errorf("record %d of partition %d acknowledged in place of %d", i/partitions, at.Partition, next[at.Partition])
			}
			next[i%partitions]++
			if failed == nil {
				failed = err
			}
		}))
	}
	require.NoError(t, producer.Flush(t.Context()))
	require.NoError(t, failed)

	seen := make([]int, partitions) // distinct numbers of each partition
	for _, r := range c.FranzConsume(t, topic, partitions) {
		number, err := strconv.Atoi(r.Value)
		require.NoError(t, err)
		require.LessOrEqual(t, number, seen[r.Partition], "none is lost, none overtakes another")
		seen[r.Partition] = max(seen[r.Partition], number+1)
	}
	for partition, count := range seen {
		require.Equal(t, produced/partitions, count, "partition %d", partition)
	}
}

func total(ends map[Partition]int64) int {
	sum := 0
	for _, end := range ends {
		sum += int(end)
	}
	return sum
}
