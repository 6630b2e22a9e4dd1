package driver

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	Op       string // what failed, for example "commit offsets"
	Group    string // the consumer group
	Instance string // the member's instance ID (KIP-345); "" for a dynamic member

	cause error
}

// Error says what failed, for which group and instance ID, why, and what to
// check.
func (e *Error) Error() string {
	text, hint := e.Text, hints[e.Kind]
	if refusal := e.refusal(); refusal != nil {
		if !strings.Contains(text, refusal.Message) {
			text = join(text, refusal.Message)
		}
		hint = checks[refusal]
	}
	if text == "" {
		text = e.Kind.String()
	}
	if hint != "" {
		text += " (" + hint + ")"
	}
	switch {
	case e.Op == "":
		return text
	case e.Instance == "":
		return fmt.Sprintf("%s: group %q: %s", e.Op, e.Group, text)
	}
	return fmt.Sprintf("%s: group %q, instance ID %q: %s", e.Op, e.Group, e.Instance, text)
}

// Unwrap returns the broker's error, or the cause on this side, or nil.
func (e *Error) Unwrap() error {
	if refusal := e.refusal(); refusal != nil {
		return refusal
	}
	return e.cause
}

// refusal is the broker's word, or nil if it did not have one.
func (e *Error) refusal() *kerr.Error {
	if e.Kind != groupmember.BrokerRefused {
		return nil
	}
	return kerr.TypedErrorForCode(e.Code)
}

var hints = map[groupmember.FailureKind]string{
	groupmember.Forfeited: "the partition was taken back before this was done; its next owner goes on from the last commit",
	groupmember.Suspect:   "the coordinator has not answered for almost the session timeout; check that it is reachable",
}

// checks say what to look at when a broker refuses a member for good.
var checks = map[*kerr.Error]string{
	kerr.FencedInstanceID:          "another process has joined with the same instance ID; give each its own",
	kerr.GroupAuthorizationFailed:  "check that the ACLs allow READ on the group",
	kerr.TopicAuthorizationFailed:  "check that the ACLs allow READ on the topic",
	kerr.GroupMaxSizeReached:       "the group has as many members as the broker's group.max.size",
	kerr.InconsistentGroupProtocol: "no assignor is configured in all members of the group, or it is not a consumer group",
	kerr.InvalidSessionTimeout:     "the broker allows group.min.session.timeout.ms to group.max.session.timeout.ms",
	kerr.InvalidGroupID:            "the broker does not take this group ID",
	kerr.OffsetMetadataTooLarge:    "the broker's offset.metadata.max.bytes is the limit",
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
