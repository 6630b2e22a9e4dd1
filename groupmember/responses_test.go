package groupmember_test

import (
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// response reads what the broker answers.
func (a arguments) response(name string) kmsg.Response {
	switch name {
	case "JoinGroup":
		return a.joinGroup()
	case "SyncGroup":
		resp := kmsg.NewPtrSyncGroupResponse()
		resp.ErrorCode = a.code("code")
		resp.ProtocolType, resp.Protocol = a.optional("type"), a.optional("protocol")
		resp.MemberAssignment = a.bytes(a.text("bytes", ""))
		return resp
	case "Heartbeat":
		resp := kmsg.NewPtrHeartbeatResponse()
		resp.ErrorCode = a.code("code")
		return resp
	case "LeaveGroup":
		resp := kmsg.NewPtrLeaveGroupResponse()
		resp.ErrorCode = a.code("code")
		if a.d.HasArg("member-code") {
			member := kmsg.NewLeaveGroupResponseMember()
			member.ErrorCode = a.code("member-code")
			resp.Members = append(resp.Members, member)
		}
		return resp
	case "OffsetCommit":
		return a.offsetCommit()
	case "TxnOffsetCommit":
		return a.txnOffsetCommit()
	case "OffsetFetch":
		return a.offsetFetch()
	case "ConsumerGroupHeartbeat":
		resp := kmsg.NewPtrConsumerGroupHeartbeatResponse()
		resp.ErrorCode = a.code("code")
		resp.MemberEpoch = int32(a.number("epoch", 0))
		return resp
	}
	require.FailNow(a.t, "no response is named "+name)
	return nil
}

// joinGroup reads members=(a,b/i): b is static, with the instance ID i. Lines of
// "member metadata" or "member metadata instance" do as well.
func (a arguments) joinGroup() kmsg.Response {
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.ErrorCode = a.code("code")
	resp.MemberID = a.text("member", "")
	resp.LeaderID = a.text("leader", "")
	resp.Generation = int32(a.number("generation", -1))
	resp.ProtocolType = a.optional("type")
	if resp.ErrorCode == 0 && !a.d.HasArg("no-protocol") {
		protocol := a.text("protocol", "range")
		resp.Protocol = &protocol
	}
	resp.SkipAssignment = a.d.HasArg("skip")
	for _, arg := range a.d.CmdArgs {
		if arg.Key != "members" {
			continue
		}
		for _, id := range arg.Vals {
			member := kmsg.NewJoinGroupResponseMember()
			id, instance, static := strings.Cut(id, "/")
			member.MemberID, member.ProtocolMetadata = id, []byte("theirs")
			if static {
				member.InstanceID = &instance
			}
			resp.Members = append(resp.Members, member)
		}
	}
	for _, fields := range a.lines() {
		member := kmsg.NewJoinGroupResponseMember()
		member.MemberID, member.ProtocolMetadata = fields[0], a.bytes(fields[1])
		if len(fields) > 2 {
			member.InstanceID = &fields[2]
		}
		resp.Members = append(resp.Members, member)
	}
	return resp
}

// offsetCommit reads lines of "topic partition code".
func (a arguments) offsetCommit() kmsg.Response {
	resp := kmsg.NewPtrOffsetCommitResponse()
	for _, fields := range a.lines() {
		require.Len(a.t, fields, 3, a.d.Pos)
		at := slices.IndexFunc(resp.Topics, func(t kmsg.OffsetCommitResponseTopic) bool { return t.Topic == fields[0] })
		if at < 0 {
			topic := kmsg.NewOffsetCommitResponseTopic()
			topic.Topic = fields[0]
			resp.Topics = append(resp.Topics, topic)
			at = len(resp.Topics) - 1
		}
		p := kmsg.NewOffsetCommitResponseTopicPartition()
		p.Partition, p.ErrorCode = int32(a.integer(fields[1])), codeNamed(a.t, fields[2])
		resp.Topics[at].Partitions = append(resp.Topics[at].Partitions, p)
	}
	return resp
}

// txnOffsetCommit reads the same.
func (a arguments) txnOffsetCommit() kmsg.Response {
	resp := kmsg.NewPtrTxnOffsetCommitResponse()
	for _, topic := range a.offsetCommit().(*kmsg.OffsetCommitResponse).Topics {
		one := kmsg.TxnOffsetCommitResponseTopic{Topic: topic.Topic}
		for _, p := range topic.Partitions {
			one.Partitions = append(one.Partitions, kmsg.TxnOffsetCommitResponseTopicPartition{Partition: p.Partition, ErrorCode: p.ErrorCode})
		}
		resp.Topics = append(resp.Topics, one)
	}
	return resp
}

// offsetFetch reads lines of "topic partition offset code", in the form of
// version 8 (groups) unless "old" is set.
func (a arguments) offsetFetch() kmsg.Response {
	resp := kmsg.NewPtrOffsetFetchResponse()
	group := kmsg.NewOffsetFetchResponseGroup()
	group.Group = a.text("group", "g")
	for _, fields := range a.lines() {
		require.Len(a.t, fields, 4, a.d.Pos)
		id, offset, code := int32(a.integer(fields[1])), a.integer(fields[2]), codeNamed(a.t, fields[3])
		p := kmsg.NewOffsetFetchResponseTopicPartition()
		p.Partition, p.Offset, p.ErrorCode = id, offset, code
		g := kmsg.NewOffsetFetchResponseGroupTopicPartition()
		g.Partition, g.Offset, g.ErrorCode = id, offset, code
		resp.Topics = append(resp.Topics, kmsg.OffsetFetchResponseTopic{Topic: fields[0], Partitions: []kmsg.OffsetFetchResponseTopicPartition{p}})
		group.Topics = append(group.Topics, kmsg.OffsetFetchResponseGroupTopic{Topic: fields[0], Partitions: []kmsg.OffsetFetchResponseGroupTopicPartition{g}})
	}
	if a.d.HasArg("old") {
		resp.ErrorCode = a.code("code")
		return resp
	}
	resp.Topics, group.ErrorCode = nil, a.code("code")
	resp.Groups = append(resp.Groups, group)
	return resp
}
