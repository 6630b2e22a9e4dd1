package groupmember_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// badPeer is what a broker or a leader does wrong, for ever.
type badPeer struct {
	name   string
	reply  func(kmsg.Response)   // spoils a healthy answer; nil if all are healthy
	decode *groupmember.Decoded  // what assignments mean; nil if they are fine
	ends   bool                  // the member, within ten minutes
	joins  int                   // at most, in ten minutes
	warns  int                   // exactly
	cause  groupmember.CauseKind // of a rebalance that is over, or NoCause if none need be
}

var badPeers = []badPeer{
	{
		name: "an assignment for topics that were not asked for",
		decode: &groupmember.Decoded{
			Partitions: groupmember.Partitions{"orders": {0}}, Foreign: groupmember.Partitions{"payments": {1}},
		},
		joins: 6, warns: 1, cause: groupmember.AssignmentMismatch,
	},
	{
		name:   "an assignment that cannot be read",
		decode: &groupmember.Decoded{Failure: groupmember.Failure{Kind: groupmember.Rejected, Text: "garbage"}},
		ends:   true, joins: 6, warns: 1, cause: groupmember.AssignmentUnreadable,
	},
	{
		name:   "an empty assignment",
		decode: &groupmember.Decoded{},
		joins:  2,
	},
	{name: "a negative generation", reply: joined(func(r *kmsg.JoinGroupResponse) { r.Generation = -5 }), joins: 900, warns: 1},
	{name: "no protocol", reply: joined(func(r *kmsg.JoinGroupResponse) { r.Protocol = nil }), joins: 900, warns: 1},
	{name: "a protocol that was not offered", reply: joined(func(r *kmsg.JoinGroupResponse) { r.Protocol = new("odd") }), joins: 900, warns: 1},
	{name: "no member ID", reply: joined(func(r *kmsg.JoinGroupResponse) { r.MemberID = "" }), joins: 900, warns: 1},
	{name: "a leader that is not in the list", reply: joined(func(r *kmsg.JoinGroupResponse) { r.Members = nil }), joins: 900, warns: 1},
	{name: "another kind of group", reply: joined(func(r *kmsg.JoinGroupResponse) { r.ProtocolType = new("connect") }), ends: true, joins: 2},
	{name: "JoinGroup: NOT_COORDINATOR", reply: code(kmsg.JoinGroup, kerr.NotCoordinator), joins: 900, warns: 1},
	{name: "SyncGroup: NOT_COORDINATOR", reply: code(kmsg.SyncGroup, kerr.NotCoordinator), joins: 900, warns: 1},
	{name: "Heartbeat: NOT_COORDINATOR", reply: code(kmsg.Heartbeat, kerr.NotCoordinator), joins: 2, warns: 1},
	{name: "JoinGroup: UNKNOWN_MEMBER_ID", reply: code(kmsg.JoinGroup, kerr.UnknownMemberID), joins: 900, warns: 1},
	{name: "JoinGroup: MEMBER_ID_REQUIRED", reply: code(kmsg.JoinGroup, kerr.MemberIDRequired), joins: 900, warns: 1},
	{name: "JoinGroup: REBALANCE_IN_PROGRESS", reply: code(kmsg.JoinGroup, kerr.RebalanceInProgress), joins: 900, warns: 1},
	{name: "SyncGroup: UNKNOWN_MEMBER_ID", reply: code(kmsg.SyncGroup, kerr.UnknownMemberID), joins: 1800, warns: 1},
	{name: "SyncGroup: ILLEGAL_GENERATION", reply: code(kmsg.SyncGroup, kerr.IllegalGeneration), joins: 900, warns: 1},
	{name: "SyncGroup: REBALANCE_IN_PROGRESS", reply: code(kmsg.SyncGroup, kerr.RebalanceInProgress), joins: 900, warns: 1},
	{name: "Heartbeat: UNKNOWN_MEMBER_ID", reply: code(kmsg.Heartbeat, kerr.UnknownMemberID), joins: 1300, cause: groupmember.MemberExpelled},
	{name: "Heartbeat: REBALANCE_IN_PROGRESS", reply: code(kmsg.Heartbeat, kerr.RebalanceInProgress), joins: 650, cause: groupmember.GroupRebalancing},
}

func joined(spoil func(*kmsg.JoinGroupResponse)) func(kmsg.Response) {
	return func(resp kmsg.Response) {
		if join, ok := resp.(*kmsg.JoinGroupResponse); ok && join.ErrorCode == 0 {
			spoil(join)
		}
	}
}

func code(api kmsg.Key, code *kerr.Error) func(kmsg.Response) {
	return func(resp kmsg.Response) {
		if kmsg.Key(resp.Key()) != api {
			return
		}
		switch resp := resp.(type) {
		case *kmsg.JoinGroupResponse:
			resp.ErrorCode = code.Code
		case *kmsg.SyncGroupResponse:
			resp.ErrorCode = code.Code
		case *kmsg.HeartbeatResponse:
			resp.ErrorCode = code.Code
		}
	}
}

// Whatever a peer does wrong without end: the member settles, goes on trying at a
// bounded rate, or ends, and it says so once.
func TestBadInputIsDecidedAndReportedOnceWithoutAStorm(t *testing.T) {
	for _, bad := range badPeers {
		t.Run(bad.name, func(t *testing.T) {
			w := newWatch(t, groupmember.Config{Group: "g"}, 0)
			w.step(groupmember.Start{})
			joins, end := 0, w.now.Add(10*time.Minute)
			for !w.exited && w.now.Before(end) {
				if len(w.open) == 0 {
					w.elapse()
					continue
				}
				w.now = w.now.Add(time.Millisecond)
				if w.asks("JoinGroup") {
					joins++
				}
				bad.answer(w)
			}
			require.LessOrEqual(t, joins, bad.joins, "JoinGroups")
			require.Len(t, w.warnings(), bad.warns)
			require.Equal(t, bad.ends, w.exited, w.state)
			if bad.cause != groupmember.NoCause {
				require.True(t, w.explains(bad.cause), "no rebalance tells of %v", bad.cause)
			}
		})
	}
}

// answer answers the last question as the peer does.
func (bad badPeer) answer(w *watch) {
	asked := w.open[len(w.open)-1]
	if send, ok := asked.(groupmember.Send); ok {
		w.replyTo(kmsg.NameForKey(send.Req.Key()), bad.reply)
		return
	}
	if _, ok := asked.(groupmember.Decode); !ok || bad.decode == nil {
		w.answer()
		return
	}
	ev := *bad.decode
	ev.Seq = seqOf(w.pop("Decode"))
	w.step(ev)
}

// warnings are what a person was told.
func (w *watch) warnings() []string {
	var all []string
	for _, one := range w.past {
		if warned, ok := one.(groupmember.Warned); ok {
			all = append(all, warned.Text)
		}
	}
	return all
}

// explains reports whether a rebalance that is over names such a cause.
func (w *watch) explains(kind groupmember.CauseKind) bool {
	for _, one := range w.past {
		if r, ok := one.(groupmember.Rebalanced); ok {
			for _, cause := range append([]groupmember.Cause{r.Rebalance.Trigger}, r.Rebalance.Setbacks...) {
				if cause.Kind == kind {
					return true
				}
			}
		}
	}
	return false
}

// An answer to a question that was never asked, or not by this member, is no news in any
// state.
func TestAnswersToQuestionsNeverAskedChangeNothing(t *testing.T) {
	join, beat := kmsg.NewPtrJoinGroupResponse(), kmsg.NewPtrHeartbeatResponse()
	beat.ErrorCode = kerr.FencedInstanceID.Code
	for _, from := range allStates {
		w := reach(t, configFor(from), from)
		before, deadline := w.member.Status(), w.member.Deadline()
		for _, seq := range []groupmember.Seq{0, w.last + 1, 1 << 40} {
			for _, ev := range []groupmember.Event{
				groupmember.Found{Seq: seq, Code: kerr.GroupAuthorizationFailed.Code},
				groupmember.Replied{Seq: seq, Resp: join},
				groupmember.Replied{Seq: seq, Resp: beat},
				groupmember.Replied{Seq: seq},
				groupmember.Encoded{Seq: seq},
				groupmember.Planned{Seq: seq},
				groupmember.Decoded{Seq: seq},
				groupmember.Released{Seq: seq},
				groupmember.Withdraw{Ticket: groupmember.Ticket(seq)},
			} {
				require.Empty(t, w.member.Step(w.now, ev, nil), "%v: %s", from, groupmember.DescribeEvent(ev))
			}
		}
		require.Equal(t, before, w.member.Status())
		require.Equal(t, deadline, w.member.Deadline())
	}
}
