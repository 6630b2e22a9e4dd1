package coordinator

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	session   = 10 * time.Second
	rebalance = 30 * time.Second
)

// table is a group with those who talk to it.
type table struct {
	t       *testing.T
	log     Log
	group   *Group
	now     time.Time
	calls   Call
	answers map[Call]kmsg.Response
}

func newTable(t *testing.T) *table {
	tb := &table{t: t, now: time.Unix(1_000_000_000, 0), answers: map[Call]kmsg.Response{}}
	tb.load()
	return tb
}

func (tb *table) load() { tb.group = Load(&tb.log, 0, tb.now) }

func (tb *table) ask(req kmsg.Request) Call {
	tb.calls++
	tb.hear(tb.group.Ask(tb.now, tb.calls, req, nil))
	tb.pass(0)
	return tb.calls
}

func (tb *table) hear(answers []Answer) {
	for _, a := range answers {
		require.NotContains(tb.t, tb.answers, a.Call, "a call is answered once")
		tb.answers[a.Call] = a.Resp
	}
}

// pass lets time go by.
func (tb *table) pass(d time.Duration) {
	end := tb.now.Add(d)
	for at := tb.group.Deadline(); !at.IsZero() && !at.After(end); at = tb.group.Deadline() {
		if at.After(tb.now) {
			tb.now = at
		}
		tb.hear(tb.group.Elapsed(tb.now, nil))
	}
	tb.now = end
}

func (tb *table) join(id, instance, metadata string) Call {
	return tb.ask(joinOf(9, id, instance, metadata))
}

func joinOf(version int16, id, instance, metadata string) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version = version
	req.Group, req.ProtocolType, req.MemberID = "g", "consumer", id
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = int32(session.Milliseconds()), int32(rebalance.Milliseconds())
	if instance != "" {
		req.InstanceID = &instance
	}
	req.Protocols = []kmsg.JoinGroupRequestProtocol{{Name: "range", Metadata: []byte(metadata)}}
	return req
}

func (tb *table) joined(c Call) *kmsg.JoinGroupResponse {
	require.Contains(tb.t, tb.answers, c, "the JoinGroup is answered")
	return tb.answers[c].(*kmsg.JoinGroupResponse)
}

func (tb *table) sync(id string, generation int32, plan ...string) Call {
	req := kmsg.NewPtrSyncGroupRequest()
	req.MemberID, req.Generation = id, generation
	for _, to := range plan {
		req.GroupAssignment = append(req.GroupAssignment, kmsg.SyncGroupRequestGroupAssignment{MemberID: to, MemberAssignment: []byte("for " + to)})
	}
	return tb.ask(req)
}

func (tb *table) synced(c Call) *kmsg.SyncGroupResponse {
	require.Contains(tb.t, tb.answers, c, "the SyncGroup is answered")
	return tb.answers[c].(*kmsg.SyncGroupResponse)
}

func (tb *table) heartbeat(id string, generation int32, instance ...string) *kerr.Error {
	req := kmsg.NewPtrHeartbeatRequest()
	req.MemberID, req.Generation = id, generation
	if len(instance) > 0 {
		req.InstanceID = &instance[0]
	}
	return kerr.TypedErrorForCode(tb.answers[tb.ask(req)].(*kmsg.HeartbeatResponse).ErrorCode)
}

func (tb *table) commit(id string, generation int32, next int64) *kerr.Error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.MemberID, req.Generation = id, generation
	req.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: "orders", Partitions: []kmsg.OffsetCommitRequestTopicPartition{{Offset: next}}}}
	resp := tb.answers[tb.ask(req)].(*kmsg.OffsetCommitResponse)
	return kerr.TypedErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
}

func (tb *table) leave(id string) {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Version = 5
	req.Members = []kmsg.LeaveGroupRequestMember{{MemberID: id}}
	tb.ask(req)
}

// newID returns an ID for a dynamic member.
func (tb *table) newID() string {
	resp := tb.joined(tb.join("", "", "-"))
	require.Equal(tb.t, kerr.MemberIDRequired.Code, resp.ErrorCode)
	return resp.MemberID
}

// pair returns a stable group of two: leader and follower, and its generation.
func (tb *table) pair() (leader, follower string, generation int32) {
	leader = tb.newID()
	tb.join(leader, "", "1")
	tb.sync(leader, 1, leader)
	follower = tb.newID()
	second := tb.join(follower, "", "2")
	first := tb.join(leader, "", "1")
	require.Equal(tb.t, leader, tb.joined(second).LeaderID)
	generation = tb.joined(first).Generation
	held := tb.sync(follower, generation)
	require.NotContains(tb.t, tb.answers, held, "a follower is held until the plan is in")
	tb.sync(leader, generation, leader, follower)
	require.Equal(tb.t, "for "+follower, string(tb.synced(held).MemberAssignment))
	require.Equal(tb.t, Stable, tb.group.State())
	return leader, follower, generation
}

func TestOnlyTheLeaderIsToldWhoIsInTheGroup(t *testing.T) {
	tb := newTable(t)
	leader, follower, _ := tb.pair()
	a := tb.join(leader, "", "new")
	b := tb.join(follower, "", "2")
	require.Len(t, tb.joined(a).Members, 2)
	require.Empty(t, tb.joined(b).Members)
	require.Equal(t, leader, tb.joined(b).LeaderID)
}

func TestAnIDThatWasGivenOutHoldsTheRoundUp(t *testing.T) {
	tb := newTable(t)
	leader, follower, generation := tb.pair()
	tb.newID()
	a := tb.join(leader, "", "new")
	tb.join(follower, "", "2")
	tb.pass(session - time.Second)
	require.NotContains(t, tb.answers, a)
	tb.pass(time.Second)
	require.Equal(t, generation+1, tb.joined(a).Generation)
}

func TestWhoDoesNotJoinInTimeIsRemoved(t *testing.T) {
	tb := newTable(t)
	leader, follower, generation := tb.pair()
	again := tb.join(leader, "", "new")
	for range rebalance / time.Second / 5 {
		require.NotContains(t, tb.answers, again)
		require.Equal(t, kerr.RebalanceInProgress, tb.heartbeat(follower, generation))
		tb.pass(5 * time.Second)
	}
	require.Equal(t, generation+1, tb.joined(again).Generation)
	require.Equal(t, kerr.UnknownMemberID, tb.heartbeat(follower, generation))
}

func TestSilentMembersAreRemovedAfterTheirSession(t *testing.T) {
	tb := newTable(t)
	leader, follower, generation := tb.pair()
	tb.pass(session - time.Second)
	require.Nil(t, tb.heartbeat(leader, generation))
	tb.pass(time.Second)
	require.Equal(t, kerr.RebalanceInProgress, tb.heartbeat(leader, generation))
	require.False(t, tb.group.Has(follower))
}

func TestCommitsAreASignOfLife(t *testing.T) {
	tb := newTable(t)
	leader, _, generation := tb.pair()
	tb.pass(session - time.Second)
	require.Nil(t, tb.commit(leader, generation, 7))
	tb.pass(session - time.Second)
	require.True(t, tb.group.Has(leader))
	require.Equal(t, int64(7), tb.log.Offset("orders", 0))
}

func TestCommitsAreTakenUntilTheJoinPhaseEnds(t *testing.T) {
	tb := newTable(t)
	leader, follower, generation := tb.pair()
	tb.join(leader, "", "new")
	require.Nil(t, tb.commit(follower, generation, 1))
	tb.join(follower, "", "new")
	require.Equal(t, kerr.IllegalGeneration, tb.commit(follower, generation, 2))
	require.Equal(t, kerr.RebalanceInProgress, tb.commit(follower, generation+1, 2))
}

func TestFollowerWithNothingNewGetsTheSameGeneration(t *testing.T) {
	tb := newTable(t)
	leader, follower, generation := tb.pair()
	require.Equal(t, generation, tb.joined(tb.join(follower, "", "2")).Generation)
	require.Equal(t, Stable, tb.group.State())
	tb.join(leader, "", "1")
	require.Equal(t, Preparing, tb.group.State(), "a leader that joins again wants a round")
}

func TestWhoSendsNoSyncGroupIsRemoved(t *testing.T) {
	tb := newTable(t)
	leader, follower, generation := tb.pair()
	tb.join(leader, "", "new")
	tb.join(follower, "", "new")
	held := tb.sync(follower, generation+1)
	for range rebalance / time.Second / 5 {
		require.Nil(t, tb.heartbeat(leader, generation+1), "heartbeats do not help")
		tb.pass(5 * time.Second)
	}
	require.Equal(t, kerr.RebalanceInProgress.Code, tb.synced(held).ErrorCode)
	require.False(t, tb.group.Has(leader))
}

func TestStaticMemberComesBackWithoutARound(t *testing.T) {
	tb := newTable(t)
	old := tb.joined(tb.join("", "i", "1")).MemberID
	tb.syncStatic(old, "i", 1)
	back := tb.joined(tb.join("", "i", "1"))
	require.True(t, back.SkipAssignment)
	require.Equal(t, int32(1), back.Generation)
	require.NotEqual(t, old, back.MemberID)
	require.Equal(t, kerr.FencedInstanceID, tb.heartbeat(old, 1, "i"))
	require.Nil(t, tb.heartbeat(back.MemberID, 1, "i"))
}

func (tb *table) syncStatic(id, instance string, generation int32) {
	req := kmsg.NewPtrSyncGroupRequest()
	req.MemberID, req.Generation, req.InstanceID = id, generation, &instance
	tb.ask(req)
}

func TestStaticMemberIsKeptWhenARoundEndsWithoutIt(t *testing.T) {
	tb := newTable(t)
	static := tb.joined(tb.join("", "i", "1")).MemberID
	tb.syncStatic(static, "i", 1)
	dynamic := tb.newID()
	held := tb.join(dynamic, "", "2")
	for range rebalance / time.Second / 5 {
		tb.heartbeat(static, 1, "i")
		tb.pass(5 * time.Second)
	}
	require.Equal(t, dynamic, tb.joined(held).LeaderID, "somebody who has joined leads")
	require.Len(t, tb.joined(held).Members, 2)
	require.True(t, tb.group.Has(static))
	require.Equal(t, kerr.IllegalGeneration, tb.heartbeat(static, 1, "i"))
}

func TestNewCoordinatorKnowsTheLastStableGeneration(t *testing.T) {
	tb := newTable(t)
	leader, follower, generation := tb.pair()
	tb.leave(follower)
	require.Equal(t, kerr.RebalanceInProgress, tb.heartbeat(leader, generation))
	held := tb.join(leader, "", "new")
	require.Equal(t, generation+1, tb.joined(held).Generation)

	held = tb.sync(leader, 0)
	require.Equal(t, kerr.IllegalGeneration.Code, tb.synced(held).ErrorCode)
	tb.hear(tb.group.Unload())
	tb.load()
	require.Nil(t, tb.heartbeat(leader, generation), "the round that was open is forgotten")
	require.Nil(t, tb.heartbeat(follower, generation), "and so is who left in it")
}

func TestUnloadAnswersWhatIsHeld(t *testing.T) {
	tb := newTable(t)
	leader, follower, generation := tb.pair()
	held := tb.join(leader, "", "new")
	tb.hear(tb.group.Unload())
	require.Equal(t, kerr.NotCoordinator.Code, tb.joined(held).ErrorCode)
	tb.load()
	require.Nil(t, tb.heartbeat(follower, generation))
}

func TestBrokerThatLoadsAcceptsHeartbeatsUnseen(t *testing.T) {
	code := kerr.CoordinatorLoadInProgress.Code
	require.Zero(t, Refuse(kmsg.NewPtrHeartbeatRequest(), code).(*kmsg.HeartbeatResponse).ErrorCode)
	require.Equal(t, code, Refuse(kmsg.NewPtrJoinGroupRequest(), code).(*kmsg.JoinGroupResponse).ErrorCode)
	require.Equal(t, kerr.NotCoordinator.Code, Refuse(kmsg.NewPtrHeartbeatRequest(), kerr.NotCoordinator.Code).(*kmsg.HeartbeatResponse).ErrorCode)
}

func TestFirstRoundIsHeldOpen(t *testing.T) {
	tb := newTable(t)
	tb.group = Load(&tb.log, 3*time.Second, tb.now)
	first := tb.newID()
	held := tb.join(first, "", "1")
	tb.pass(3*time.Second - time.Millisecond)
	require.NotContains(t, tb.answers, held)
	tb.pass(3 * time.Second)
	require.Equal(t, int32(1), tb.joined(held).Generation)
}
