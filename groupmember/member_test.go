package groupmember_test

import (
	"path/filepath"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// The classic protocol as conversations. Run with -rewrite after a change of
// behaviour, and read the diff.
func TestClassicConversations(t *testing.T) {
	datadriven.Walk(t, filepath.Join("testdata", "classic"), func(t *testing.T, path string) { script(t, path) })
}

func TestConfigReportsAllProblemsAtOnce(t *testing.T) {
	_, err := groupmember.New(groupmember.Config{SessionTimeout: -1, HeartbeatInterval: -1, MinBackoff: 2, MaxBackoff: 1})
	for _, problem := range []string{"group is empty", "session timeout is", "heartbeat interval is", "minimum back-off"} {
		require.ErrorContains(t, err, problem)
	}
}

// What is random is seeded: the same history gives the same actions, to the
// byte.
func TestEqualHistoriesGiveEqualActions(t *testing.T) {
	for _, cfg := range wanderedConfigs {
		for seed := range uint64(50) {
			cfg.Seed = seed
			first, second := newWanderer(t, cfg, seed), newWanderer(t, cfg, seed)
			first.wander()
			second.wander()
			require.Equal(t, first.watch.history(), second.watch.history())
		}
	}
}

// A group of ten thousand idle members costs what their heartbeats cost.
func TestHeartbeatRoundAllocatesTheRequestOnly(t *testing.T) {
	w := reach(t, groupmember.Config{Group: "g"}, groupmember.Stable)
	var (
		out  []groupmember.Action
		now  = w.now
		resp = kmsg.NewPtrHeartbeatResponse()
		evs  [200]groupmember.Event
	)
	seq := groupmember.Seq(0)
	for out = w.member.Step(w.member.Deadline(), groupmember.Elapsed{}, nil); seq == 0; {
		seq = seqOf(out[0])
	}
	for i := range evs { // an event costs its teller an allocation, not the member
		evs[i] = groupmember.Replied{Seq: seq + groupmember.Seq(i), Resp: resp}
	}
	i := 0
	round := func() {
		out = w.member.Step(now, evs[i], out[:0])
		i++
		now = w.member.Deadline()
		out = w.member.Step(now, groupmember.Elapsed{}, out[:0])
	}
	require.LessOrEqual(t, testing.AllocsPerRun(100, round), 2.0)
	require.Len(t, out, 1, "the round is a heartbeat")
}

func BenchmarkHeartbeatRound(b *testing.B) {
	w := reach(b, groupmember.Config{Group: "g"}, groupmember.Stable)
	resp := kmsg.NewPtrHeartbeatResponse()
	var out []groupmember.Action
	b.ReportAllocs()
	for b.Loop() {
		now := w.member.Deadline()
		out = w.member.Step(now, groupmember.Elapsed{}, out[:0])
		out = w.member.Step(now, groupmember.Replied{Seq: seqOf(out[0]), Resp: resp}, out[:0])
	}
}

func TestTransactionWithoutAnIDIsRefused(t *testing.T) {
	w := reach(t, groupmember.Config{Group: "g"}, groupmember.Stable)
	w.step(groupmember.Commit{Ticket: 1, Offsets: []groupmember.Offset{{Topic: "orders", Next: 5}}, Producer: &groupmember.Producer{ID: 7}})
	require.Equal(t, "failed", w.outcome)
	require.False(t, w.asks("TxnOffsetCommit"))
}
