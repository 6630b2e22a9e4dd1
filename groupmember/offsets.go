package groupmember

import "github.com/twmb/franz-go/pkg/kmsg"

// fetchedOffsets reads either form of the answer: the code of the whole, and
// the outcome by partition.
func fetchedOffsets(resp *kmsg.OffsetFetchResponse, group string) (int16, map[partition]OffsetResult) {
	found := make(map[partition]OffsetResult)
	code := resp.ErrorCode
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			found[partition{t.Topic, p.Partition}] = fetchedOffset(t.Topic, p.Partition, p.Offset, p.LeaderEpoch, p.Metadata, p.ErrorCode)
		}
	}
	for _, g := range resp.Groups { // version 8 and up (KIP-709)
		if g.Group != group {
			continue
		}
		code = g.ErrorCode
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				found[partition{t.Topic, p.Partition}] = fetchedOffset(t.Topic, p.Partition, p.Offset, p.LeaderEpoch, p.Metadata, p.ErrorCode)
			}
		}
	}
	return code, found
}

// fetchedOffset makes "nothing committed" of every negative offset that came
// without an error, since some brokers let clients store those.
func fetchedOffset(topic string, id int32, next int64, epoch int32, metadata *string, code int16) OffsetResult {
	result := OffsetResult{Offset: noOffset(topic, id), Code: code}
	if code == 0 && next >= 0 {
		result.Offset.Next, result.Offset.LeaderEpoch = next, epoch
		if metadata != nil {
			result.Offset.Metadata = *metadata
		}
	}
	return result
}

func noOffset(topic string, id int32) Offset {
	return Offset{Topic: topic, Partition: id, Next: -1, LeaderEpoch: -1}
}
