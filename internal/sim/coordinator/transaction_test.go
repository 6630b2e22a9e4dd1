package coordinator

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// An offset that is part of a transaction is there when it ends, and nobody who asks for
// stable offsets is told an older one before. It is no sign of life.
func TestTransactionalOffsetsWaitForTheEnd(t *testing.T) {
	tb := newTable(t)
	leader, _, generation := tb.pair()
	deadline := tb.group.Deadline()
	tb.now = tb.now.Add(time.Second)
	require.NoError(t, tb.stage(leader, generation, 1, 7))
	require.Equal(t, deadline, tb.group.Deadline())
	require.Equal(t, kerr.UnstableOffsetCommit, tb.stableOffset())
	tb.log.EndTransaction(99, 1, true)
	require.NoError(t, tb.stableOffset())
	require.EqualValues(t, 7, tb.log.Offset("orders", 0))
}

func TestAbortedOffsetsAreNotCommitted(t *testing.T) {
	tb := newTable(t)
	leader, _, generation := tb.pair()
	require.NoError(t, tb.stage(leader, generation, 1, 7))
	tb.log.EndTransaction(99, 1, false)
	require.EqualValues(t, -1, tb.log.Offset("orders", 0))
	require.Equal(t, kerr.InvalidProducerEpoch, tb.stage(leader, generation, 1, 8), "the transaction has ended")
	require.Equal(t, kerr.IllegalGeneration, tb.stage(leader, generation-1, 2, 8))
	require.Equal(t, kerr.UnknownMemberID, tb.stage("nobody", generation, 2, 8))
	require.NoError(t, tb.stage(leader, generation, 2, 8))
}

func (tb *table) stage(id string, generation int32, epoch int16, next int64) error {
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.MemberID, req.Generation, req.ProducerID, req.ProducerEpoch = id, generation, 99, epoch
	req.Topics = []kmsg.TxnOffsetCommitRequestTopic{{Topic: "orders", Partitions: []kmsg.TxnOffsetCommitRequestTopicPartition{{Offset: next}}}}
	resp := tb.answers[tb.ask(req)].(*kmsg.TxnOffsetCommitResponse)
	return kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
}

func (tb *table) stableOffset() error {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.RequireStable = true
	req.Groups = []kmsg.OffsetFetchRequestGroup{{Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: "orders", Partitions: []int32{0}}}}}
	resp := tb.answers[tb.ask(req)].(*kmsg.OffsetFetchResponse)
	return kerr.ErrorForCode(resp.Groups[0].Topics[0].Partitions[0].ErrorCode)
}
