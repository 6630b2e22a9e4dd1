package client

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/groupmember/driver"
	"github.com/musterkafka/muster/internal/fakebroker"
)

const (
	// roundTrip is how long the broker of a closing takes for each answer about the group.
	roundTrip = 10 * time.Millisecond
)

// closing is a Consumer with a real member, whose loop stops right after it has
// entered the state that the test wants to close it in. Broker 1 coordinates.
type closing struct {
	*bench
	c *Consumer

	generation atomic.Int32
	heartbeat  atomic.Int32 // error codes
	join, find atomic.Int32
	taken      atomic.Bool // by another member: everything is assigned away
	holding    atomic.Bool // JoinGroup and SyncGroup are held for ever, as during a rebalance that does not end
	silent     atomic.Bool // the broker answers nothing about the group any more

	mu      sync.Mutex // guards what follows
	state   groupmember.State
	visits  int           // of state until the loop stops; 0 if it does not
	reached chan struct{} // closed when the loop has stopped
	goOn    chan struct{} // closed when it may go on
}

func newClosing(t *testing.T) *closing {
	cl := &closing{bench: newBench(t, 1), reached: make(chan struct{}), goOn: make(chan struct{})}
	cl.write(0, 10)
	for key, answer := range map[int16]fakebroker.Handler{
		keyFindCoordinator: cl.answerFind,
		keyJoinGroup:       cl.answerJoin,
		keySyncGroup:       cl.answerSync,
		keyHeartbeat: func(kmsg.Request) kmsg.Response {
			resp := kmsg.NewPtrHeartbeatResponse()
			resp.ErrorCode = int16(cl.heartbeat.Load())
			return resp
		},
		keyLeaveGroup:   func(kmsg.Request) kmsg.Response { return kmsg.NewPtrLeaveGroupResponse() },
		keyOffsetFetch:  answerNoOffset,
		keyOffsetCommit: answerCommit,
	} {
		cl.broker(1).On(key, func(req kmsg.Request) kmsg.Response {
			if cl.silent.Load() {
				return nil
			}
			time.Sleep(roundTrip)
			return answer(req)
		})
	}
	return cl
}

func (cl *closing) answerFind(req kmsg.Request) kmsg.Response {
	resp := answerCoordinator(req).(*kmsg.FindCoordinatorResponse)
	resp.Coordinators[0].ErrorCode = int16(cl.find.Load())
	return resp
}

func (cl *closing) answerJoin(req kmsg.Request) kmsg.Response {
	resp := answerJoin(req).(*kmsg.JoinGroupResponse)
	if resp.ErrorCode == 0 { // a newcomer is given its ID at once
		if cl.holding.Load() {
			return nil
		}
		resp.Generation = cl.generation.Add(1)
		resp.ErrorCode = int16(cl.join.Load())
	}
	return resp
}

func (cl *closing) answerSync(req kmsg.Request) kmsg.Response {
	if cl.holding.Load() {
		return nil
	}
	if cl.taken.Load() {
		return kmsg.NewPtrSyncGroupResponse()
	}
	return answerSync(req)
}

// answerNoOffset says that nothing is committed in the only partition.
func answerNoOffset(req kmsg.Request) kmsg.Response {
	asked := req.(*kmsg.OffsetFetchRequest).Groups[0]
	part := kmsg.NewOffsetFetchResponseGroupTopicPartition()
	part.Offset = -1
	topic := kmsg.NewOffsetFetchResponseGroupTopic()
	topic.Topic, topic.TopicID = asked.Topics[0].Topic, asked.Topics[0].TopicID
	topic.Partitions = append(topic.Partitions, part)
	group := kmsg.NewOffsetFetchResponseGroup()
	group.Group, group.Topics = asked.Group, append(group.Topics, topic)
	resp := kmsg.NewPtrOffsetFetchResponse()
	resp.Groups = append(resp.Groups, group)
	return resp
}

func answerCommit(req kmsg.Request) kmsg.Response {
	resp := kmsg.NewPtrOffsetCommitResponse()
	for _, asked := range req.(*kmsg.OffsetCommitRequest).Topics {
		topic := kmsg.NewOffsetCommitResponseTopic()
		topic.Topic, topic.TopicID = asked.Topic, asked.TopicID
		for _, p := range asked.Partitions {
			part := kmsg.NewOffsetCommitResponseTopicPartition()
			part.Partition = p.Partition
			topic.Partitions = append(topic.Partitions, part)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}

// stopAt makes the member's loop stop at a visit of a state, counted from now on.
func (cl *closing) stopAt(state groupmember.State, visit int) {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	cl.state, cl.visits = state, visit
}

// action is told each action of the member.
func (cl *closing) action(a groupmember.Action) {
	moved, ok := a.(groupmember.Moved)
	if !ok {
		return
	}
	cl.mu.Lock()
	stop := cl.visits > 0 && moved.To == cl.state
	if stop {
		cl.visits--
		stop = cl.visits == 0
	}
	cl.mu.Unlock()
	if stop {
		close(cl.reached)
		<-cl.goOn
	}
}

// start makes the Consumer.
func (cl *closing) start(cfg ConsumerConfig) {
	cfg.Group, cfg.Topics, cfg.CommitInterval = "g", []string{"t"}, -1
	cfg.Trace = &ConsumerTrace{Member: &driver.Trace{Action: cl.action}}
	c, err := cl.client(Config{}).Consumer(cfg)
	require.NoError(cl.t, err)
	cl.c = c
	cl.t.Cleanup(func() { c.Close(context.Background()) })
}
