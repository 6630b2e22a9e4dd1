package groupmember

import "github.com/twmb/franz-go/pkg/kmsg"

// Seq numbers the questions of one member, from 1. Every [Action] that has one
// is answered by exactly one [Event] with the same Seq, failure or not.
type Seq uint64

// Ticket names a commit or an offset look-up of the application. The asker
// chooses it; a ticket must not be used again before it has been answered.
type Ticket uint64

// Event is one thing that happened to the member. The set is closed.
//
//sumtype:decl
type Event interface{ event() }

// Answers: each closes the question of the same Seq.
type (
	// Found answers Find. Code is FindCoordinator's error code for the group,
	// 0 when the coordinator is now known to the driver; Failure is set when no
	// broker answered.
	Found struct {
		Seq     Seq
		Code    int16
		Failure Failure
	}

	// Replied answers Send: with the broker's response, or with the failure
	// that took its place.
	Replied struct {
		Seq     Seq
		Resp    kmsg.Response
		Failure Failure
	}

	// Encoded answers Encode.
	Encoded struct {
		Seq          Seq
		Subscription Subscription
		Failure      Failure
	}

	// Planned answers Plan: the bytes that each member shall get, one entry
	// for every member of the question, or none if it has Skip. Group is what the
	// plan was made of; it serves explanations only.
	Planned struct {
		Seq         Seq
		Assignments []Assignment
		Group       Composition
		Failure     Failure
	}

	// Decoded answers Decode and Resolve. Foreign is the part of the
	// assignment that does not fit the subscription and so must not be read.
	Decoded struct {
		Seq        Seq
		Partitions Partitions
		Foreign    Partitions
		Failure    Failure
	}

	// Released answers Revoke: the application has let go of the partitions.
	// It has no Failure, since a partition that was taken back is gone.
	Released struct{ Seq Seq }
)

// What the application, the metadata and the clock have to say.
type (
	// Start makes the member join. It comes first, and once.
	Start struct{}

	// Rejoin asks for a new round: the subscription changed, the leader saw
	// the metadata change, or the application wants one (KIP-568). Why is sent
	// to the broker (KIP-800) and logged; it must not hold user data.
	Rejoin struct{ Why string }

	// Asked says that the application asked for records, which is its sign of
	// life (KIP-62).
	Asked struct{}

	// Commit asks for offsets to be committed. It is answered by Committed.
	// Producer makes it part of that producer's transaction (TxnOffsetCommit, KIP-447), to which the
	// group's offsets must have been added before (AddOffsetsToTxn); nil is a plain one. A
	// broker that cannot tell who commits (before Kafka 2.5) is not asked: the failure is Unsupported.
	Commit struct {
		Ticket   Ticket
		Offsets  []Offset
		Producer *Producer
	}

	// Withdraw says that nobody waits for a Commit any more: nothing more is sent
	// for it. A request that is under way may still be carried out, so a transaction that it is part of
	// must be aborted, and its producer's epoch raised before the next one. If it is not answered
	// yet, the answer is a Failure of kind Canceled.
	Withdraw struct{ Ticket Ticket }

	// LookUp asks for the committed offsets of partitions (OffsetFetch). It is
	// answered by LookedUp.
	LookUp struct {
		Ticket     Ticket
		Partitions Partitions
	}

	// Leave makes the member give its partitions back, leave the group and
	// exit, from any state. With Remain it exits without a LeaveGroup, so that
	// the group keeps its place until the session times out (KIP-1092).
	Leave struct {
		Why    string
		Remain bool
	}

	// Abandon ends the member at once, whatever it is waiting for: the time
	// that was given to Leave is over.
	Abandon struct{}

	// Elapsed says that the time named by Deadline has come.
	Elapsed struct{}
)

func (Found) event()    {}
func (Replied) event()  {}
func (Encoded) event()  {}
func (Planned) event()  {}
func (Decoded) event()  {}
func (Released) event() {}
func (Start) event()    {}
func (Rejoin) event()   {}
func (Asked) event()    {}
func (Commit) event()   {}
func (Withdraw) event() {}
func (LookUp) event()   {}
func (Leave) event()    {}
func (Abandon) event()  {}
func (Elapsed) event()  {}
