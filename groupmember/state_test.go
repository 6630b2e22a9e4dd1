package groupmember_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/groupmember"
)

var allStates = []groupmember.State{
	groupmember.Idle, groupmember.Finding, groupmember.Waiting, groupmember.Releasing, groupmember.Encoding, groupmember.Joining,
	groupmember.Planning, groupmember.Syncing, groupmember.Decoding, groupmember.Yielding, groupmember.Stable, groupmember.Parting,
	groupmember.Leaving, groupmember.Resting, groupmember.Exited,
}

// requireMovesOfTable compares the moves that members really made, with those of
// the scripts, to the table of legal moves.
func requireMovesOfTable(t *testing.T, seen map[[2]groupmember.State]bool) {
	datadriven.Walk(t, filepath.Join("testdata", "classic"), func(t *testing.T, path string) {
		for _, c := range script(t, path) {
			for _, move := range c.moves {
				seen[[2]groupmember.State{move.From, move.To}] = true
			}
		}
	})
	for _, from := range allStates {
		for _, to := range from.Next() {
			assert.True(t, seen[[2]groupmember.State{from, to}], "%v to %v is in the table, but no script and no history makes the move", from, to)
		}
	}
	for move := range seen {
		require.Contains(t, move[0].Next(), move[1], "the move from %v to %v is not in the table", move[0], move[1])
	}
}

func TestMovesAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "group-member.md"))
	require.NoError(t, err)
	documented := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) == 5 {
			documented[strings.TrimSpace(cells[1])] = strings.TrimSpace(cells[3])
		}
	}
	for _, from := range allStates {
		var next []string
		for _, to := range from.Next() {
			next = append(next, to.String())
		}
		require.Equal(t, strings.Join(next, ", "), documented[from.String()], "the row of %v", from)
	}
}

// Leaving is legal in every state, and takes no more than what the state has
// to give back and to tell.
func TestLeaveInEveryState(t *testing.T) {
	for _, from := range allStates[:len(allStates)-1] {
		t.Run(from.String(), func(t *testing.T) {
			w := reach(t, configFor(from), from)
			begin := w.now
			w.step(groupmember.Leave{Why: "done"})
			for i := 0; !w.exited; i++ {
				require.Less(t, i, 10, w.history())
				if len(w.open) > 0 {
					w.answer()
				} else {
					w.elapse()
				}
			}
			require.Equal(t, begin, w.now, "leaving waits for no timer")
			require.Empty(t, w.owned)
		})
	}
}

func TestAbandonInEveryState(t *testing.T) {
	for _, from := range allStates[:len(allStates)-1] {
		t.Run(from.String(), func(t *testing.T) {
			w := reach(t, configFor(from), from)
			w.step(groupmember.Abandon{})
			require.True(t, w.exited)
			require.Empty(t, w.member.Step(w.now, groupmember.Start{}, nil), "an exited member does nothing")
		})
	}
}
