package integration

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/client"
)

// Topics come and go under a group that reads whatever has their prefix.
func TestMusterReadsTheTopicsThatMatchAPattern(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	prefix, group := UniqueName(t, "topics"), UniqueName(t, "group")
	r := NewRecorder()
	pattern := func(cfg *MusterConfig) {
		cfg.Client.MetadataMaxAge = time.Second
		cfg.Consumer.Topics, cfg.Consumer.Patterns = nil, []string{regexp.QuoteMeta(prefix) + "-[a-z]"}
	}
	ann := c.MusterMember(t, r, "ann", group, "", pattern)
	bob := c.MusterMember(t, r, "bob", group, "", pattern)
	for _, m := range []*MusterMember{ann, bob} {
		awaitLog(t, m, "level=WARN", "no topic matches the patterns, waiting for one", prefix)
	}

	first, second, other := prefix+"-a", prefix+"-b", prefix+"-7"
	for _, name := range []string{first, other, second} {
		musterCreate(t, c, ann.Client, client.NewTopic{Name: name, Partitions: 2})
		c.FranzProduce(t, name, "none", spread(100, 2))
	}
	awaitShares(t, c, r, group, map[string]int{"ann": 2, "bob": 2})
	awaitReads(t, r, 200)
	require.Zero(t, countReads(r.Events(), other, 0), "the pattern matches whole names")

	_, err := ann.Client.Admin().DeleteTopics(t.Context(), first)
	require.NoError(t, err)
	awaitShares(t, c, r, group, map[string]int{"ann": 1, "bob": 1})
	for _, m := range []*MusterMember{ann, bob} {
		require.Len(t, m.Log.Lines("level=WARN", "no topic matches"), 1, "said once")
		require.Empty(t, m.Log.Lines("does not exist"))
	}
}

// Two members share a topic; one of them turns to another topic in the middle, and back.
func TestMusterChangesItsSubscriptionWhileItReads(t *testing.T) {
	t.Parallel()
	const partitions = 4
	c := Shared(t)
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	other := c.CreateTopic(t, 2)
	r := NewRecorder()
	traffic := c.Traffic(t, topic, partitions)
	ann := c.MusterMember(t, r, "ann", group, topic)
	c.MusterMember(t, r, "bob", group, topic)
	awaitShares(t, c, r, group, map[string]int{"ann": 2, "bob": 2})
	traffic.Await(t, 300)

	require.NoError(t, ann.Consumer.Subscribe([]string{other}, nil))
	awaitShares(t, c, r, group, map[string]int{"ann": 2, "bob": 4})
	traffic.Await(t, 300)

	require.NoError(t, ann.Consumer.Subscribe(nil, []string{regexp.QuoteMeta(topic)}))
	awaitShares(t, c, r, group, map[string]int{"ann": 2, "bob": 2})
	traffic.Await(t, 300)
	require.NotEmpty(t, ann.Consumer.LastRebalance().String())

	verdict := judgeAll(t, c, r, traffic.Stop(t), topic, partitions)
	require.Zero(t, verdict.Duplicates)
}
