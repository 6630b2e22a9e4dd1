package sim

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// describeResponse returns the arguments of a directive with a response, and the lines
// under it.
func describeResponse(resp kmsg.Response) (arguments, input string) {
	switch resp := resp.(type) {
	case *kmsg.JoinGroupResponse:
		return joinArguments(resp), memberLines(resp)
	case *kmsg.SyncGroupResponse:
		return codeOf(resp.ErrorCode) + optional("type", resp.ProtocolType) + optional("protocol", resp.Protocol) +
			" bytes=" + hexOf(resp.MemberAssignment), ""
	case *kmsg.HeartbeatResponse:
		return codeOf(resp.ErrorCode), ""
	case *kmsg.LeaveGroupResponse:
		for _, m := range resp.Members {
			arguments += " member-code=" + codeName(m.ErrorCode)
		}
		return codeOf(resp.ErrorCode) + arguments, ""
	case *kmsg.OffsetCommitResponse:
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				input += fmt.Sprintf("%s %d %s\n", t.Topic, p.Partition, codeName(p.ErrorCode))
			}
		}
		return "", input
	case *kmsg.TxnOffsetCommitResponse:
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				input += fmt.Sprintf("%s %d %s\n", t.Topic, p.Partition, codeName(p.ErrorCode))
			}
		}
		return "", input
	case *kmsg.OffsetFetchResponse:
		return fetchDirective(resp)
	}
	return "", ""
}

func joinArguments(resp *kmsg.JoinGroupResponse) string {
	text := codeOf(resp.ErrorCode) + fmt.Sprintf(" generation=%d", resp.Generation)
	if resp.MemberID != "" {
		text += " member=" + resp.MemberID
	}
	if resp.LeaderID != "" {
		text += " leader=" + resp.LeaderID
	}
	text += optional("type", resp.ProtocolType) + optional("protocol", resp.Protocol)
	if resp.SkipAssignment {
		text += " skip"
	}
	return text
}

// memberLines are those of the members that a leader is told of.
func memberLines(resp *kmsg.JoinGroupResponse) string {
	var text strings.Builder
	for _, m := range resp.Members {
		text.WriteString(m.MemberID + " " + hexOf(m.ProtocolMetadata))
		if m.InstanceID != nil {
			text.WriteString(" " + *m.InstanceID)
		}
		text.WriteString("\n")
	}
	return text.String()
}

// fetchDirective is for either form of the answer: before version 8 it is "old".
func fetchDirective(resp *kmsg.OffsetFetchResponse) (arguments, input string) {
	line := func(topic string, partition int32, next int64, code int16) {
		input += fmt.Sprintf("%s %d %d %s\n", topic, partition, next, codeName(code))
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			line(t.Topic, p.Partition, p.Offset, p.ErrorCode)
		}
	}
	if len(resp.Groups) == 0 {
		return " old" + codeOf(resp.ErrorCode), input
	}
	for _, t := range resp.Groups[0].Topics {
		for _, p := range t.Partitions {
			line(t.Topic, p.Partition, p.Offset, p.ErrorCode)
		}
	}
	return codeOf(resp.Groups[0].ErrorCode), input
}

func subscriptionOf(ev groupmember.Encoded) string {
	var names []string
	for _, p := range ev.Subscription.Protocols {
		names = append(names, p.Name)
	}
	text := " protocols=(" + strings.Join(names, ",") + ")"
	if len(names) > 0 {
		text += " metadata=" + hexOf(ev.Subscription.Protocols[0].Metadata) // all have the same
	}
	return text
}

func partitionsOf(prefix string, all groupmember.Partitions) string {
	var text strings.Builder
	for _, topic := range topicNames {
		if ids, ok := all[topic]; ok {
			fmt.Fprintf(&text, " %stopic.%s=(%s)", prefix, topic, strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ","), "[]"))
		}
	}
	return text.String()
}

func codeOf(code int16) string {
	if code == 0 {
		return ""
	}
	return " code=" + codeName(code)
}

func codeName(code int16) string {
	if code == 0 {
		return "ok"
	}
	return kerr.TypedErrorForCode(code).Message
}

func optional(name string, value *string) string {
	if value == nil || *value == "" {
		return ""
	}
	return " " + name + "=" + *value
}

func hexOf(data []byte) string { return "0x" + hex.EncodeToString(data) }
