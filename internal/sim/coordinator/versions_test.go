package coordinator

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestBeforeVersion4AMemberIsTakenInAtOnce(t *testing.T) {
	tb := newTable(t)
	resp := tb.joined(tb.ask(joinOf(3, "", "", "1")))
	require.Zero(t, resp.ErrorCode)
	require.Equal(t, resp.LeaderID, resp.MemberID)
	require.EqualValues(t, 1, resp.Generation)
}

// Who comes back as a static leader must not plan: of version 9 it is told so, before
// that it is told that its old ID leads.
func TestReturningStaticLeaderDoesNotPlan(t *testing.T) {
	for _, version := range []int16{8, 9} {
		tb := newTable(t)
		first := tb.joined(tb.join("", "i", "1"))
		tb.sync(first.MemberID, first.Generation, first.MemberID)
		resp := tb.joined(tb.ask(joinOf(version, "", "i", "1")))
		require.NotEqual(t, first.MemberID, resp.MemberID)
		require.Equal(t, first.Generation, resp.Generation)
		require.Equal(t, version == 9, resp.SkipAssignment)
		require.Equal(t, version == 8, resp.LeaderID == first.MemberID)
		require.Equal(t, version == 9, len(resp.Members) == 1)
	}
}

func TestBeforeVersion3OneMemberLeaves(t *testing.T) {
	tb := newTable(t)
	leader, follower, generation := tb.pair()
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Version, req.MemberID = 2, follower
	require.Zero(t, tb.answers[tb.ask(req)].(*kmsg.LeaveGroupResponse).ErrorCode)
	require.False(t, tb.group.Has(follower))
	require.Equal(t, kerr.RebalanceInProgress, tb.heartbeat(leader, generation))
	require.Equal(t, kerr.UnknownMemberID.Code, tb.answers[tb.ask(req)].(*kmsg.LeaveGroupResponse).ErrorCode)
}
