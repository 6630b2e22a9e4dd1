package coordinator

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// transaction is what one producer has under way. Of the coordinator of transactions there is only
// what the group's has to do with.
type transaction struct {
	offsets []staged // of the open one, in the order they came
	ended   int16    // the epoch of the last one that has ended
}

type staged struct {
	at   place
	next int64
}

// txnOffsetCommit takes offsets in as part of a transaction: whoever looks them up waits
// until it ends. Unlike a plain commit it says nothing of the member's life, and it may come
// while the leader plans.
func (g *Group) txnOffsetCommit(call Call, req *kmsg.TxnOffsetCommitRequest) {
	_, problem := g.validate(req.MemberID, req.InstanceID)
	switch {
	case problem != nil:
	case req.Generation != g.generation:
		problem = kerr.IllegalGeneration
	case !g.log.stage(req):
		problem = kerr.InvalidProducerEpoch
	}
	g.answer(call, txnCommitAnswer(req, problem))
}

func txnCommitAnswer(req *kmsg.TxnOffsetCommitRequest, problem *kerr.Error) *kmsg.TxnOffsetCommitResponse {
	resp := kmsg.NewPtrTxnOffsetCommitResponse()
	for _, t := range req.Topics {
		topic := kmsg.NewTxnOffsetCommitResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			partition := kmsg.NewTxnOffsetCommitResponseTopicPartition()
			partition.Partition, partition.ErrorCode = p.Partition, codeOf(problem)
			topic.Partitions = append(topic.Partitions, partition)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}

// stage keeps the offsets of a transaction, unless it has ended.
func (l *Log) stage(req *kmsg.TxnOffsetCommitRequest) bool {
	one := l.transaction(req.ProducerID)
	if req.ProducerEpoch <= one.ended {
		return false
	}
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			one.offsets = append(one.offsets, staged{place{t.Topic, p.Partition}, p.Offset})
		}
	}
	return true
}

func (l *Log) transaction(producer int64) *transaction {
	if l.transactions == nil {
		l.transactions = make(map[int64]*transaction)
	}
	if l.transactions[producer] == nil {
		l.transactions[producer] = &transaction{}
	}
	return l.transactions[producer]
}

// EndTransaction commits or aborts what a producer has under way in an epoch, which is
// 1 or more, and reports whether it is committed. What comes of that epoch later is refused; an
// epoch that has ended stays so.
func (l *Log) EndTransaction(producer int64, epoch int16, commit bool) bool {
	one := l.transaction(producer)
	if epoch <= one.ended {
		return false
	}
	for _, o := range one.offsets {
		if commit {
			l.store(o.at, o.next)
		}
	}
	one.offsets, one.ended = nil, epoch
	return commit
}

// unstable reports whether a transaction has an offset of the partition under way.
func (l *Log) unstable(at place) bool {
	for _, one := range l.transactions {
		if slices.ContainsFunc(one.offsets, func(o staged) bool { return o.at == at }) {
			return true
		}
	}
	return false
}
