package client

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a consumer does about the error codes of the three APIs that say where and
// what to read. Sources: the error lists of Kafka's FetchRequest, ListOffsets and
// OffsetFetch; KIP-320 for 74 and 75, KIP-516 for 100 and 103, KIP-447 for 88,
// KIP-405 for 109. The numbers are Kafka's; nothing here is taken from the code under
// test.
var remedyTable = []struct {
	code                       int16
	fetch, listOffsets, lookUp remedy
	why                        string
}{
	{0, remedyNone, remedyNone, remedyNone, "no error"},
	{-1, remedyRetry, remedyRetry, remedyRetry, "UNKNOWN_SERVER_ERROR passes or not; nothing is lost by waiting"},
	{1, remedyReset, remedyTell, remedyTell, "OFFSET_OUT_OF_RANGE is for Fetch alone"},
	{2, remedyTell, remedyTell, remedyTell, "CORRUPT_MESSAGE: the broker's disk"},
	{3, remedyRefresh, remedyRefresh, remedyRefresh, "UNKNOWN_TOPIC_OR_PARTITION: deleted, or a broker that has just started"},
	{5, remedyRefresh, remedyRefresh, remedyTell, "LEADER_NOT_AVAILABLE"},
	{6, remedyRefresh, remedyRefresh, remedyTell, "NOT_LEADER_OR_FOLLOWER"},
	{7, remedyRetry, remedyRetry, remedyTell, "REQUEST_TIMED_OUT"},
	{9, remedyRefresh, remedyRefresh, remedyTell, "REPLICA_NOT_AVAILABLE"},
	{13, remedyRetry, remedyRetry, remedyTell, "NETWORK_EXCEPTION"},
	{29, remedyTell, remedyTell, remedyTell, "TOPIC_AUTHORIZATION_FAILED"},
	{35, remedyTell, remedyTell, remedyTell, "UNSUPPORTED_VERSION"},
	{42, remedyTell, remedyTell, remedyTell, "INVALID_REQUEST"},
	{43, remedyTell, remedyTell, remedyTell, "UNSUPPORTED_FOR_MESSAGE_FORMAT"},
	{56, remedyRefresh, remedyRefresh, remedyTell, "KAFKA_STORAGE_ERROR: the replica is offline, another will lead"},
	{70, remedyRetry, remedyTell, remedyTell, "FETCH_SESSION_ID_NOT_FOUND"},
	{71, remedyRetry, remedyTell, remedyTell, "INVALID_FETCH_SESSION_EPOCH"},
	{74, remedyRefresh, remedyRefresh, remedyTell, "FENCED_LEADER_EPOCH: our metadata is old"},
	{75, remedyRefresh, remedyRefresh, remedyTell, "UNKNOWN_LEADER_EPOCH: the broker's is"},
	{76, remedyTell, remedyTell, remedyTell, "UNSUPPORTED_COMPRESSION_TYPE"},
	{78, remedyRetry, remedyRetry, remedyTell, "OFFSET_NOT_AVAILABLE: the new leader does not know its high watermark yet"},
	{88, remedyTell, remedyTell, remedyRetry, "UNSTABLE_OFFSET_COMMIT: a transaction is open"},
	{100, remedyRefresh, remedyRefresh, remedyRefresh, "UNKNOWN_TOPIC_ID"},
	{103, remedyRefresh, remedyTell, remedyTell, "INCONSISTENT_TOPIC_ID"},
	{106, remedyRetry, remedyTell, remedyTell, "FETCH_SESSION_TOPIC_ID_ERROR"},
	{109, remedyRetry, remedyTell, remedyTell, "OFFSET_MOVED_TO_TIERED_STORAGE: only followers get it"},
	{999, remedyTell, remedyTell, remedyTell, "a code of the future: a person must know"},
}

func TestEachErrorCodeHasItsRemedy(t *testing.T) {
	for _, row := range remedyTable {
		require.Equal(t, row.fetch, remedyFor(fetchRemedies, row.code), "Fetch %d: %s", row.code, row.why)
		require.Equal(t, row.listOffsets, remedyFor(listOffsetsRemedies, row.code), "ListOffsets %d: %s", row.code, row.why)
		require.Equal(t, row.lookUp, remedyFor(lookUpRemedies, row.code), "OffsetFetch %d: %s", row.code, row.why)
	}
}

func TestEachCodeInTheCodeHasARow(t *testing.T) {
	rows := make(map[int16]bool)
	for _, row := range remedyTable {
		rows[row.code] = true
	}
	for _, table := range []map[int16]remedy{fetchRemedies, listOffsetsRemedies, lookUpRemedies} {
		for code := range table {
			require.True(t, rows[code], "code %d has no row", code)
		}
	}
}
