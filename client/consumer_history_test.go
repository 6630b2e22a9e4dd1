package client

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/assign"
	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/groupmember/history"
)

const keyOffsetCommit = 8

// answerGroup makes broker 1 the coordinator of a group of one. Its first heartbeat
// is answered with a rebalance.
func (b *bench) answerGroup() {
	beats, committed := 0, make(map[partitionKey]int64)
	broker := b.broker(1)
	broker.On(keyFindCoordinator, answerCoordinator)
	broker.On(keyJoinGroup, answerJoin)
	broker.On(keySyncGroup, answerSync)
	broker.On(keyLeaveGroup, func(kmsg.Request) kmsg.Response { return kmsg.NewPtrLeaveGroupResponse() })
	broker.On(keyHeartbeat, func(kmsg.Request) kmsg.Response {
		resp := kmsg.NewPtrHeartbeatResponse()
		if beats++; beats == 1 {
			resp.ErrorCode = 27 // REBALANCE_IN_PROGRESS
		}
		return resp
	})
	broker.On(keyOffsetFetch, func(req kmsg.Request) kmsg.Response {
		return answerOffsetFetch(committed, req.(*kmsg.OffsetFetchRequest).Groups[0])
	})
	broker.On(keyOffsetCommit, func(req kmsg.Request) kmsg.Response {
		return answerOffsetCommit(committed, req.(*kmsg.OffsetCommitRequest))
	})
}

func answerOffsetFetch(committed map[partitionKey]int64, asked kmsg.OffsetFetchRequestGroup) kmsg.Response {
	group := kmsg.NewOffsetFetchResponseGroup()
	group.Group = asked.Group
	for _, t := range asked.Topics {
		topic := kmsg.NewOffsetFetchResponseGroupTopic()
		topic.Topic = t.Topic
		for _, id := range t.Partitions {
			partition := kmsg.NewOffsetFetchResponseGroupTopicPartition()
			partition.Partition, partition.Offset = id, -1
			if offset, ok := committed[partitionKey{t.Topic, id}]; ok {
				partition.Offset = offset
			}
			topic.Partitions = append(topic.Partitions, partition)
		}
		group.Topics = append(group.Topics, topic)
	}
	resp := kmsg.NewPtrOffsetFetchResponse()
	resp.Groups = append(resp.Groups, group)
	return resp
}

func answerOffsetCommit(committed map[partitionKey]int64, asked *kmsg.OffsetCommitRequest) kmsg.Response {
	resp := kmsg.NewPtrOffsetCommitResponse()
	for _, t := range asked.Topics {
		topic := kmsg.NewOffsetCommitResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			committed[partitionKey{t.Topic, p.Partition}] = p.Offset
			partition := kmsg.NewOffsetCommitResponseTopicPartition()
			partition.Partition = p.Partition
			topic.Partitions = append(topic.Partitions, partition)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}

// readAll reads for a while, through a rebalance, and closes.
func (b *bench) readAll(cfg ConsumerConfig, d time.Duration) (records int) {
	b.answerGroup()
	cfg.Group, cfg.Topics = "billing", []string{"t"}
	c, err := b.client(Config{}).Consumer(cfg)
	require.NoError(b.t, err)
	ctx, cancel := context.WithTimeoutCause(b.t.Context(), d, errTestEnd)
	defer cancel()
	for _, err := range c.Records(ctx) {
		require.NoError(b.t, err)
		records++
	}
	require.NoError(b.t, c.Close(b.t.Context()))
	return records
}

// What a Consumer has recorded of its member is replayed to the same actions, to
// the member's end, eager or cooperative.
func TestHistoryOfAConsumerReplays(t *testing.T) {
	for _, assignor := range []assign.Assignor{assign.Range(), assign.CooperativeSticky()} {
		t.Run(assignor.Name(), func(t *testing.T) {
			within(t, []int32{1}, func(t *testing.T, b *bench) {
				b.write(0, 10)
				var file bytes.Buffer
				require.Equal(t, 10, b.readAll(ConsumerConfig{History: &file, Assignors: []assign.Assignor{assignor}}, 20*time.Second))

				r, err := history.NewReader(&file)
				require.NoError(t, err)
				require.Equal(t, "billing", r.Header().Config.Group)
				sent := map[string]int{}
				state := groupmember.Idle
				for step, err := range history.Replay(r) {
					require.NoError(t, err)
					state = step.State
					for _, a := range step.Actions {
						if send, ok := a.(groupmember.Send); ok {
							sent[kmsg.NameForKey(send.Req.Key())]++
						}
					}
				}
				require.Equal(t, groupmember.Exited, state)
				for _, key := range []int16{keyJoinGroup, keySyncGroup, keyHeartbeat, keyOffsetFetch, keyOffsetCommit, keyLeaveGroup} {
					name := kmsg.NameForKey(key)
					require.Equal(t, b.seen(key), sent[name], name)
					require.Positive(t, sent[name], name)
				}
				require.Equal(t, 2, sent["SyncGroup"], "there was a rebalance")
			})
		})
	}
}

// fullDisk takes a number of writes.
type fullDisk struct{ left int }

func (f *fullDisk) Write(line []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(line), nil
}

func TestHistoryThatCannotBeWrittenDoesNotStopTheConsumer(t *testing.T) {
	for left := range 4 {
		within(t, []int32{1}, func(t *testing.T, b *bench) {
			b.write(0, 10)
			var told []string
			trace := &ConsumerTrace{Error: func(err error) { told = append(told, err.Error()) }}
			require.Equal(t, 10, b.readAll(ConsumerConfig{History: &fullDisk{left: left}, Trace: trace}, 20*time.Second))
			require.Equal(t, []string{"the history of the group member ends here: no space left on device"}, told)
			require.Len(t, b.log.with("is not written any further"), 1)
		})
	}
}
