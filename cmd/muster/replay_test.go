package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/groupmember/history"
)

// recorded is the history of a member that does not find its coordinator.
func recorded(t *testing.T) string {
	t.Helper()
	cfg := groupmember.Config{Group: "billing"}
	member, err := groupmember.New(cfg)
	require.NoError(t, err)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var out bytes.Buffer
	r := history.NewRecorder(&out, func(err error) { t.Error(err) })
	r.Begin(now, cfg)
	for _, ev := range []groupmember.Event{
		groupmember.Start{},
		groupmember.Found{Seq: 1, Failure: groupmember.Failure{Kind: groupmember.Unreachable, Text: "no broker\x1b[2J\nanswers"}},
		groupmember.Asked{},
	} {
		now = now.Add(1500 * time.Millisecond)
		r.Step(now, ev, member.Step(now, ev, nil))
	}
	return out.String()
}

// run runs the command on a history and returns what it prints.
func run(t *testing.T, text string, args ...string) (string, error) {
	t.Helper()
	cmd := replayCommand()
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetIn(strings.NewReader(text))
	cmd.SetArgs(append(args, "-"))
	err := cmd.Execute()
	return out.String(), err
}

func TestReplayPrintsTheConversation(t *testing.T) {
	out, err := run(t, recorded(t))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(out, "\n")
	require.True(t, strings.HasPrefix(out, "group billing, recorded from 2026-01-02 03:04:05 UTC on by muster "), out)
	require.Equal(t, `       1.500 s  Idle       start
                           moved Idle -> Finding: consumer started
                           find 1
       3.000 s  Finding    found 1 failed: unreachable: no broker\x1b[2J\nanswers
       4.500 s  Finding    asked
                           find 2
replay: 3 events, 3 actions, all equal
`, rest)
}

func TestQuietReplayPrintsTheResultOnly(t *testing.T) {
	out, err := run(t, recorded(t), "--quiet")
	require.NoError(t, err)
	require.Equal(t, "replay: 3 events, 3 actions, all equal\n", out)
}

func TestReplayShowsBothFormsOfTheFirstDifference(t *testing.T) {
	text := strings.Replace(recorded(t), `{"Find":{"Seq":1}}`, `{"Find":{"Seq":2}}`, 1)
	out, err := run(t, text, "--quiet")
	require.EqualError(t, err, "standard input: line 2 is not replayed to the same action")
	require.Equal(t, `line 2, action 2 differs:
  recorded: find 2
            {"Find":{"Seq":2}}
  replayed: find 1
            {"Find":{"Seq":1}}
`, out)

	text = strings.Replace(recorded(t), `,{"Find":{"Seq":1}}`, ``, 1)
	out, err = run(t, strings.Replace(text, `"muster":"`, `"muster":"v9.`, 1))
	require.Error(t, err)
	require.Contains(t, out, "       1.500 s  Idle       start\nline 2, action 2 differs:\n  recorded: nothing\n  replayed: find 1\n")
	require.Contains(t, out, "it was recorded by muster v9.")
}

func TestReplayOfATornHistorySaysSo(t *testing.T) {
	text := recorded(t)
	out, err := run(t, text[:len(text)-5], "--quiet")
	require.NoError(t, err)
	require.Equal(t, `the last line is cut off and was left out, as if the process was killed while it wrote
replay: 2 events, 2 actions, all equal
`, out)
}

func TestReplayOfWhatIsNoHistorySaysWhy(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, says string }{
		"empty":   {"", "empty: the history is empty"},
		"foreign": {"{\"topics\": {}}\n", "foreign: line 1: this is not the history of a group member"},
		"broken":  {recorded(t) + "hello\n", "broken: line 5: invalid character"},
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
		cmd := replayCommand()
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		cmd.SetOut(new(bytes.Buffer))
		cmd.SetArgs([]string{path})
		require.ErrorContains(t, cmd.Execute(), c.says, name)
	}
	cmd := replayCommand()
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetArgs([]string{filepath.Join(dir, "missing")})
	require.ErrorIs(t, cmd.Execute(), os.ErrNotExist)
	cmd.SetArgs(nil)
	require.Error(t, cmd.Execute())
}
