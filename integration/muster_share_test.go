package integration

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Nobody is impolite here, so nothing may be read twice.
func TestMusterMembersShareJoinAndLeave(t *testing.T) {
	t.Parallel()
	const partitions = 12
	c := Shared(t)
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	r := NewRecorder()
	traffic := c.Traffic(t, topic, partitions)

	c.MusterMember(t, r, "ann", group, topic)
	bob := c.MusterMember(t, r, "bob", group, topic)
	awaitShares(t, c, r, group, map[string]int{"ann": 6, "bob": 6})
	traffic.Await(t, 500)

	c.MusterMember(t, r, "cid", group, topic)
	awaitShares(t, c, r, group, map[string]int{"ann": 4, "bob": 4, "cid": 4})
	traffic.Await(t, 500)

	require.NoError(t, bob.Close())
	awaitShares(t, c, r, group, map[string]int{"ann": 6, "cid": 6})
	traffic.Await(t, 500)

	verdict := judgeAll(t, c, r, traffic.Stop(t), topic, partitions)
	require.Zero(t, verdict.Duplicates)
}

// judgeAll waits until all records are read, and requires that everybody kept
// the promises of a group.
func judgeAll(t *testing.T, c *Cluster, r *Recorder, produced int, topic string, partitions int32) Verdict {
	t.Helper()
	awaitReads(t, r, produced)
	verdict := Judge(r.Events(), awaitEnds(t, c, topic, partitions))
	verdict.Require(t)
	require.Equal(t, produced, verdict.Read)
	return verdict
}

// awaitEnds asks where the partitions end until all of them say so: those of a
// broker that has died have no leader for a while.
func awaitEnds(t *testing.T, c *Cluster, topic string, partitions int32) map[Partition]int64 {
	t.Helper()
	var ends map[Partition]int64
	require.Eventually(t, func() bool {
		known, err := c.Ends(t.Context(), topic, partitions)
		ends = known
		return err == nil
	}, time.Minute, 100*time.Millisecond, "the ends of all partitions of %s are known", topic)
	return ends
}
