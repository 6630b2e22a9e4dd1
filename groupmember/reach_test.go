package groupmember_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// reach returns a watch over a member that has come to the state by a healthy
// history: member m-1 of generation 1, or about to be, that owns orders 0 and 1
// once it is stable.
func reach(t testing.TB, cfg groupmember.Config, to groupmember.State) *watch {
	t.Helper()
	w := newWatch(t, cfg, 0)
	if to == groupmember.Idle {
		return w
	}
	w.step(groupmember.Start{})
	switch to {
	case groupmember.Finding, groupmember.Encoding, groupmember.Joining, groupmember.Planning, groupmember.Syncing, groupmember.Decoding, groupmember.Stable:
		w.until(to)
	case groupmember.Waiting:
		w.until(groupmember.Joining)
		w.replyTo("JoinGroup", func(resp kmsg.Response) {
			resp.(*kmsg.JoinGroupResponse).ErrorCode = kerr.CoordinatorLoadInProgress.Code
		})
	case groupmember.Releasing:
		w.until(groupmember.Stable)
		w.step(groupmember.Rejoin{Why: "subscription has changed"})
	case groupmember.Yielding:
		w.until(groupmember.Stable)
		w.step(groupmember.Rejoin{Why: "subscription has changed"})
		w.until(groupmember.Decoding)
		w.step(groupmember.Decoded{Seq: seqOf(w.pop("Decode")), Partitions: groupmember.Partitions{"orders": {0}}})
	case groupmember.Parting:
		w.until(groupmember.Stable)
		w.step(groupmember.Leave{Why: "done"})
	case groupmember.Leaving:
		w.until(groupmember.Stable)
		w.step(groupmember.Leave{Why: "done"})
		w.answer()
	case groupmember.Resting:
		w.until(groupmember.Stable)
		for i := 0; w.state != groupmember.Parting; i++ {
			w.holds(i < 20, "the poll interval passes")
			w.elapse()
			if w.state == groupmember.Stable && len(w.open) > 0 {
				w.answer()
			}
		}
		w.until(groupmember.Resting)
	case groupmember.Exited:
		w.step(groupmember.Abandon{})
	case groupmember.Idle:
	}
	w.holds(w.state == to, "the state is reached")
	return w
}

// until answers the questions as they come until the state is reached.
func (w *watch) until(to groupmember.State) {
	w.t.Helper()
	for range 50 {
		if w.state == to {
			return
		}
		w.answer()
	}
	require.Fail(w.t, "no way to "+to.String(), w.history())
}

// answer answers the last question healthily.
func (w *watch) answer() {
	w.t.Helper()
	w.holds(len(w.open) > 0, "there is a question to answer")
	a := w.open[len(w.open)-1]
	switch a := a.(type) {
	case groupmember.Send:
		w.replyTo(kmsg.NameForKey(a.Req.Key()), nil)
	case groupmember.Find:
		w.step(groupmember.Found{Seq: seqOf(w.pop("Find"))})
	case groupmember.Encode:
		w.step(groupmember.Encoded{Seq: seqOf(w.pop("Encode")), Subscription: groupmember.Subscription{
			Protocols: []groupmember.Protocol{{Name: "range", Metadata: []byte("me")}},
		}})
	case groupmember.Plan:
		w.step(groupmember.Planned{Seq: seqOf(w.pop("Plan")), Assignments: []groupmember.Assignment{{MemberID: "m-1", Bytes: []byte("all")}}})
	case groupmember.Decode:
		w.step(groupmember.Decoded{Seq: seqOf(w.pop("Decode")), Partitions: groupmember.Partitions{"orders": {0, 1}}})
	case groupmember.Revoke:
		w.step(groupmember.Released{Seq: seqOf(w.pop("Revoke"))})
	case groupmember.Resolve, groupmember.Cancel, groupmember.Assigned, groupmember.Suspended, groupmember.Resumed, groupmember.Committed,
		groupmember.LookedUp, groupmember.Warned, groupmember.Rebalanced, groupmember.Moved, groupmember.Exit:
		require.Fail(w.t, "not a question", w.history())
	}
}

// replyTo answers the open request of that API, healthily but for what change
// does to it.
func (w *watch) replyTo(api string, change func(kmsg.Response)) {
	w.t.Helper()
	send := w.pop(api).(groupmember.Send)
	resp := send.Req.ResponseKind()
	switch resp := resp.(type) {
	case *kmsg.JoinGroupResponse:
		req, protocol := send.Req.(*kmsg.JoinGroupRequest), "range"
		resp.MemberID, resp.LeaderID = "m-1", "m-1"
		if req.MemberID == "" && req.InstanceID == nil {
			resp.ErrorCode = kerr.MemberIDRequired.Code
			break
		}
		w.generation++
		resp.Generation, resp.Protocol = w.generation, &protocol
		resp.Members = []kmsg.JoinGroupResponseMember{{MemberID: "m-1"}}
	case *kmsg.OffsetCommitResponse:
		for _, o := range groupmember.OffsetsIn(send.Req) {
			resp.Topics = append(resp.Topics, kmsg.OffsetCommitResponseTopic{Topic: o.Topic, Partitions: []kmsg.OffsetCommitResponseTopicPartition{{Partition: o.Partition}}})
		}
	case *kmsg.TxnOffsetCommitResponse:
		for _, o := range groupmember.OffsetsIn(send.Req) {
			resp.Topics = append(resp.Topics, kmsg.TxnOffsetCommitResponseTopic{Topic: o.Topic, Partitions: []kmsg.TxnOffsetCommitResponseTopicPartition{{Partition: o.Partition}}})
		}
	case *kmsg.OffsetFetchResponse:
		resp.Groups = []kmsg.OffsetFetchResponseGroup{{Group: "g", Topics: []kmsg.OffsetFetchResponseGroupTopic{
			{Topic: "orders", Partitions: []kmsg.OffsetFetchResponseGroupTopicPartition{{Partition: 0, Offset: 7}}},
		}}}
	}
	if change != nil {
		change(resp)
	}
	w.step(groupmember.Replied{Seq: send.Seq, Resp: resp})
}

// pop closes the open question of that name.
func (w *watch) pop(name string) groupmember.Action {
	w.t.Helper()
	for i, a := range w.open {
		if nameOf(a) == name {
			w.open = append(w.open[:i:i], w.open[i+1:]...)
			w.closed = append(w.closed, a)
			return a
		}
	}
	require.FailNow(w.t, "no open question is a "+name, w.history())
	return nil
}

func nameOf(a groupmember.Action) string {
	switch a := a.(type) {
	case groupmember.Send:
		return kmsg.NameForKey(a.Req.Key())
	case groupmember.Find:
		return "Find"
	case groupmember.Encode:
		return "Encode"
	case groupmember.Plan:
		return "Plan"
	case groupmember.Decode:
		return "Decode"
	case groupmember.Resolve:
		return "Resolve"
	case groupmember.Revoke:
		return "Revoke"
	case groupmember.Cancel, groupmember.Assigned, groupmember.Suspended, groupmember.Resumed, groupmember.Committed,
		groupmember.LookedUp, groupmember.Warned, groupmember.Rebalanced, groupmember.Moved, groupmember.Exit:
	}
	return ""
}

// configFor is a config with which the state can be reached.
func configFor(state groupmember.State) groupmember.Config {
	cfg := groupmember.Config{Group: "g", Cooperative: state == groupmember.Yielding}
	if state == groupmember.Resting {
		cfg.PollInterval = 10e9
	}
	return cfg
}
