package history

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"reflect"

	"github.com/musterkafka/muster/groupmember"
)

// Step is an Entry that was replayed.
type Step struct {
	Entry
	State groupmember.State // of the member after it
}

// Replay tells a fresh member, with the configuration of the history's, all that that one
// was told, and yields each step whose actions are the same, byte for byte as they are
// written. An error is the last thing yielded: a *Difference, with the step at which it
// is, or that of a line which cannot be read.
func Replay(r *Reader) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		member, err := groupmember.New(r.header.Config)
		if err != nil {
			yield(Step{}, fmt.Errorf("line 1: config: %w", err))
			return
		}
		for e, err := range r.Entries() {
			if err != nil {
				yield(Step{}, err)
				return
			}
			replayed := member.Step(e.At, e.Event, nil)
			step := Step{Entry: e, State: member.Status().State}
			if err := r.codec.compare(e, replayed); err != nil {
				yield(step, err)
				return
			}
			if !yield(step, nil) {
				return
			}
		}
	}
}

// Difference is an action that differs from the recorded one. Of the two, one may
// be nil: then the other has no counterpart.
type Difference struct {
	Line  int // of the history
	Index int // of the action among those of its step, from 0

	Recorded, Replayed         groupmember.Action
	RecordedText, ReplayedText string // as the history has it; "" for nil
}

// Error says where the two differ, and how they are written.
func (d *Difference) Error() string {
	return fmt.Sprintf("line %d: action %d differs: recorded is %s, replayed is %s",
		d.Line, d.Index+1, cmp.Or(d.RecordedText, "nothing"), cmp.Or(d.ReplayedText, "nothing"))
}

// compare returns a *Difference at the first action that differs.
func (c *codec) compare(e Entry, replayed []groupmember.Action) error {
	for i := range max(len(e.Actions), len(replayed)) {
		d := &Difference{Line: e.Line, Index: i}
		var err, other error
		d.Recorded, d.RecordedText, err = c.pick(e.Actions, i)
		d.Replayed, d.ReplayedText, other = c.pick(replayed, i)
		if err := errors.Join(err, other); err != nil {
			return fmt.Errorf("line %d: action %d: %w", e.Line, i+1, err)
		}
		if d.RecordedText != d.ReplayedText {
			return d
		}
	}
	return nil
}

// pick returns one of the actions, and how it is written; nil and "" if there are
// not so many.
func (c *codec) pick(all []groupmember.Action, i int) (groupmember.Action, string, error) {
	if i >= len(all) {
		return nil, "", nil
	}
	text, err := c.append(nil, reflect.ValueOf(all).Index(i))
	return all[i], string(text), err
}
