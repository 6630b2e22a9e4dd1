package groupmember

// FailureKind says what kind of thing went wrong. The set is closed.
type FailureKind uint8

const (
	NoFailure     FailureKind = iota
	BrokerRefused             // the broker answered with Code
	Unreachable               // no connection, or it broke before an answer
	TimedOut                  // no answer in time
	Unsupported               // the broker does not speak a version that this needs
	Canceled                  // whoever asked does not want it any more
	Rejected                  // our own side said no: an assignor, a check, a codec
	Forfeited                 // the member no longer owns what the question was about
	Suspect                   // the member must assume that it lost its membership
	Closed                    // the member has exited
)

// Failure is an error as a value, so that events can be written down and
// compared. The zero value is no failure.
type Failure struct {
	Kind   FailureKind
	Code   int16  // the broker's error code if Kind is BrokerRefused, else 0
	Unsent bool   // no byte of the request left this process
	Text   string // for people
}

// Failed reports whether f is a failure.
func (f Failure) Failed() bool { return f.Kind != NoFailure }

var kindNames = [...]string{
	NoFailure: "no failure", BrokerRefused: "refused by the broker", Unreachable: "unreachable", TimedOut: "timed out",
	Unsupported: "not supported by the broker", Canceled: "canceled", Rejected: "rejected", Forfeited: "forfeited",
	Suspect: "membership in doubt", Closed: "closed",
}

// String says in words what kind of failure k is.
func (k FailureKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown failure"
}
