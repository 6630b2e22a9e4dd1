package groupmember

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// list writes partitions as orders[0 1] payments[2], topics ascending.
func list(p Partitions) string {
	if len(p) == 0 {
		return "none"
	}
	parts := make([]string, 0, len(p))
	for _, topic := range p.topics() {
		parts = append(parts, fmt.Sprintf("%s%v", topic, p[topic]))
	}
	return strings.Join(parts, " ")
}

func each[T any](all []T, describe func(T) string) string {
	parts := make([]string, 0, len(all))
	for _, one := range all {
		parts = append(parts, describe(one))
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func describeSubscription(s Subscription) string {
	text := "protocols=" + each(s.Protocols, func(p Protocol) string { return fmt.Sprintf("%s:%q", p.Name, p.Metadata) })
	if len(s.Topics) > 0 {
		text += fmt.Sprintf(" topics=%v", s.Topics)
	}
	if s.Pattern != "" {
		text += fmt.Sprintf(" pattern=%q", s.Pattern)
	}
	if s.Rack != "" {
		text += " rack=" + s.Rack
	}
	return text
}

func describeAssignments(all []Assignment) string {
	return each(all, func(a Assignment) string { return fmt.Sprintf("%s:%q", a.MemberID, a.Bytes) })
}

func describeComposition(c Composition) string {
	var text strings.Builder
	for _, topic := range slices.Sorted(maps.Keys(c.Partitions)) {
		text.WriteString(fmt.Sprintf(" %s:%d", topic, c.Partitions[topic]))
	}
	for _, id := range slices.Sorted(maps.Keys(c.Topics)) {
		text.WriteString(fmt.Sprintf(" %s=%v", id, c.Topics[id]))
	}
	return text.String()
}

func describeJoined(all []Joined) string {
	return each(all, func(j Joined) string {
		if j.InstanceID != "" {
			return fmt.Sprintf("%s(%s):%q", j.ID, j.InstanceID, j.Metadata)
		}
		return fmt.Sprintf("%s:%q", j.ID, j.Metadata)
	})
}

func describeTopicIDs(all []TopicID) string {
	return each(all, func(t TopicID) string { return fmt.Sprintf("%x%v", t.ID[:4], t.Partitions) })
}

func describeOffsets(all []Offset) string {
	return each(all, describeOffset)
}

func describeOffset(o Offset) string {
	text := fmt.Sprintf("%s/%d@%d", o.Topic, o.Partition, o.Next)
	if o.LeaderEpoch >= 0 {
		text += fmt.Sprintf(" epoch=%d", o.LeaderEpoch)
	}
	if o.Metadata != "" {
		text += fmt.Sprintf(" metadata=%q", o.Metadata)
	}
	return text
}

func describeResults(all []OffsetResult) string {
	return each(all, func(r OffsetResult) string { return describeOffset(r.Offset) + " " + codeName(r.Code) })
}

func describeRequest(req kmsg.Request) string {
	switch req := req.(type) {
	case *kmsg.JoinGroupRequest:
		return fmt.Sprintf("JoinGroup member=%q%s session=%d rebalance=%d protocols=%s reason=%q", req.MemberID, optional(" instance", req.InstanceID),
			req.SessionTimeoutMillis, req.RebalanceTimeoutMillis,
			each(req.Protocols, func(p kmsg.JoinGroupRequestProtocol) string { return fmt.Sprintf("%s:%q", p.Name, p.Metadata) }), deref(req.Reason))
	case *kmsg.SyncGroupRequest:
		return fmt.Sprintf("SyncGroup member=%q%s generation=%d protocol=%s assignments=%s", req.MemberID, optional(" instance", req.InstanceID),
			req.Generation, deref(req.Protocol),
			each(req.GroupAssignment, func(a kmsg.SyncGroupRequestGroupAssignment) string {
				return fmt.Sprintf("%s:%q", a.MemberID, a.MemberAssignment)
			}))
	case *kmsg.HeartbeatRequest:
		return fmt.Sprintf("Heartbeat member=%q%s generation=%d", req.MemberID, optional(" instance", req.InstanceID), req.Generation)
	case *kmsg.LeaveGroupRequest:
		return "LeaveGroup " + each(req.Members, func(l kmsg.LeaveGroupRequestMember) string {
			return fmt.Sprintf("member=%q%s reason=%q", l.MemberID, optional(" instance", l.InstanceID), deref(l.Reason))
		})
	case offsetCommit:
		return fmt.Sprintf("OffsetCommit member=%q%s generation=%d %s", req.MemberID, optional(" instance", req.InstanceID), req.Generation, describeOffsets(requestedOffsets(req)))
	case *kmsg.OffsetCommitRequest: // read from a history
		return describeRequest(offsetCommit{req})
	case *kmsg.OffsetFetchRequest:
		return describeRequest(offsetFetch{req})
	case txnOffsetCommit:
		return fmt.Sprintf("TxnOffsetCommit transaction=%q producer=%d/%d member=%q%s generation=%d %s", req.TransactionalID, req.ProducerID, req.ProducerEpoch,
			req.MemberID, optional(" instance", req.InstanceID), req.Generation, describeOffsets(requestedTxnOffsets(req)))
	case offsetFetch:
		return "OffsetFetch " + each(req.Topics, func(t kmsg.OffsetFetchRequestTopic) string { return fmt.Sprintf("%s%v", t.Topic, t.Partitions) })
	case *kmsg.ConsumerGroupHeartbeatRequest:
		return describeConsumerBeat(req)
	}
	return fmt.Sprintf("%T", req)
}

// describeConsumerBeat leaves out what is null, which means "as before".
func describeConsumerBeat(req *kmsg.ConsumerGroupHeartbeatRequest) string {
	text := fmt.Sprintf("ConsumerGroupHeartbeat member=%q%s epoch=%d", req.MemberID, optional(" instance", req.InstanceID), req.MemberEpoch)
	if req.SubscribedTopicNames != nil {
		text += fmt.Sprintf(" topics=%v", req.SubscribedTopicNames)
	}
	text += optional(" pattern", req.SubscribedTopicRegex) + optional(" rack", req.RackID)
	if req.Topics != nil {
		text += " owned=" + each(req.Topics, func(t kmsg.ConsumerGroupHeartbeatRequestTopic) string {
			return fmt.Sprintf("%x%v", t.TopicID[:4], t.Partitions)
		})
	}
	return text
}

func requestedOffsets(req offsetCommit) []Offset {
	var all []Offset
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			all = append(all, Offset{Topic: t.Topic, Partition: p.Partition, Next: p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: deref(p.Metadata)})
		}
	}
	return all
}

func requestedTxnOffsets(req txnOffsetCommit) []Offset {
	var all []Offset
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			all = append(all, Offset{Topic: t.Topic, Partition: p.Partition, Next: p.Offset, LeaderEpoch: p.LeaderEpoch, Metadata: deref(p.Metadata)})
		}
	}
	return all
}

func describeResponse(resp kmsg.Response) string {
	switch resp := resp.(type) {
	case *kmsg.JoinGroupResponse:
		return fmt.Sprintf("JoinGroup %s member=%q leader=%q generation=%d protocol=%s members=%d%s", codeName(resp.ErrorCode), resp.MemberID,
			resp.LeaderID, resp.Generation, deref(resp.Protocol), len(resp.Members), flag(" skip", resp.SkipAssignment))
	case *kmsg.SyncGroupResponse:
		return fmt.Sprintf("SyncGroup %s %q", codeName(resp.ErrorCode), resp.MemberAssignment)
	case *kmsg.HeartbeatResponse:
		return "Heartbeat " + codeName(resp.ErrorCode)
	case *kmsg.LeaveGroupResponse:
		return "LeaveGroup " + codeName(leaveCode(resp))
	case *kmsg.OffsetCommitResponse:
		return "OffsetCommit " + each(resp.Topics, func(t kmsg.OffsetCommitResponseTopic) string {
			return t.Topic + each(t.Partitions, func(p kmsg.OffsetCommitResponseTopicPartition) string {
				return fmt.Sprintf("%d %s", p.Partition, codeName(p.ErrorCode))
			})
		})
	case *kmsg.TxnOffsetCommitResponse:
		return "TxnOffsetCommit " + each(resp.Topics, func(t kmsg.TxnOffsetCommitResponseTopic) string {
			return t.Topic + each(t.Partitions, func(p kmsg.TxnOffsetCommitResponseTopicPartition) string {
				return fmt.Sprintf("%d %s", p.Partition, codeName(p.ErrorCode))
			})
		})
	case *kmsg.OffsetFetchResponse:
		return fmt.Sprintf("OffsetFetch %s topics=%d groups=%d", codeName(resp.ErrorCode), len(resp.Topics), len(resp.Groups))
	case *kmsg.ConsumerGroupHeartbeatResponse:
		text := fmt.Sprintf("ConsumerGroupHeartbeat %s epoch=%d", codeName(resp.ErrorCode), resp.MemberEpoch)
		if resp.Assignment != nil {
			text += " assignment=" + each(resp.Assignment.Topics, func(t kmsg.ConsumerGroupHeartbeatResponseAssignmentTopic) string {
				return fmt.Sprintf("%x%v", t.TopicID[:4], t.Partitions)
			})
		}
		return text
	}
	return fmt.Sprintf("%T", resp)
}

func optional(name string, value *string) string {
	if value == nil {
		return ""
	}
	return fmt.Sprintf("%s=%q", name, *value)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
