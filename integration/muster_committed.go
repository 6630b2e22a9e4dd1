package integration

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Committed returns what a group has committed, by the word of its
// coordinator: the offset to go on at, of each partition that has one.
func (c *Cluster) Committed(ctx context.Context, group string) (map[Partition]int64, error) {
	asked := kmsg.NewOffsetFetchRequestGroup()
	asked.Group = group // no topics: all of them
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Groups = []kmsg.OffsetFetchRequestGroup{asked}
	request.Group = group // to brokers before Kafka 3.0
	response, err := requestCoordinator[*kmsg.OffsetFetchResponse](ctx, c, group, request)
	if err != nil {
		return nil, fmt.Errorf("fetch the offsets of group %q: %w", group, err)
	}
	answer := oneGroup(response)
	if err := kerr.ErrorForCode(answer.ErrorCode); err != nil {
		return nil, fmt.Errorf("fetch the offsets of group %q: %w", group, err)
	}
	committed := map[Partition]int64{}
	for _, topic := range answer.Topics {
		for _, p := range topic.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, fmt.Errorf("fetch the offset of group %q in %s/%d: %w", group, topic.Topic, p.Partition, err)
			}
			committed[Partition{topic.Topic, p.Partition}] = p.Offset
		}
	}
	return committed, nil
}

// oneGroup returns the answer about the one group that was asked for, which brokers
// before Kafka 3.0 give in another form.
func oneGroup(response *kmsg.OffsetFetchResponse) kmsg.OffsetFetchResponseGroup {
	if len(response.Groups) > 0 {
		return response.Groups[0]
	}
	answer := kmsg.OffsetFetchResponseGroup{ErrorCode: response.ErrorCode}
	for _, old := range response.Topics {
		topic := kmsg.OffsetFetchResponseGroupTopic{Topic: old.Topic}
		for _, p := range old.Partitions {
			topic.Partitions = append(topic.Partitions, kmsg.OffsetFetchResponseGroupTopicPartition{
				Partition: p.Partition, Offset: p.Offset, ErrorCode: p.ErrorCode,
			})
		}
		answer.Topics = append(answer.Topics, topic)
	}
	return answer
}
