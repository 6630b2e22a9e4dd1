package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/groupmember/history"
)

// replayCommand builds "muster replay".
func replayCommand() *cobra.Command {
	var quiet bool
	cmd := &cobra.Command{
		Use:   "replay FILE",
		Short: "Replay what a group member has been told, and compare what it does",
		Long: `replay reads the history of a group member, from standard input if FILE is "-",
and tells a new member all that the recorded one was told, at the same times. It
prints each step: when it was, the state that the member was in, what it was told, and
below that what it did. At the end it says that all actions were the same, or shows
the first that was not and exits with status 1.

A program records the member of a Consumer like this:

  file, err := os.Create("billing.history")
  ...
  consumer, err := cl.Consumer(client.ConsumerConfig{
      Group: "billing", Topics: []string{"orders"}, History: file,
  })

A history is text, a JSON object a line. It holds no records and no credentials, but
names of groups, topics and hosts, and committed offsets with their metadata.

The last line may be cut off, as a process that is killed leaves it. Another version of
muster than the one that recorded may act otherwise without being wrong.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("replay takes one FILE, or \"-\" for standard input; there are %d: see muster replay --help", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			in, name := io.NopCloser(cmd.InOrStdin()), "standard input"
			if args[0] != "-" {
				name = args[0]
				if in, err = os.Open(args[0]); err != nil {
					return err
				}
			}
			defer func() { err = errors.Join(err, in.Close()) }()
			out := bufio.NewWriter(cmd.OutOrStdout())
			if err = replay(in, out, quiet); err != nil {
				err = fmt.Errorf("%s: %w", name, err)
			}
			return errors.Join(out.Flush(), err)
		},
	}
	cmd.Flags().BoolVar(&quiet, "quiet", false, "print only the result")
	return cmd
}

// replay replays one history and writes what comes of it.
func replay(in io.Reader, out io.Writer, quiet bool) error {
	r, err := history.NewReader(in)
	if err != nil {
		return err
	}
	steps := out
	if quiet {
		steps = io.Discard
	}
	h := r.Header()
	fmt.Fprintf(steps, "group %s, recorded from %s on by muster %s\n",
		printable(h.Config.Group), h.Started.Format(time.DateTime+" MST"), printable(h.Muster))
	events, actions, state := 0, 0, groupmember.Idle
	for step, err := range history.Replay(r) {
		d, differs := errors.AsType[*history.Difference](err)
		if err != nil && !differs {
			return err
		}
		fmt.Fprintf(steps, "%12.3f s  %-9s  %s\n", step.At.Sub(h.Started).Seconds(), state, printable(groupmember.DescribeEvent(step.Event)))
		if differs {
			printDifference(out, d, h.Muster)
			return fmt.Errorf("line %d is not replayed to the same action", d.Line)
		}
		for _, a := range step.Actions {
			fmt.Fprintf(steps, "%25s  %s\n", "", printable(groupmember.DescribeAction(a)))
		}
		events, actions, state = events+1, actions+len(step.Actions), step.State
	}
	if r.Torn() {
		fmt.Fprintln(out, "the last line is cut off and was left out, as if the process was killed while it wrote")
	}
	fmt.Fprintf(out, "replay: %d events, %d actions, all equal\n", events, actions)
	return nil
}

// printDifference shows both forms of an action, in words and as they are written.
func printDifference(out io.Writer, d *history.Difference, recorder string) {
	fmt.Fprintf(out, "line %d, action %d differs:\n", d.Line, d.Index+1)
	for _, side := range []struct {
		name   string
		action groupmember.Action
		text   string
	}{
		{"recorded", d.Recorded, d.RecordedText},
		{"replayed", d.Replayed, d.ReplayedText},
	} {
		if side.action == nil {
			fmt.Fprintf(out, "  %s: nothing\n", side.name)
			continue
		}
		fmt.Fprintf(out, "  %s: %s\n            %s\n", side.name, printable(groupmember.DescribeAction(side.action)), printable(side.text))
	}
	if own := history.Version(); own != recorder {
		fmt.Fprintf(out, "it was recorded by muster %s, and this is %s: another version may act otherwise\n", printable(recorder), own)
	}
}

// printable escapes what could do something to a terminal: the file may be a
// stranger's.
func printable(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
	}
	return b.String()
}
