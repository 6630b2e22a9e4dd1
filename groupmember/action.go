package groupmember

import "github.com/twmb/franz-go/pkg/kmsg"

// Action is one thing that the driver must do. Actions are performed in the
// order returned. Those with a Seq are questions: each is answered by exactly
// one event with the same Seq, in any order, and never during Step. The set is
// closed.
//
//sumtype:decl
type Action interface{ action() }

// Route says which connection to the coordinator a request takes.
type Route uint8

const (
	// RouteGroup is the member's own connection: JoinGroup, SyncGroup and
	// Heartbeat, which a broker may hold.
	RouteGroup Route = iota
	// RouteControl is for what must not wait behind a held request: commits,
	// LeaveGroup, heartbeats beside a held join.
	RouteControl
)

// Questions.
type (
	// Find asks for the group's coordinator. Forget says that the last one
	// found is not, or no longer, right.
	Find struct {
		Seq    Seq
		Forget bool
	}

	// Send asks the coordinator. The driver does not retry, except for what
	// certainly never left on a stale connection.
	Send struct {
		Seq   Seq
		Route Route
		Req   kmsg.Request
	}

	// Encode asks for what this member subscribes to, as bytes for a
	// JoinGroup, from what it owns now and the generation it got it in (-1 if
	// none). Asked anew for every join, so that the bytes are never stale.
	Encode struct {
		Seq        Seq
		Owned      Partitions
		Generation int32
	}

	// Plan asks the elected leader's side for every member's assignment.
	// Members come as the broker sent them. With Skip the group goes on with the plan
	// that it has (KIP-814): none is made, but whoever leads must from now on watch what
	// the group subscribes to, as after any other Plan.
	Plan struct {
		Seq        Seq
		Generation int32
		Protocol   string
		Members    []Joined
		Skip       bool
	}

	// Decode asks what an assignment's bytes mean.
	Decode struct {
		Seq        Seq
		Protocol   string
		Assignment []byte
	}

	// Resolve asks for the names behind the topic IDs of a KIP-848 assignment.
	Resolve struct {
		Seq    Seq
		Topics []TopicID
	}

	// Revoke takes partitions back. Without Lost the application may finish and
	// commit what it has in hand before the answer; with Lost another member
	// may be reading them already and nothing of them can be committed.
	Revoke struct {
		Seq        Seq
		Partitions Partitions
		Lost       bool
	}
)

// Announcements.
type (
	// Cancel says that the answer to the question Seq is not wanted any more.
	// The driver may stop working on it; it still answers.
	Cancel struct{ Seq Seq }

	// Assigned hands out partitions: Added are new, Owned are all that the
	// member has now. It is also given when nothing was added.
	Assigned struct {
		Generation int32
		Added      Partitions
		Owned      Partitions
	}

	// Suspended says that the member must assume its loss: nothing may be
	// handed out or committed until Resumed or a Revoke with Lost.
	Suspended struct{}

	// Resumed ends Suspended: the coordinator still counts the member in.
	Resumed struct{}

	// Committed answers Commit. Failure is set when the commit as a whole
	// failed; Results has one entry for each of its offsets otherwise.
	Committed struct {
		Ticket  Ticket
		Results []OffsetResult
		Failure Failure
	}

	// LookedUp answers LookUp. Results has one entry for each partition
	// asked for, unless Failure is set.
	LookedUp struct {
		Ticket  Ticket
		Results []OffsetResult
		Failure Failure
	}

	// Warned tells of something that a person should know and that the member
	// goes on without.
	Warned struct{ Text string }

	// Rebalanced explains a rebalance that is over for the member. It comes
	// once for each, after its last Assigned or Revoke; what is not over by the Exit is explained
	// before it. A member that was never in the group explains nothing.
	Rebalanced struct{ Rebalance *Rebalance }

	// Moved reports a move from one state to another, for logs and tests.
	Moved struct {
		From, To State
		Why      string
	}

	// Exit is the last action: the member is done. Failure says why, and is
	// zero after a Leave.
	Exit struct{ Failure Failure }
)

func (Find) action()       {}
func (Send) action()       {}
func (Encode) action()     {}
func (Plan) action()       {}
func (Decode) action()     {}
func (Resolve) action()    {}
func (Revoke) action()     {}
func (Cancel) action()     {}
func (Assigned) action()   {}
func (Suspended) action()  {}
func (Resumed) action()    {}
func (Committed) action()  {}
func (LookedUp) action()   {}
func (Warned) action()     {}
func (Rebalanced) action() {}
func (Moved) action()      {}
func (Exit) action()       {}
