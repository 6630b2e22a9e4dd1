package client

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
)

// produceRemedies is what a producer does about each error code of Produce. What
// is retried is retried until the delivery timeout. A code that is not here is told.
var produceRemedies = map[int16]remedy{
	0:                                      remedyNone,
	kerr.UnknownTopicOrPartition.Code:      remedyRefresh,
	kerr.LeaderNotAvailable.Code:           remedyRefresh,
	kerr.NotLeaderForPartition.Code:        remedyRefresh,
	kerr.ReplicaNotAvailable.Code:          remedyRefresh,
	kerr.NetworkException.Code:             remedyRefresh,
	kerr.KafkaStorageError.Code:            remedyRefresh,
	kerr.FencedLeaderEpoch.Code:            remedyRefresh,
	kerr.UnknownLeaderEpoch.Code:           remedyRefresh,
	kerr.UnknownTopicID.Code:               remedyRefresh,
	kerr.InconsistentTopicID.Code:          remedyRefresh,
	kerr.CorruptMessage.Code:               remedyRetry, // damaged on its way
	kerr.RequestTimedOut.Code:              remedyRetry,
	kerr.NotEnoughReplicas.Code:            remedyRetry,
	kerr.NotEnoughReplicasAfterAppend.Code: remedyRetry,
	kerr.ThrottlingQuotaExceeded.Code:      remedyRetry,
	kerr.MessageTooLarge.Code:              remedyTell,
	kerr.RecordListTooLarge.Code:           remedyTell,
	kerr.InvalidTopicException.Code:        remedyTell,
	kerr.InvalidRequiredAcks.Code:          remedyTell,
	kerr.TopicAuthorizationFailed.Code:     remedyTell,
	kerr.ClusterAuthorizationFailed.Code:   remedyTell,
	kerr.InvalidTimestamp.Code:             remedyTell,
	kerr.UnsupportedForMessageFormat.Code:  remedyTell,
	kerr.UnsupportedVersion.Code:           remedyTell,
	kerr.InvalidRequest.Code:               remedyTell,
	kerr.PolicyViolation.Code:              remedyTell,
	kerr.UnsupportedCompressionType.Code:   remedyTell,
	kerr.InvalidRecord.Code:                remedyTell,
	kerr.UnknownServerError.Code:           remedyTell,
}

// produceAppended are the codes with which the broker has, or may have, written
// the batch.
var produceAppended = map[int16]bool{
	kerr.RequestTimedOut.Code:              true,
	kerr.NetworkException.Code:             true,
	kerr.NotEnoughReplicasAfterAppend.Code: true,
	kerr.UnknownServerError.Code:           true,
}

// produceSplits are the codes with which a broker refuses a batch for its size. A batch
// with more than one record is sent as two then.
var produceSplits = map[int16]bool{
	kerr.MessageTooLarge.Code:    true,
	kerr.RecordListTooLarge.Code: true,
}

// produceChecks is what a person can look at when records were not written.
var produceChecks = map[int16]string{
	kerr.UnknownTopicOrPartition.Code:      "check the topic's name, and that it has not been deleted: topics are not created by producing to them",
	kerr.LeaderNotAvailable.Code:           "check that the brokers which hold the partition are running",
	kerr.NotLeaderForPartition.Code:        "check that the brokers agree who leads the partition",
	kerr.KafkaStorageError.Code:            "check the disks of the broker",
	kerr.RequestTimedOut.Code:              "check that the replicas of the partition keep up with its leader",
	kerr.NotEnoughReplicas.Code:            "check how many replicas are in sync, and the topic's min.insync.replicas",
	kerr.NotEnoughReplicasAfterAppend.Code: "check how many replicas are in sync, and the topic's min.insync.replicas",
	kerr.MessageTooLarge.Code:              "check the topic's max.message.bytes and the broker's message.max.bytes",
	kerr.RecordListTooLarge.Code:           "check the segment.bytes of the topic",
	kerr.InvalidTopicException.Code:        "check the topic's name; internal topics cannot be produced to",
	kerr.TopicAuthorizationFailed.Code:     "check the ACL: the principal needs Write on the topic",
	kerr.ClusterAuthorizationFailed.Code:   "check the ACL of the principal",
	kerr.InvalidTimestamp.Code:             "check Record.Timestamp against the topic's message.timestamp.before.max.ms and message.timestamp.after.max.ms",
	kerr.UnsupportedForMessageFormat.Code:  "check the topic's message.format.version: headers need 0.11",
	kerr.UnsupportedCompressionType.Code:   "check ProducerConfig.Compression: zstd needs Kafka 2.1",
	kerr.PolicyViolation.Code:              "check the policies of the cluster",
	kerr.InvalidRecord.Code:                "check that the record has a key if the topic is compacted, and a sane timestamp",
	kerr.UnknownServerError.Code:           "check the log of the broker",
}

func produceCheck(err error) string {
	if refusal, ok := errors.AsType[*kerr.Error](err); ok {
		return produceChecks[refusal.Code]
	}
	return ""
}
