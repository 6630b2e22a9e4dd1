package groupmember_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/groupmember"
)

var allStates = []groupmember.State{
	groupmember.Idle, groupmember.Finding, groupmember.Waiting, groupmember.Releasing, groupmember.Encoding, groupmember.Joining,
	groupmember.Planning, groupmember.Syncing, groupmember.Decoding, groupmember.Yielding, groupmember.Stable, groupmember.Parting,
	groupmember.Leaving, groupmember.Resting, groupmember.Exited,
}

// The table of legal moves, the one in the documentation, and the moves that
// members really make are the same.
func TestMovesAreThoseOfTheTable(t *testing.T) {
	seen := make(map[[2]groupmember.State]bool)
	datadriven.Walk(t, filepath.Join("testdata", "classic"), func(t *testing.T, path string) {
		for _, c := range script(t, path) {
			for _, move := range c.moves {
				seen[[2]groupmember.State{move.From, move.To}] = true
			}
		}
	})
	for _, cfg := range wanderedConfigs {
		for seed := range uint64(wanders) {
			cfg.Seed = seed
			w := newWanderer(t, cfg, seed)
			w.wander()
			for move := range w.watch.moves {
				seen[move] = true
			}
		}
	}
	var table, made []string
	for _, from := range allStates {
		for _, to := range from.Next() {
			table = append(table, fmt.Sprintf("%v -> %v", from, to))
		}
	}
	for move := range seen {
		made = append(made, fmt.Sprintf("%v -> %v", move[0], move[1]))
	}
	slices.Sort(table)
	slices.Sort(made)
	require.Equal(t, table, made)
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
