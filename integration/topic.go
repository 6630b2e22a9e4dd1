package integration

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A Partition is one partition of one topic.
type Partition struct {
	Topic  string
	Number int32
}

func (p Partition) String() string {
	return fmt.Sprintf("%s/%d", p.Topic, p.Number)
}

// Partitions returns the partitions 0 to n-1 of a topic.
func Partitions(topic string, n int32) []Partition {
	all := make([]Partition, n)
	for i := range all {
		all[i] = Partition{topic, int32(i)}
	}
	return all
}

// UniqueName returns a name for a topic, a group or a client that nobody else
// uses, with the test's name and kind ("group") in it.
func UniqueName(t testing.TB, kind string) string {
	legal := func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-", r) {
			return r
		}
		return '-'
	}
	return fmt.Sprintf("%s-%s-%08x", strings.Map(legal, t.Name()), kind, rand.Uint32())
}

// CreateTopic creates a topic with a unique name and returns that when every
// partition has a leader. Its replicas are as many as the cluster's default.
// Settings are pairs of name and value, such as "retention.ms", "1000".
func (c *Cluster) CreateTopic(t testing.TB, partitions int32, settings ...string) string {
	t.Helper()
	name := UniqueName(t, "topic")
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, -1
	for pair := range slices.Chunk(settings, 2) {
		setting := kmsg.NewCreateTopicsRequestTopicConfig()
		setting.Name, setting.Value = pair[0], &pair[1]
		topic.Configs = append(topic.Configs, setting)
	}
	request := kmsg.NewPtrCreateTopicsRequest()
	request.Topics = []kmsg.CreateTopicsRequestTopic{topic}
	response, err := request.RequestWith(t.Context(), c.admin)
	require.NoError(t, err, "create topic %s", name)
	require.NoError(t, kerr.ErrorForCode(response.Topics[0].ErrorCode), "create topic %s", name)
	c.awaitTopic(t, name, partitions)
	return name
}

// awaitTopic returns when every broker knows a leader of every partition.
func (c *Cluster) awaitTopic(t testing.TB, name string, partitions int32) {
	t.Helper()
	for _, b := range c.brokers {
		require.NoError(t, poll(t.Context(), func(ctx context.Context) error {
			return c.askLeaders(ctx, b, name, partitions)
		}))
	}
}

// askLeaders fails unless broker b knows a leader of every partition.
func (c *Cluster) askLeaders(ctx context.Context, b *broker, name string, partitions int32) error {
	if state, err := b.container.State(ctx); err != nil || !state.Running || state.Paused {
		return err // it learns of the topic when it is back
	}
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = &name
	request := kmsg.NewPtrMetadataRequest()
	request.Topics = []kmsg.MetadataRequestTopic{topic}
	response, err := c.admin.Broker(b.id).Request(ctx, request)
	if err != nil {
		return err
	}
	known := response.(*kmsg.MetadataResponse).Topics[0]
	if err := kerr.ErrorForCode(known.ErrorCode); err != nil {
		return fmt.Errorf("topic %s at broker %d: %w", name, b.id, err)
	}
	led := 0
	for _, p := range known.Partitions {
		if p.Leader >= 0 {
			led++
		}
	}
	if led != int(partitions) {
		return fmt.Errorf("topic %s at broker %d: %d of %d partitions have a leader", name, b.id, led, partitions)
	}
	return nil
}

// Ends returns the offset after the last record of each partition of a topic.
func (c *Cluster) Ends(ctx context.Context, topic string, partitions int32) (map[Partition]int64, error) {
	request := kmsg.NewPtrListOffsetsRequest()
	asked := kmsg.NewListOffsetsRequestTopic()
	asked.Topic = topic
	for i := range partitions {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = i, -1 // the end
		asked.Partitions = append(asked.Partitions, p)
	}
	request.Topics = []kmsg.ListOffsetsRequestTopic{asked}
	// One answer comes from every leader.
	ends := map[Partition]int64{}
	for _, shard := range c.admin.RequestSharded(ctx, request) {
		if shard.Err != nil {
			return nil, fmt.Errorf("list the offsets of %s: %w", topic, shard.Err)
		}
		answer, err := readEnds(shard.Resp.(*kmsg.ListOffsetsResponse))
		if err != nil {
			return nil, err
		}
		maps.Copy(ends, answer)
	}
	return ends, nil
}

func readEnds(response *kmsg.ListOffsetsResponse) (map[Partition]int64, error) {
	ends := map[Partition]int64{}
	for _, topic := range response.Topics {
		for _, p := range topic.Partitions {
			partition := Partition{topic.Topic, p.Partition}
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("list the offsets of %s: %w", partition, err)
			}
			ends[partition] = p.Offset
		}
	}
	return ends, nil
}
