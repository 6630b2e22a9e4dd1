package integration

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Range is computed by whoever leads: first by us, then by another, and the
// broker shows the same shares.
func TestMusterSharesWithOtherClients(t *testing.T) {
	t.Parallel()
	const partitions = 12
	c := Shared(t)
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	r := NewRecorder()
	traffic := c.Traffic(t, topic, partitions)

	l := new(leaders)
	ann := c.MusterMember(t, r, "ann", group, topic, l.watch("ann"))
	awaitShares(t, c, r, group, map[string]int{"ann": 12})
	c.JavaMember(t, r, "java", group, topic)
	c.FranzMember(t, r, "franz", group, topic, kgo.Balancers(kgo.RangeBalancer()),
		kgo.SessionTimeout(sessionTimeout), kgo.HeartbeatInterval(time.Second/2))
	awaitShares(t, c, r, group, map[string]int{"ann": 4, "franz": 4, "java": 4})
	require.Equal(t, "ann", l.last())
	traffic.Await(t, 500)

	require.NoError(t, ann.Close())
	awaitShares(t, c, r, group, map[string]int{"franz": 6, "java": 6})
	planned := l.count()
	c.MusterMember(t, r, "bob", group, topic, l.watch("bob"))
	awaitShares(t, c, r, group, map[string]int{"bob": 4, "franz": 4, "java": 4})
	require.Equal(t, planned, l.count(), "bob follows")
	traffic.Await(t, 500)

	judgeAll(t, c, r, traffic.Stop(t), topic, partitions)
	again := rereads(r.Events())
	require.Zero(t, again["ann"]+again["bob"], "ours commit what they have done before they let go")
}

// rereads counts the records that were read again, by who had read them before.
func rereads(events []Event) map[string]int {
	type place struct {
		partition Partition
		offset    int64
	}
	reader, again := map[place]string{}, map[string]int{}
	for _, e := range events {
		if e.Kind != Read {
			continue
		}
		at := place{e.Partition, e.Offset}
		if before, ok := reader[at]; ok {
			again[before]++
		}
		reader[at] = e.Member
	}
	return again
}
