package integration

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/musterkafka/muster/client"
)

func TestMusterWaitsForATopicThatDoesNotExistYet(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	topic, group := UniqueName(t, "topic"), UniqueName(t, "group")
	r := NewRecorder()
	ann := c.MusterMember(t, r, "ann", group, topic)
	bob := c.MusterMember(t, r, "bob", group, topic)
	for _, m := range []*MusterMember{ann, bob} {
		awaitLog(t, m, "level=WARN", "topic does not exist, waiting for it", topic)
	}
	awaitBrokerShares(t, c, group, map[string]int{})

	musterCreate(t, c, ann.Client, client.NewTopic{Name: topic, Partitions: 2})
	awaitShares(t, c, r, group, map[string]int{"ann": 1, "bob": 1})
	c.FranzProduce(t, topic, "none", spread(100, 2))
	judgeAll(t, c, r, 100, topic, 2)
	for _, m := range []*MusterMember{ann, bob} {
		require.Len(t, m.Log.Lines("level=WARN"), 1, "said once, not at each try")
	}
}

// The member that reads two topics loses one of them under its hands.
func TestMusterGoesOnWithoutADeletedTopicAndReadsItsSuccessor(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	kept, doomed, group := c.CreateTopic(t, 2), c.CreateTopic(t, 2), UniqueName(t, "group")
	r := NewRecorder()
	ann := c.MusterMember(t, r, "ann", group, kept, func(cfg *MusterConfig) {
		cfg.Consumer.Topics = []string{kept, doomed}
	})
	c.FranzProduce(t, kept, "none", spread(100, 2))
	c.FranzProduce(t, doomed, "none", spread(100, 2))
	awaitReads(t, r, 200)

	results, err := ann.Client.Admin().DeleteTopics(t.Context(), doomed)
	require.NoError(t, err)
	require.Len(t, results, 1)
	awaitLog(t, ann, "level=WARN", "topic does not exist, waiting for it", doomed)
	awaitShares(t, c, r, group, map[string]int{"ann": 2})
	c.FranzProduce(t, kept, "none", spread(100, 2))
	awaitReads(t, r, 300)

	gone := time.Since(r.begin)
	musterCreate(t, c, ann.Client, client.NewTopic{Name: doomed, Partitions: 2})
	awaitShares(t, c, r, group, map[string]int{"ann": 4})
	c.FranzProduce(t, doomed, "none", spread(100, 2))
	require.Eventually(t, func() bool {
		return countReads(r.Events(), doomed, gone) == 100
	}, time.Minute, 10*time.Millisecond, "the new topic is read from its start")
	require.Len(t, ann.Log.Lines("level=WARN", "topic does not exist"), 1, "said once, not at each try")
}

// countReads counts the reads of a topic since a moment.
func countReads(events []Event, topic string, since time.Duration) int {
	n := 0
	for _, e := range events {
		if e.Kind == Read && e.Partition.Topic == topic && e.At >= since {
			n++
		}
	}
	return n
}

func TestMusterAdminCreatesDescribesAndDeletesTopics(t *testing.T) {
	t.Parallel()
	c := SharedThree(t)
	cl, err := client.New(client.Config{Brokers: c.Addrs()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cl.Close()) })
	admin := cl.Admin()
	plain, special := UniqueName(t, "plain"), UniqueName(t, "special")

	results, err := admin.CreateTopics(t.Context(),
		client.NewTopic{Name: plain},
		client.NewTopic{Name: special, Partitions: 5, ReplicationFactor: 2, Config: map[string]string{"retention.ms": "123456"}})
	require.NoError(t, err)
	require.Equal(t, []string{plain, special}, []string{results[0].Name, results[1].Name})
	require.NotEqual(t, results[0].ID, results[1].ID)

	var described []client.TopicDescription
	require.EventuallyWithT(t, func(collect *assert.CollectT) {
		var err error
		described, err = admin.DescribeTopics(t.Context(), special, plain)
		require.NoError(collect, err)
	}, time.Minute, 10*time.Millisecond)
	require.Equal(t, results[1].ID, described[0].ID)
	require.Len(t, described[0].Partitions, 5)
	for i, p := range described[0].Partitions {
		require.Equal(t, int32(i), p.ID)
		require.Len(t, p.Replicas, 2)
		require.ElementsMatch(t, p.Replicas, p.ISR)
		require.Contains(t, p.Replicas, p.Leader)
		require.Empty(t, p.Offline)
	}
	require.Equal(t, results[0].ID, described[1].ID)
	require.Len(t, described[1].Partitions, 1)
	require.Len(t, described[1].Partitions[0].Replicas, 3)
	require.False(t, described[1].Internal)

	_, err = admin.DeleteTopics(t.Context(), plain, special)
	require.NoError(t, err)
	require.EventuallyWithT(t, func(collect *assert.CollectT) {
		described, err := admin.DescribeTopics(t.Context(), plain, special)
		require.ErrorIs(collect, err, kerr.UnknownTopicOrPartition)
		require.ErrorIs(collect, described[0].Err, kerr.UnknownTopicOrPartition)
		require.ErrorIs(collect, described[1].Err, kerr.UnknownTopicOrPartition)
	}, time.Minute, 10*time.Millisecond)
}

func TestMusterAdminSaysWhatIsWrongWithEachTopic(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	there := c.CreateTopic(t, 1)
	absent, fine := UniqueName(t, "absent"), UniqueName(t, "fine")
	cl, err := client.New(client.Config{Brokers: c.Addrs()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cl.Close()) })
	admin := cl.Admin()

	results, err := admin.CreateTopics(t.Context(),
		client.NewTopic{Name: there},
		client.NewTopic{Name: fine},
		client.NewTopic{Name: "no/slashes"},
		client.NewTopic{Name: absent, ReplicationFactor: 3})
	require.Error(t, err)
	require.ErrorIs(t, results[0].Err, kerr.TopicAlreadyExists)
	require.NoError(t, results[1].Err)
	require.ErrorIs(t, results[2].Err, kerr.InvalidTopicException)
	require.ErrorIs(t, results[3].Err, kerr.InvalidReplicationFactor)
	for i, name := range []string{there, "", "no/slashes", absent} {
		if name != "" {
			require.ErrorContains(t, results[i].Err, name)
			require.ErrorIs(t, err, results[i].Err)
		}
	}

	results, err = admin.DeleteTopics(t.Context(), absent, fine)
	require.ErrorIs(t, err, kerr.UnknownTopicOrPartition)
	require.ErrorIs(t, results[0].Err, kerr.UnknownTopicOrPartition)
	require.NoError(t, results[1].Err)
}

// musterCreate creates a topic with our Admin and returns when every broker
// knows it.
func musterCreate(t *testing.T, c *Cluster, cl *client.Client, topic client.NewTopic) {
	t.Helper()
	results, err := cl.Admin().CreateTopics(t.Context(), topic)
	require.NoError(t, err)
	require.Equal(t, topic.Name, results[0].Name)
	require.NotZero(t, results[0].ID)
	c.awaitTopic(t, topic.Name, topic.Partitions)
}

func awaitLog(t *testing.T, m *MusterMember, parts ...string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(m.Log.Lines(parts...)) > 0 },
		time.Minute, 10*time.Millisecond, "a line with %q in the log of %s", parts, m.name)
}
