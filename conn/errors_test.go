package conn

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnsentSeesThroughTheChain(t *testing.T) {
	unsent := &Error{Addr: "a:1", API: "Fetch", Err: io.EOF}
	sent := &Error{Addr: "a:1", API: "Fetch", Sent: true, Err: io.EOF}
	for _, test := range []struct {
		name string
		err  error
		want bool
	}{
		{"nil", nil, false},
		{"another error", io.EOF, false},
		{"unsent", unsent, true},
		{"sent", sent, false},
		{"wrapped", fmt.Errorf("while fetching: %w", unsent), true},
		{"joined", errors.Join(io.EOF, unsent), true},
	} {
		require.Equal(t, test.want, Unsent(test.err), test.name)
	}
	require.ErrorIs(t, unsent, io.EOF)
	require.EqualError(t, unsent, "broker a:1: Fetch: EOF")
	require.EqualError(t, &Error{Addr: "a:1", Err: io.EOF}, "broker a:1: EOF")
}
