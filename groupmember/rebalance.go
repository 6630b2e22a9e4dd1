package groupmember

import "time"

// Rebalance explains one rebalance as a member has seen it: from what set it off
// until the member was settled again, or out of the group. Whatever partitions
// are assigned or taken back belong to exactly one. It is not written again
// after it was handed out.
type Rebalance struct {
	Number  int // of this member's, from 1
	Outcome Outcome

	// Trigger is what set it off, as far as this member was told. Setbacks are
	// what made it try again on the way, at most eight, equal ones in a row once;
	// MoreSetbacks counts those left out.
	Trigger      Cause
	Setbacks     []Cause
	MoreSetbacks int

	Attempts int    // JoinGroups sent
	Reason   string // as last sent to the broker (KIP-800); "" if nothing was sent

	MemberID   string
	InstanceID string // "" if the member is dynamic
	Before     int32  // generation; -1 if the member was in none
	After      int32  // generation; -1 if the member is in none
	Protocol   string // the assignor; "" if no JoinGroup succeeded
	Leader     bool   // whether this member leads the generation After
	LeaderID   string // "" if no JoinGroup succeeded

	Took  time.Duration
	Spent Durations // the parts of Took

	// Gained is owned now and was not before; Kept was and is. Revoked was given
	// back in order, with time to commit, and Lost was not. What an eager member gives back and
	// gets again is in Revoked and in Kept; what was lost and comes again is in Lost
	// and in Gained, since another member may have read it in between.
	Gained, Kept, Revoked, Lost Partitions

	Group GroupChange
}

// Outcome says how a rebalance ended for the member. The set is closed.
type Outcome uint8

const (
	Settled   Outcome = iota // the member has its assignment
	Withdrawn                // the member has left and comes back by itself
	Rested                   // the member has left until the application asks for records (KIP-62)
	Left                     // the member has left for good, as it was asked to
	Abandoned                // the member has ended without an answer to its leaving
	Failed                   // the member has ended because of something that will not go away
)

// CauseKind says what kind of thing sets a rebalance off or back. The set is
// closed.
type CauseKind uint8

const (
	NoCause              CauseKind = iota
	MemberStarted                  // Start
	RejoinRequested                // Rejoin: Text is its Why
	ApplicationBack                // the application asked for records again (KIP-62)
	GroupRebalancing               // the coordinator says so; why, it does not tell
	PartitionsYielded              // something was assigned away: the second round of KIP-429
	AssignmentMismatch             // the assignment does not fit the subscription
	MemberExpelled                 // the coordinator does not know the member, or its generation: Code
	RoundMissed                    // a round has ended without the member
	ReleaseOverdue                 // the application did not let go in time
	SessionDoubtful                // the session deadline passed without a word from the coordinator
	CoordinatorLost                // the coordinator is another one, or cannot be reached
	RequestUnanswered              // a held JoinGroup or SyncGroup has no answer to expect
	RequestRefused                 // the coordinator has refused for now: Code
	AnswerSenseless                // an answer that claims success and cannot be right
	SubscriptionFailed             // the subscription could not be encoded
	PlanFailed                     // the assignor gave no plan
	AssignmentUnreadable           // the assignment's bytes make no sense
	ApplicationSilent              // the application has not asked for records in time (KIP-62)
	LeaveRequested                 // Leave, or Abandon
	MemberFailed                   // what ends the member: Code if a broker said it
)

// Cause is what set a rebalance off or back.
type Cause struct {
	Kind CauseKind
	Code int16  // the broker's error code, if it gave one, else 0
	Text string // for people; also the reason that the broker is given (KIP-800)
}

// Durations is time by the State that it was spent in.
type Durations struct {
	Finding, Waiting, Releasing, Encoding, Joining, Planning, Syncing, Decoding, Yielding, Parting, Leaving time.Duration
}

// of returns the time of a state, nil for one in which no rebalance is under way.
func (d *Durations) of(s State) *time.Duration {
	switch s {
	case Finding:
		return &d.Finding
	case Waiting:
		return &d.Waiting
	case Releasing:
		return &d.Releasing
	case Encoding:
		return &d.Encoding
	case Joining:
		return &d.Joining
	case Planning:
		return &d.Planning
	case Syncing:
		return &d.Syncing
	case Decoding:
		return &d.Decoding
	case Yielding:
		return &d.Yielding
	case Parting:
		return &d.Parting
	case Leaving:
		return &d.Leaving
	case Idle, Stable, Resting, Exited:
	}
	return nil
}

// Certainty says how far something may be relied on. The set is closed.
type Certainty uint8

const (
	Unknown  Certainty = iota // the member was not told
	Inferred                  // concluded from what it was told; it may be otherwise
	Known                     // it was told
)

// GroupChange is what has changed in the group. Only a leader is told of it, and it
// compares with the last generation that it led.
type GroupChange struct {
	Size  int   // members; 0 if unknown
	Since int32 // the generation that it is compared with; -1 if there is none

	Members  Certainty
	Joined   []GroupMember
	Gone     []GroupMember
	Returned []GroupMember // static members that have come back under another member ID

	Subscriptions Certainty
	Resubscribed  []GroupMember // members that want other topics

	Topics       Certainty
	TopicChanges []TopicChange

	// Guess is what a follower can tell from its own partitions; "" if nothing.
	// It is never more than Inferred.
	Guess string
}

// GroupMember names a member of the group.
type GroupMember struct {
	ID         string
	InstanceID string // "" if it is dynamic
}

// TopicChange is a topic whose number of partitions has changed: 0 is a topic
// that does not exist, or that nobody subscribes to.
type TopicChange struct {
	Topic         string
	Before, After int32
}

// Composition is what a plan was made of, as its maker read it. It may be left
// zero: then what depends on it is unknown. It is not written again.
type Composition struct {
	Topics     map[string][]string // subscribed to, ascending, by member ID
	Partitions map[string]int32    // how many, by topic
}
