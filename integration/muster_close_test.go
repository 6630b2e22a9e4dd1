package integration

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
	"github.com/musterkafka/muster/client"
)

// A break leaves the current record undone, unless Done has said otherwise.
func TestMusterRestartResumesAtTheCommittedOffset(t *testing.T) {
	t.Parallel()
	const partitions, produced = 3, 3000
	c := Shared(t)
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	r := NewRecorder()
	c.FranzProduce(t, topic, "none", spread(produced, partitions))

	readSome(t, c, r, "ann", group, topic, 1000, func(*client.Consumer, *client.Record) {})
	require.Equal(t, 999, committedRecords(t, c, group))
	readSome(t, c, r, "bob", group, topic, 1000, (*client.Consumer).Done)
	require.Equal(t, 1999, committedRecords(t, c, group))
	readSome(t, c, r, "cid", group, topic, 1001, (*client.Consumer).Done)
	require.Equal(t, 3000, committedRecords(t, c, group))

	verdict := judgeAll(t, c, r, produced, topic, partitions)
	require.Equal(t, 1, verdict.Duplicates, "the one that was not done is read again")
}

// readSome reads n records as a new member, which calls last for the last of
// them, leaves the loop by a break, and closes.
func readSome(t *testing.T, c *Cluster, r *Recorder, name, group, topic string, n int, last func(*client.Consumer, *client.Record)) {
	t.Helper()
	m := c.MusterConsumer(t, r, name, group, topic)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	read := 0
	for record, err := range m.Consumer.Records(ctx) {
		require.NoError(t, err)
		r.Read(name, Partition{record.Topic, record.Partition}, record.Offset)
		if read++; read == n {
			last(m.Consumer, record)
			break
		}
	}
	require.Equal(t, n, read, "records read within a minute")
	require.NoError(t, m.Close())
}

// committedRecords returns how many records a group that began at the start
// of all partitions has done.
func committedRecords(t *testing.T, c *Cluster, group string) int {
	t.Helper()
	committed, err := c.Committed(t.Context(), group)
	require.NoError(t, err)
	sum := 0
	for _, offset := range committed {
		sum += int(offset)
	}
	return sum
}

// Ctrl-C ends the context first; the group must not wait for a session timeout
// all the same, nor may work that is done be done again.
func TestMusterCloseAfterCtrlCLeavesAndCommitsAtOnce(t *testing.T) {
	t.Parallel()
	const partitions, produced = 3, 3000
	c := Shared(t)
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	r := NewRecorder()
	c.FranzProduce(t, topic, "none", spread(produced, partitions))

	m := c.MusterConsumer(t, r, "ann", group, topic, func(cfg *MusterConfig) {
		cfg.Consumer.CommitInterval = -1
	})
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	read := 0
	for record, err := range m.Consumer.Records(ctx) {
		require.NoError(t, err)
		r.Read("ann", Partition{record.Topic, record.Partition}, record.Offset)
		if read++; read == 1000 {
			require.Equal(t, []string{"ann"}, clientIDs(t, c, group))
			interrupt()
		}
	}
	require.NoError(t, m.Consumer.Close(ctx))
	require.Empty(t, clientIDs(t, c, group))
	require.Equal(t, read, committedRecords(t, c, group))
	require.Less(t, read, produced)
}

// While the group waits for a slow member, the coordinator holds the JoinGroup
// of the others. They can leave all the same.
func TestMusterCloseWhileJoiningLeavesAtOnce(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	topic, group := c.CreateTopic(t, 2), UniqueName(t, "group")
	r := NewRecorder()
	c.FranzProduce(t, topic, "none", spread(10, 2))

	busy, idle := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(busy) })
	ann := c.MusterMember(t, r, "ann", group, topic, func(cfg *MusterConfig) {
		cfg.Body = func(*client.Record) { once(); <-idle }
		eager(cfg)
	})
	<-busy
	bob := c.MusterMember(t, r, "bob", group, topic, eager)
	require.Eventually(t, func() bool {
		return slices.Contains(clientIDs(t, c, group), "bob")
	}, time.Minute, 10*time.Millisecond)
	awaitLog(t, ann, "to=Releasing") // and there it stays, with a record in hand
	begin := time.Now()
	require.NoError(t, bob.Close())
	require.Less(t, time.Since(begin), time.Second)
	require.Equal(t, []string{"ann"}, clientIDs(t, c, group))

	close(idle)
	awaitShares(t, c, r, group, map[string]int{"ann": 2})
	verdict := judgeAll(t, c, r, 10, topic, 2)
	require.Zero(t, verdict.Duplicates)
	require.NoError(t, ann.Close())
	require.Empty(t, clientIDs(t, c, group))
}

// eager makes a member that gives everything back before it joins a round.
func eager(cfg *MusterConfig) { cfg.Consumer.Assignors = []assign.Assignor{assign.Range()} }

// clientIDs names the members of a group, by the word of the broker.
func clientIDs(t *testing.T, c *Cluster, group string) []string {
	t.Helper()
	described, err := c.Describe(t.Context(), group)
	require.NoError(t, err)
	var names []string
	for _, m := range described.Members {
		names = append(names, m.ClientID)
	}
	return names
}
