package groupmember

// Partitions maps a topic to partitions, ascending and without duplicates. A
// value that has been handed over is not written again by either side.
type Partitions map[string][]int32

// A Protocol is an assignor's name with this member's subscription as that
// assignor wants it encoded.
type Protocol struct {
	Name     string
	Metadata []byte
}

// Subscription is what a member wants to read, in the form of both protocols:
// the classic one sends Protocols, in order of preference; KIP-848 sends the
// rest.
type Subscription struct {
	Protocols []Protocol
	Topics    []string // ascending
	Pattern   string   // RE2, matched against whole names; "" if none
	Rack      string   // "" if unknown
}

// Joined is one member of the group as the leader is told of it.
type Joined struct {
	ID         string
	InstanceID string // "" if the member is dynamic
	Metadata   []byte
}

// Assignment is what the leader gives to one member.
type Assignment struct {
	MemberID string
	Bytes    []byte
}

// TopicID is a topic of a KIP-848 assignment.
type TopicID struct {
	ID         [16]byte
	Partitions []int32
}

// Offset is a position to commit: Next is the offset of the next record to be
// read, so one more than that of the last record done.
type Offset struct {
	Topic       string
	Partition   int32
	Next        int64
	LeaderEpoch int32 // of the last record done; -1 if unknown (KIP-320)
	Metadata    string
}

// OffsetResult is the outcome for one partition: of a commit, or of a look-up.
// Code 0 with Offset.Next -1 in a look-up means that nothing is committed.
type OffsetResult struct {
	Offset Offset
	Code   int16
}

// Producer identifies the transaction that a commit is part of.
type Producer struct {
	TransactionalID string
	ID              int64
	Epoch           int16
}
