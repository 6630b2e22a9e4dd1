package groupmember_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/musterkafka/muster/groupmember"
)

func TestRebalanceReadsAsAnExplanation(t *testing.T) {
	many := groupmember.Partitions{"payments": nil}
	for id := range int32(40) {
		many["payments"] = append(many["payments"], id)
	}
	r := groupmember.Rebalance{
		Number:  3,
		Trigger: groupmember.Cause{Kind: groupmember.GroupRebalancing, Text: "group is already rebalancing"},
		Setbacks: []groupmember.Cause{
			{Kind: groupmember.RequestRefused, Code: kerr.CoordinatorLoadInProgress.Code},
			{Kind: groupmember.MemberExpelled, Code: kerr.UnknownMemberID.Code, Text: "encountered UNKNOWN_MEMBER_ID from SyncGroup response"},
		},
		MoreSetbacks: 2,
		Attempts:     4,
		MemberID:     "m-1", Before: 4, After: 9, Protocol: "cooperative-sticky", Leader: true, LeaderID: "m-1",
		Took:   1620 * time.Millisecond,
		Spent:  groupmember.Durations{Waiting: time.Second, Joining: 600 * time.Millisecond, Planning: 20 * time.Millisecond},
		Gained: groupmember.Partitions{"orders": {3, 4}}, Kept: many, Lost: groupmember.Partitions{"orders": {0}},
		Group: groupmember.GroupChange{
			Size: 3, Since: 4,
			Members: groupmember.Known, Joined: []groupmember.GroupMember{{ID: "m-7"}}, Gone: []groupmember.GroupMember{{ID: "m-2"}},
			Returned:      []groupmember.GroupMember{{ID: "m-8", InstanceID: "eu-1"}},
			Subscriptions: groupmember.Known, Resubscribed: []groupmember.GroupMember{{ID: "m-8", InstanceID: "eu-1"}},
			Topics: groupmember.Known, TopicChanges: []groupmember.TopicChange{{Topic: "orders", Before: 4, After: 5}},
		},
	}
	require.Equal(t, `rebalance 3 settled after 1.62s: group rebalancing: group is already rebalancing; generation 9, was 4; member m-1 leads by cooperative-sticky; 4 attempts
  setbacks: request refused COORDINATOR_LOAD_IN_PROGRESS; member expelled: encountered UNKNOWN_MEMBER_ID from SyncGroup response; and 2 more
  partitions: gained orders[3 4], lost orders[0], kept payments[40 partitions]
  time: Waiting 1s, Joining 600ms, Planning 20ms
  group: 3 members, since generation 4, joined m-7, gone m-2, returned m-8(eu-1), resubscribed m-8(eu-1), topic orders has 5 partitions, had 4`, r.String())
}

func TestManyTopicsAndMembersAreCounted(t *testing.T) {
	p := groupmember.Partitions{}
	for _, first := range "abcd" {
		for _, second := range "abcde" {
			p[string(first)+string(second)] = []int32{0}
		}
	}
	text := groupmember.DescribePartitions(p)
	require.Contains(t, text, "aa[1 partition] ab[1 partition]")
	require.Contains(t, text, "and 4 more topics")
	require.Equal(t, "none", groupmember.DescribePartitions(nil))

	change := groupmember.GroupChange{Size: 20, Since: 1, Members: groupmember.Known, Joined: make([]groupmember.GroupMember, 20)}
	require.Contains(t, change.String(), "and 4 more")
}
