package demo

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheStoryWaitsUntilEverybodyWasGivenPartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := make(chan struct{}), make(chan struct{})
		c := &cast{here: []*player{{name: "member-1", owns: first}, {name: "member-2", owns: second}}}
		time.AfterFunc(2*time.Second, func() { close(first) })
		time.AfterFunc(time.Second, func() { close(second) })
		began := time.Now()
		require.NoError(t, c.settle(t.Context()))
		require.Equal(t, 2*time.Second, time.Since(began))
	})
}

func TestTheStoryEndsWithAMemberThatCannotGoOn(t *testing.T) {
	ended := make(chan struct{})
	close(ended)
	c := &cast{here: []*player{{name: "member-1", owns: make(chan struct{}), ended: ended}}}
	require.ErrorContains(t, c.settle(t.Context()), "member-1")
}

func TestTheStoryEndsWithItsContext(t *testing.T) {
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	c := &cast{here: []*player{{name: "member-1", owns: make(chan struct{})}}}
	require.ErrorIs(t, c.settle(ctx), gone)
}
