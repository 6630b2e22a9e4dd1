package groupmember_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// turn is one event and what shall be done about it.
type turn struct {
	event   groupmember.Event
	actions []groupmember.Action
}

// The vocabulary holds for KIP-848 too: a whole conversation is written in it,
// and reads as in testdata/next. No member speaks it yet.
func TestVocabularyHoldsForTheConsumerProtocol(t *testing.T) {
	var text strings.Builder
	for _, turn := range consumerProtocol() {
		text.WriteString(groupmember.DescribeEvent(turn.event) + "\n")
		for _, a := range turn.actions {
			text.WriteString("    " + groupmember.DescribeAction(a) + "\n")
		}
	}
	want, err := os.ReadFile(filepath.Join("testdata", "next", "consumer.txt"))
	require.NoError(t, err)
	_, lines, _ := strings.Cut(string(want), "\n\n") // after the comment
	require.Equal(t, lines, text.String())
}

func TestMemberSpeaksTheConsumerProtocol(t *testing.T) {
	t.Skip("KIP-848 is not spoken yet")
	member, err := groupmember.New(groupmember.Config{Group: "g"})
	require.NoError(t, err)
	for _, turn := range consumerProtocol() {
		require.Equal(t, turn.actions, member.Step(epoch, turn.event, nil), groupmember.DescribeEvent(turn.event))
	}
}

var orders, payments = [16]byte{0xaa}, [16]byte{0xbb}

// consumerProtocol is a member's life: it joins, is given two partitions, gives
// one back and acknowledges, is fenced, comes back, commits and leaves. IDs of
// topics are resolved one at a time, which tells which name belongs to which.
func consumerProtocol() []turn {
	return []turn{
		{groupmember.Start{}, []groupmember.Action{groupmember.Find{Seq: 1}}},
		{groupmember.Found{Seq: 1}, []groupmember.Action{groupmember.Encode{Seq: 2, Generation: -1}}},
		{
			groupmember.Encoded{Seq: 2, Subscription: groupmember.Subscription{Topics: []string{"orders"}, Pattern: "pay.*", Rack: "a"}},
			[]groupmember.Action{beat(3, 0, func(req *kmsg.ConsumerGroupHeartbeatRequest) {
				pattern, rack := "pay.*", "a"
				req.RebalanceTimeoutMillis = 300000
				req.SubscribedTopicNames, req.SubscribedTopicRegex, req.RackID = []string{"orders"}, &pattern, &rack
				req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{} // empty, not null
			})},
		},
		{
			beaten(3, 4, orders, 0, 1),
			[]groupmember.Action{groupmember.Resolve{Seq: 4, Topics: []groupmember.TopicID{{ID: orders, Partitions: []int32{0, 1}}}}},
		},
		{
			groupmember.Decoded{Seq: 4, Partitions: groupmember.Partitions{"orders": {0, 1}}},
			[]groupmember.Action{
				groupmember.Assigned{Generation: 4, Added: groupmember.Partitions{"orders": {0, 1}}, Owned: groupmember.Partitions{"orders": {0, 1}}},
				beat(5, 4, owning(orders, 0, 1)),
			},
		},
		{groupmember.Replied{Seq: 5, Resp: heartbeaten(4)}, nil},
		{groupmember.Elapsed{}, []groupmember.Action{beat(6, 4, nil)}},
		{
			beaten(6, 4, orders, 0),
			[]groupmember.Action{groupmember.Resolve{Seq: 7, Topics: []groupmember.TopicID{{ID: orders, Partitions: []int32{0}}}}},
		},
		{
			groupmember.Decoded{Seq: 7, Partitions: groupmember.Partitions{"orders": {0}}},
			[]groupmember.Action{groupmember.Revoke{Seq: 8, Partitions: groupmember.Partitions{"orders": {1}}}},
		},
		{
			groupmember.Released{Seq: 8},
			[]groupmember.Action{
				groupmember.Assigned{Generation: 4, Owned: groupmember.Partitions{"orders": {0}}},
				beat(9, 4, owning(orders, 0)),
			},
		},
		{
			groupmember.Replied{Seq: 9, Resp: refusedBeat(110)}, // FENCED_MEMBER_EPOCH
			[]groupmember.Action{groupmember.Revoke{Seq: 10, Partitions: groupmember.Partitions{"orders": {0}}, Lost: true}},
		},
		{groupmember.Released{Seq: 10}, []groupmember.Action{groupmember.Encode{Seq: 11, Generation: -1}}},
		{
			groupmember.Encoded{Seq: 11, Subscription: groupmember.Subscription{Topics: []string{"orders"}}},
			[]groupmember.Action{beat(12, 0, func(req *kmsg.ConsumerGroupHeartbeatRequest) {
				req.RebalanceTimeoutMillis, req.SubscribedTopicNames = 300000, []string{"orders"}
				req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{}
			})},
		},
		{
			beaten(12, 9, payments, 5),
			[]groupmember.Action{groupmember.Resolve{Seq: 13, Topics: []groupmember.TopicID{{ID: payments, Partitions: []int32{5}}}}},
		},
		{ // the broker's assignment is the truth, known to our metadata or not
			groupmember.Decoded{Seq: 13, Failure: groupmember.Failure{Kind: groupmember.Rejected, Text: "topic ID not known yet"}},
			nil,
		},
		{
			groupmember.Elapsed{},
			[]groupmember.Action{groupmember.Resolve{Seq: 14, Topics: []groupmember.TopicID{{ID: payments, Partitions: []int32{5}}}}},
		},
		{
			groupmember.Decoded{Seq: 14, Partitions: groupmember.Partitions{"payments": {5}}},
			[]groupmember.Action{
				groupmember.Assigned{Generation: 9, Added: groupmember.Partitions{"payments": {5}}, Owned: groupmember.Partitions{"payments": {5}}},
				beat(15, 9, owning(payments, 5)),
			},
		},
		{groupmember.Leave{Why: "consumer closed"}, []groupmember.Action{
			groupmember.Revoke{Seq: 16, Partitions: groupmember.Partitions{"payments": {5}}},
		}},
		{groupmember.Released{Seq: 16}, []groupmember.Action{beat(17, -1, nil)}},
		{groupmember.Replied{Seq: 17, Resp: heartbeaten(-1)}, []groupmember.Action{groupmember.Exit{}}},
	}
}

func beat(seq groupmember.Seq, epoch int32, change func(*kmsg.ConsumerGroupHeartbeatRequest)) groupmember.Action {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Group, req.MemberID, req.MemberEpoch = "g", "m-1", epoch
	if change != nil {
		change(req)
	}
	return groupmember.Send{Seq: seq, Route: groupmember.RouteGroup, Req: req}
}

// owning acknowledges an assignment by the complete list of what is owned.
func owning(id [16]byte, partitions ...int32) func(*kmsg.ConsumerGroupHeartbeatRequest) {
	return func(req *kmsg.ConsumerGroupHeartbeatRequest) {
		req.Topics = []kmsg.ConsumerGroupHeartbeatRequestTopic{{TopicID: id, Partitions: partitions}}
	}
}

func heartbeaten(epoch int32) *kmsg.ConsumerGroupHeartbeatResponse {
	resp := kmsg.NewPtrConsumerGroupHeartbeatResponse()
	resp.MemberEpoch, resp.HeartbeatIntervalMillis = epoch, 5000
	return resp
}

func refusedBeat(code int16) *kmsg.ConsumerGroupHeartbeatResponse {
	resp := heartbeaten(0)
	resp.ErrorCode = code
	return resp
}

// beaten brings an assignment.
func beaten(seq groupmember.Seq, epoch int32, id [16]byte, partitions ...int32) groupmember.Event {
	resp := heartbeaten(epoch)
	resp.Assignment = &kmsg.ConsumerGroupHeartbeatResponseAssignment{
		Topics: []kmsg.ConsumerGroupHeartbeatResponseAssignmentTopic{{TopicID: id, Partitions: partitions}},
	}
	return groupmember.Replied{Seq: seq, Resp: resp}
}
