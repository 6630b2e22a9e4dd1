package groupmember

import "github.com/twmb/franz-go/pkg/kmsg"

// OffsetsIn returns the offsets of an OffsetCommit or TxnOffsetCommit, nil for
// anything else.
func OffsetsIn(req kmsg.Request) []Offset {
	switch req := req.(type) {
	case offsetCommit:
		return requestedOffsets(req)
	case txnOffsetCommit:
		return requestedTxnOffsets(req)
	}
	return nil
}
