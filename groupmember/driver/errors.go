package driver

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/musterkafka/muster/groupmember"
)

// Error is a failure of a group member. It unwraps to the broker's error code
// (a [kerr.Error], so that errors.Is works with those), or else to what went
// wrong on this side.
//
// A port may return one to say the kind of its failure itself.
type Error struct {
	groupmember.Failure
	Op    string // what failed, for example "commit offsets"
	Group string // the consumer group

	cause error
}

// Error says what failed, for which group, why, and what to check.
func (e *Error) Error() string {
	text := e.Text
	if refusal := kerr.TypedErrorForCode(e.Code); e.Kind == groupmember.BrokerRefused && refusal != nil {
		text = join(refusal.Message, text)
	}
	if text == "" {
		text = e.Kind.String()
	}
	if hint := hints[e.Kind]; hint != "" {
		text += " (" + hint + ")"
	}
	if e.Op == "" {
		return text
	}
	return fmt.Sprintf("%s: group %q: %s", e.Op, e.Group, text)
}

// Unwrap returns the broker's error, or the cause on this side, or nil.
func (e *Error) Unwrap() error {
	if refusal := kerr.TypedErrorForCode(e.Code); e.Kind == groupmember.BrokerRefused && refusal != nil {
		return refusal
	}
	return e.cause
}

var hints = map[groupmember.FailureKind]string{
	groupmember.Forfeited: "the partition was taken back before this was done; its next owner goes on from the last commit",
	groupmember.Suspect:   "the coordinator has not answered for almost the session timeout; check that it is reachable",
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ": " + b
}

// failureOf makes a value of a port's error. otherwise is the kind of an error
// that does not tell its own.
func failureOf(err error, otherwise groupmember.FailureKind) groupmember.Failure {
	if err == nil {
		return groupmember.Failure{}
	}
	failure := groupmember.Failure{Kind: otherwise, Text: err.Error()}
	var unsent interface{ Unsent() bool }
	if errors.As(err, &unsent) {
		failure.Unsent = unsent.Unsent()
	}
	if told, ok := errors.AsType[*Error](err); ok {
		return told.Failure
	}
	if refusal, ok := errors.AsType[*kerr.Error](err); ok {
		failure.Kind, failure.Code = groupmember.BrokerRefused, refusal.Code
		return failure
	}
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.Canceled):
		failure.Kind = groupmember.Canceled
	case errors.As(err, &timeout) && timeout.Timeout():
		failure.Kind = groupmember.TimedOut
	}
	return failure
}
