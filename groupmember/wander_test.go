package groupmember_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// A member is driven through random histories: every answer, code, failure and
// wish, in any order, late and twice. The watch in watch_test.go says after
// every step what must hold.
//
// The moves that are made on the way are those of the table, all of them and no
// others.
func TestMemberHoldsItsPromisesInAnyHistory(t *testing.T) {
	seen := make(map[[2]groupmember.State]bool)
	for _, cfg := range wanderedConfigs {
		t.Run(fmt.Sprintf("cooperative=%v,instance=%q", cfg.Cooperative, cfg.InstanceID), func(t *testing.T) {
			for seed := range uint64(wanders) {
				cfg.Seed = seed
				w := newWanderer(t, cfg, seed)
				w.wander()
				maps.Copy(seen, w.watch.moves)
			}
		})
	}
	requireMovesOfTable(t, seen)
}

const wanders = 700

var wanderedConfigs = []groupmember.Config{
	{Group: "g", PollInterval: time.Minute},
	{Group: "g", Cooperative: true},
	{Group: "g", InstanceID: "i", PollInterval: time.Minute},
}

// wanderer makes up a history.
type wanderer struct {
	watch  *watch
	random *rand.Rand
	ticket groupmember.Ticket
	next   int64
}

func newWanderer(t *testing.T, cfg groupmember.Config, seed uint64) *wanderer {
	return &wanderer{watch: newWatch(t, cfg, seed), random: rand.New(rand.NewPCG(seed, 1))}
}

func (w *wanderer) wander() {
	w.watch.step(groupmember.Start{})
	for range 20 + w.random.IntN(200) {
		if w.watch.exited {
			return
		}
		w.turn()
	}
	w.finish()
}

func (w *wanderer) turn() {
	w.watch.now = w.watch.now.Add(time.Duration(w.random.IntN(50)) * time.Millisecond)
	switch n := w.random.IntN(100); {
	case n < 55 && len(w.watch.open) > 0:
		w.answer(0.35)
	case n < 60 && len(w.watch.closed) > 0:
		w.watch.step(w.reply(w.watch.closed[w.random.IntN(len(w.watch.closed))], 0.5))
	case n < 80:
		w.watch.elapse()
	case n < 88:
		w.commit()
	case n < 89:
		w.watch.step(groupmember.Withdraw{Ticket: groupmember.Ticket(1 + w.random.IntN(int(w.ticket)+1))})
	case n < 91:
		w.ticket++
		w.watch.step(groupmember.LookUp{Ticket: w.ticket, Partitions: w.partitions()})
	case n < 95:
		w.watch.step(groupmember.Rejoin{Why: "a wish"})
	case n < 99:
		w.watch.step(groupmember.Asked{})
	case w.random.IntN(6) == 0:
		w.watch.step(groupmember.Leave{Why: "enough", Remain: w.random.IntN(4) == 0})
	}
}

// answer closes one of the open questions, badly in that share of cases.
func (w *wanderer) answer(badly float64) {
	i := w.random.IntN(len(w.watch.open))
	asked := w.watch.open[i]
	w.watch.open = append(w.watch.open[:i], w.watch.open[i+1:]...)
	w.watch.closed = append(w.watch.closed, asked)
	w.watch.step(w.reply(asked, badly))
}

// finish leaves, and then answers everything in good order.
func (w *wanderer) finish() {
	if w.random.IntN(4) == 0 {
		w.watch.step(groupmember.Abandon{})
		require.True(w.watch.t, w.watch.exited, "Abandon ends the member at once")
		return
	}
	w.watch.step(groupmember.Leave{Why: "enough"})
	for range 400 {
		if w.watch.exited {
			return
		}
		if len(w.watch.open) > 0 {
			w.answer(0)
		} else {
			w.watch.elapse()
		}
	}
	require.Fail(w.watch.t, "Leave does not end", w.watch.history())
}

func (w *wanderer) commit() {
	w.ticket++
	ev := groupmember.Commit{Ticket: w.ticket}
	for id := range int32(4) {
		if w.random.IntN(3) == 0 {
			w.next++
			ev.Offsets = append(ev.Offsets, groupmember.Offset{Topic: "orders", Partition: id, Next: w.next, LeaderEpoch: -1})
		}
	}
	switch w.random.IntN(6) {
	case 0:
		ev.Producer = &groupmember.Producer{TransactionalID: "t", ID: 7, Epoch: 1}
	case 1:
		ev.Producer = &groupmember.Producer{TransactionalID: "t", ID: 7, Epoch: 2}
	}
	w.watch.step(ev)
}

func (w *wanderer) partitions() groupmember.Partitions {
	p := groupmember.Partitions{}
	for id := range int32(4) {
		if w.random.IntN(2) == 0 {
			p["orders"] = append(p["orders"], id)
		}
	}
	if len(p["orders"]) == 0 {
		return nil
	}
	return p
}

var wanderedCodes = []*kerr.Error{
	kerr.RebalanceInProgress, kerr.IllegalGeneration, kerr.UnknownMemberID, kerr.NotCoordinator, kerr.CoordinatorNotAvailable,
	kerr.CoordinatorLoadInProgress, kerr.MemberIDRequired, kerr.UnknownServerError, kerr.UnknownTopicOrPartition,
	kerr.UnstableOffsetCommit, kerr.RequestTimedOut, kerr.TopicAuthorizationFailed, kerr.ConcurrentTransactions, kerr.ProducerFenced,
}

func (w *wanderer) code(badly float64) int16 {
	if w.random.Float64() >= badly {
		return 0
	}
	if w.random.IntN(60) == 0 {
		return int16(w.random.IntN(130))
	}
	return wanderedCodes[w.random.IntN(len(wanderedCodes))].Code
}

func (w *wanderer) failure(badly float64) groupmember.Failure {
	if w.random.Float64() >= badly/3 {
		return groupmember.Failure{}
	}
	kinds := []groupmember.FailureKind{groupmember.Unreachable, groupmember.TimedOut, groupmember.Canceled}
	if w.random.IntN(100) == 0 {
		kinds = []groupmember.FailureKind{groupmember.Rejected, groupmember.Unsupported, groupmember.Closed}
	}
	return groupmember.Failure{Kind: kinds[w.random.IntN(len(kinds))], Text: "made up"}
}

// reply makes up an answer to a question.
func (w *wanderer) reply(a groupmember.Action, badly float64) groupmember.Event {
	failure := w.failure(badly)
	switch a := a.(type) {
	case groupmember.Find:
		return groupmember.Found{Seq: a.Seq, Code: w.code(badly / 2), Failure: failure}
	case groupmember.Encode:
		return groupmember.Encoded{Seq: a.Seq, Failure: failure, Subscription: groupmember.Subscription{
			Protocols: []groupmember.Protocol{{Name: "range"}},
		}}
	case groupmember.Plan:
		return groupmember.Planned{Seq: a.Seq, Failure: failure}
	case groupmember.Decode:
		ev := groupmember.Decoded{Seq: a.Seq, Failure: failure, Partitions: w.partitions()}
		if w.random.Float64() < badly/2 {
			ev.Foreign = groupmember.Partitions{"strange": {1}}
		}
		return ev
	case groupmember.Revoke:
		return groupmember.Released{Seq: a.Seq}
	case groupmember.Send:
		if failure.Failed() {
			return groupmember.Replied{Seq: a.Seq, Failure: failure}
		}
		return groupmember.Replied{Seq: a.Seq, Resp: w.response(a.Req, badly)}
	case groupmember.Resolve, groupmember.Cancel, groupmember.Assigned, groupmember.Suspended, groupmember.Resumed, groupmember.Committed,
		groupmember.LookedUp, groupmember.Warned, groupmember.Rebalanced, groupmember.Moved, groupmember.Exit:
	}
	panic(fmt.Sprintf("BUG: %T is not a question", a))
}

func (w *wanderer) response(req kmsg.Request, badly float64) kmsg.Response {
	resp := req.ResponseKind()
	switch resp := resp.(type) {
	case *kmsg.JoinGroupResponse:
		w.joinGroup(resp, req.(*kmsg.JoinGroupRequest), badly)
	case *kmsg.SyncGroupResponse:
		resp.ErrorCode = w.code(badly)
	case *kmsg.HeartbeatResponse:
		resp.ErrorCode = w.code(badly)
	case *kmsg.LeaveGroupResponse:
		resp.ErrorCode = w.code(badly)
	case *kmsg.OffsetCommitResponse:
		w.offsetCommit(resp, badly)
	case *kmsg.TxnOffsetCommitResponse:
		plain := kmsg.NewPtrOffsetCommitResponse()
		w.offsetCommit(plain, badly)
		topic := kmsg.TxnOffsetCommitResponseTopic{Topic: "orders"}
		for _, p := range plain.Topics[0].Partitions {
			topic.Partitions = append(topic.Partitions, kmsg.TxnOffsetCommitResponseTopicPartition{Partition: p.Partition, ErrorCode: p.ErrorCode})
		}
		resp.Topics = append(resp.Topics, topic)
	case *kmsg.OffsetFetchResponse:
		group := kmsg.OffsetFetchResponseGroup{Group: "g", ErrorCode: w.code(badly / 2)}
		for id := range int32(4) {
			group.Topics = append(group.Topics, kmsg.OffsetFetchResponseGroupTopic{Topic: "orders", Partitions: []kmsg.OffsetFetchResponseGroupTopicPartition{
				{Partition: id, Offset: int64(w.random.IntN(3)) - 1, ErrorCode: w.code(badly / 2)},
			}})
		}
		resp.Groups = append(resp.Groups, group)
	}
	return resp
}

func (w *wanderer) joinGroup(resp *kmsg.JoinGroupResponse, req *kmsg.JoinGroupRequest, badly float64) {
	resp.ErrorCode = w.code(badly)
	if req.MemberID == "" && resp.ErrorCode == 0 && w.random.IntN(2) == 0 {
		resp.ErrorCode = kerr.MemberIDRequired.Code
	}
	resp.MemberID = req.MemberID
	if req.MemberID == "" {
		resp.MemberID = fmt.Sprintf("m-%d", w.random.IntN(1000))
	}
	if resp.ErrorCode != 0 {
		return
	}
	protocol := "range"
	w.watch.generation++
	if w.random.IntN(8) == 0 {
		w.watch.generation++ // a round without this member
	}
	resp.Generation, resp.Protocol, resp.LeaderID = w.watch.generation, &protocol, "other"
	if w.random.IntN(2) == 0 {
		resp.LeaderID = resp.MemberID
	}
	if w.random.IntN(20) != 0 {
		resp.Members = []kmsg.JoinGroupResponseMember{{MemberID: "other"}, {MemberID: resp.MemberID}}
	}
}

func (w *wanderer) offsetCommit(resp *kmsg.OffsetCommitResponse, badly float64) {
	topic := kmsg.OffsetCommitResponseTopic{Topic: "orders"}
	code := w.code(badly)
	for id := range int32(4) {
		if w.random.IntN(4) == 0 {
			code = w.code(badly)
		}
		if w.random.IntN(50) != 0 {
			topic.Partitions = append(topic.Partitions, kmsg.OffsetCommitResponseTopicPartition{Partition: id, ErrorCode: code})
		}
	}
	resp.Topics = append(resp.Topics, topic)
}
