package client

import (
	"github.com/twmb/franz-go/pkg/kerr"
)

// A remedy is what a consumer does about an error code of one partition.
type remedy uint8

const (
	remedyNone    remedy = iota // there is no error
	remedyRetry                 // the broker is busy with itself: ask again after a while
	remedyRefresh               // leadership or the topic has changed: also ask for metadata
	remedyReset                 // the offset is not there: start anew, as ConsumerConfig.Reset says
	remedyTell                  // only a person can help: end the loop with a *PartitionError
)

// fetchRemedies is what to do about each error code of Fetch. A code that is not
// here is told. Only OFFSET_OUT_OF_RANGE moves a position: it comes from the
// leader, as nobody else is asked.
var fetchRemedies = map[int16]remedy{
	0:                                     remedyNone,
	kerr.OffsetOutOfRange.Code:            remedyReset,
	kerr.UnknownTopicOrPartition.Code:     remedyRefresh,
	kerr.LeaderNotAvailable.Code:          remedyRefresh,
	kerr.NotLeaderForPartition.Code:       remedyRefresh,
	kerr.ReplicaNotAvailable.Code:         remedyRefresh,
	kerr.KafkaStorageError.Code:           remedyRefresh,
	kerr.FencedLeaderEpoch.Code:           remedyRefresh,
	kerr.UnknownLeaderEpoch.Code:          remedyRefresh,
	kerr.UnknownTopicID.Code:              remedyRefresh,
	kerr.InconsistentTopicID.Code:         remedyRefresh,
	kerr.OffsetNotAvailable.Code:          remedyRetry,
	kerr.RequestTimedOut.Code:             remedyRetry,
	kerr.NetworkException.Code:            remedyRetry,
	kerr.UnknownServerError.Code:          remedyRetry,
	kerr.OffsetMovedToTieredStorage.Code:  remedyRetry,
	kerr.FetchSessionIDNotFound.Code:      remedyRetry,
	kerr.InvalidFetchSessionEpoch.Code:    remedyRetry,
	kerr.FetchSessionTopicIDError.Code:    remedyRetry,
	kerr.CorruptMessage.Code:              remedyTell,
	kerr.TopicAuthorizationFailed.Code:    remedyTell,
	kerr.UnsupportedCompressionType.Code:  remedyTell,
	kerr.UnsupportedForMessageFormat.Code: remedyTell,
	kerr.UnsupportedVersion.Code:          remedyTell,
	kerr.InvalidRequest.Code:              remedyTell,
}

// listOffsetsRemedies is what to do about each error code of ListOffsets. A code
// that is not here is told.
var listOffsetsRemedies = map[int16]remedy{
	0:                                     remedyNone,
	kerr.UnknownTopicOrPartition.Code:     remedyRefresh,
	kerr.LeaderNotAvailable.Code:          remedyRefresh,
	kerr.NotLeaderForPartition.Code:       remedyRefresh,
	kerr.ReplicaNotAvailable.Code:         remedyRefresh,
	kerr.KafkaStorageError.Code:           remedyRefresh,
	kerr.FencedLeaderEpoch.Code:           remedyRefresh,
	kerr.UnknownLeaderEpoch.Code:          remedyRefresh,
	kerr.UnknownTopicID.Code:              remedyRefresh,
	kerr.OffsetNotAvailable.Code:          remedyRetry,
	kerr.RequestTimedOut.Code:             remedyRetry,
	kerr.NetworkException.Code:            remedyRetry,
	kerr.UnknownServerError.Code:          remedyRetry,
	kerr.TopicAuthorizationFailed.Code:    remedyTell,
	kerr.UnsupportedForMessageFormat.Code: remedyTell,
	kerr.UnsupportedVersion.Code:          remedyTell,
	kerr.InvalidRequest.Code:              remedyTell,
}

// lookUpRemedies is what to do about the error code of one partition when the
// committed offset is looked up. The member itself has tried again what can be tried
// again by then. An error never counts as "nothing committed".
var lookUpRemedies = map[int16]remedy{
	0:                                  remedyNone,
	kerr.UnknownTopicOrPartition.Code:  remedyRefresh,
	kerr.UnknownTopicID.Code:           remedyRefresh,
	kerr.UnstableOffsetCommit.Code:     remedyRetry,
	kerr.UnknownServerError.Code:       remedyRetry,
	kerr.TopicAuthorizationFailed.Code: remedyTell,
}

func remedyFor(table map[int16]remedy, code int16) remedy {
	if r, ok := table[code]; ok {
		return r
	}
	return remedyTell
}
