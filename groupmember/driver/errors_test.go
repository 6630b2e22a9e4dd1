package driver

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/musterkafka/muster/groupmember"
)

type slowError struct{}

func (slowError) Error() string { return "no answer" }
func (slowError) Timeout() bool { return true }

type unsentError struct{}

func (unsentError) Error() string { return "connection refused" }
func (unsentError) Unsent() bool  { return true }

func TestPortErrorsBecomeFailures(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want groupmember.Failure
	}{
		{"none", nil, groupmember.Failure{}},
		{"unknown", errors.New("broken pipe"), groupmember.Failure{Kind: groupmember.Unreachable, Text: "broken pipe"}},
		{"timeout", fmt.Errorf("broker 1: %w", slowError{}), groupmember.Failure{Kind: groupmember.TimedOut, Text: "broker 1: no answer"}},
		{"deadline", context.DeadlineExceeded, groupmember.Failure{Kind: groupmember.TimedOut, Text: "context deadline exceeded"}},
		{"canceled", context.Canceled, groupmember.Failure{Kind: groupmember.Canceled, Text: "context canceled"}},
		{"unsent", unsentError{}, groupmember.Failure{Kind: groupmember.Unreachable, Unsent: true, Text: "connection refused"}},
		{"refused", fmt.Errorf("asking: %w", kerr.NotCoordinator), groupmember.Failure{
			Kind: groupmember.BrokerRefused, Code: 16, Text: "asking: " + kerr.NotCoordinator.Error(),
		}},
		{"told", fmt.Errorf("asking: %w", &Error{Failure: groupmember.Failure{Kind: groupmember.Unsupported, Text: "too old"}}), groupmember.Failure{
			Kind: groupmember.Unsupported, Text: "too old",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, failureOf(c.err, groupmember.Unreachable))
		})
	}
}

func TestErrorsSayWhatToCheck(t *testing.T) {
	for _, c := range []struct {
		failure  groupmember.Failure
		instance string
		want     string
	}{
		{
			groupmember.Failure{Kind: groupmember.BrokerRefused, Code: kerr.FencedInstanceID.Code, Text: "heartbeat"},
			"i",
			`group membership: group "g", instance ID "i": heartbeat: FENCED_INSTANCE_ID (another process has joined with the same instance ID; give each its own)`,
		},
		{groupmember.Failure{Kind: groupmember.Unreachable}, "", `group membership: group "g": unreachable`},
		{
			groupmember.Failure{Kind: groupmember.Suspect, Text: "not confirmed"},
			"",
			`group membership: group "g": not confirmed (the coordinator has not answered for almost the session timeout; check that it is reachable)`,
		},
	} {
		err := &Error{Failure: c.failure, Op: "group membership", Group: "g", Instance: c.instance}
		require.EqualError(t, err, c.want)
		require.Equal(t, c.failure.Kind == groupmember.BrokerRefused, errors.Is(err, kerr.FencedInstanceID))
	}
}
