package groupmember

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// txnOffsetCommit is capped below version 5, which the broker takes for a word of
// the newer transaction protocol (KIP-890). Below version 3 it would not say which member of which
// generation commits, and nobody could be fenced by it (KIP-447).
type txnOffsetCommit struct{ *kmsg.TxnOffsetCommitRequest }

func (txnOffsetCommit) MaxVersion() int16 { return 4 }
func (txnOffsetCommit) MinVersion() int16 { return 3 }

func (m *Member) txnOffsetCommit(producer Producer, offsets []Offset) txnOffsetCommit {
	req := kmsg.NewPtrTxnOffsetCommitRequest()
	req.Group = m.cfg.Group
	req.TransactionalID = producer.TransactionalID
	req.ProducerID, req.ProducerEpoch = producer.ID, producer.Epoch
	req.Generation = m.generation
	req.MemberID = m.id
	req.InstanceID = m.instance
	for _, offset := range offsets {
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != offset.Topic {
			topic := kmsg.NewTxnOffsetCommitRequestTopic()
			topic.Topic = offset.Topic
			req.Topics = append(req.Topics, topic)
		}
		topic := &req.Topics[len(req.Topics)-1]
		p := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.LeaderEpoch = offset.Partition, offset.Next, offset.LeaderEpoch
		metadata := offset.Metadata
		p.Metadata = &metadata
		topic.Partitions = append(topic.Partitions, p)
	}
	return txnOffsetCommit{req}
}

// onTxnOffsetCommit reads the answer. What it says of the transaction or its
// producer is for the application, which has to abort it, and nothing to the member.
func (m *Member) onTxnOffsetCommit(q question, ev Replied) {
	aboard := m.commits.land()
	resp, failure := answerOf[*kmsg.TxnOffsetCommitResponse](ev)
	if failure.Failed() {
		m.onCommitFailed(q, aboard, failure)
		return
	}
	codes := make(map[partition]int16)
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			codes[partition{t.Topic, p.Partition}] = p.ErrorCode
		}
	}
	m.onCommitCodes(q, aboard, codes, txnVerdictOf)
}

func txnVerdictOf(code int16) commitVerdict {
	switch code := kerr.TypedErrorForCode(code); code {
	case nil:
		return committed
	case kerr.CoordinatorLoadInProgress:
		return again
	case kerr.UnknownTopicOrPartition:
		return topicGone
	case kerr.NotCoordinator, kerr.CoordinatorNotAvailable, kerr.RequestTimedOut:
		return astray
	case kerr.RebalanceInProgress:
		return rebalancing
	case kerr.IllegalGeneration, kerr.UnknownMemberID, kerr.GroupIDNotFound, kerr.StaleMemberEpoch:
		return outdated
	case kerr.FencedInstanceID:
		return fenced
	case kerr.InvalidProducerEpoch, kerr.ProducerFenced, kerr.InvalidProducerIDMapping, kerr.InvalidTxnState, kerr.ConcurrentTransactions,
		kerr.TransactionalIDAuthorizationFailed, kerr.TransactionAbortable, kerr.UnsupportedForMessageFormat,
		kerr.GroupAuthorizationFailed, kerr.TopicAuthorizationFailed, kerr.OffsetMetadataTooLarge,
		kerr.InvalidCommitOffsetSize, kerr.InvalidGroupID:
		return refusal
	default:
		if code.Retriable {
			return again
		}
		return refusal
	}
}
