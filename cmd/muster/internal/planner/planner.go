// Package planner tries assignors on a group that is described in JSON, without
// a broker.
package planner

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/musterkafka/muster/assign"
)

// assignors are those that a group can be tried with.
func assignors() []assign.Assignor {
	return []assign.Assignor{assign.Range(), assign.RoundRobin(), assign.Sticky(), assign.CooperativeSticky()}
}

// Outcome is what one assignor makes of a group.
type Outcome struct {
	Name        string
	Explanation assign.Explanation // from what the members own to the plan
	Unassigned  int                // partitions that have a subscriber and no owner
	Took        time.Duration
}

// Try runs the named assignors, or all for none, on g. A plan that is no answer
// to g is an error.
func Try(g assign.Group, names []string) ([]Outcome, error) {
	chosen, err := choose(names)
	if err != nil {
		return nil, err
	}
	before := assign.Owners(g)
	outcomes := make([]Outcome, 0, len(chosen))
	for _, a := range chosen {
		mine := withUserData(g, a)
		start := time.Now()
		plan, err := a.Assign(mine)
		took := time.Since(start)
		if err == nil {
			err = assign.Check(mine, plan)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Name(), err)
		}
		outcomes = append(outcomes, Outcome{
			Name:        a.Name(),
			Explanation: assign.Explain(before, g, plan),
			Unassigned:  assign.Unassigned(g, plan).Count(),
			Took:        took,
		})
	}
	return outcomes, nil
}

func choose(names []string) ([]assign.Assignor, error) {
	all := assignors()
	if len(names) == 0 {
		return all, nil
	}
	known := make([]string, len(all))
	for i, a := range all {
		known[i] = a.Name()
	}
	var chosen []assign.Assignor
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			return nil, fmt.Errorf("there is no assignor %q: there are %s", name, strings.Join(known, ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// withUserData gives every member the bytes that a would have put into its
// subscription, from which "sticky" knows who owned what.
func withUserData(g assign.Group, a assign.Assignor) assign.Group {
	encoder, ok := a.(assign.UserDataEncoder)
	if !ok {
		return g
	}
	g.Members = slices.Clone(g.Members)
	for i := range g.Members {
		m := &g.Members[i]
		if m.Owned.Count() > 0 {
			m.UserData = encoder.UserData(m.Owned, max(m.Generation, 0))
		}
	}
	return g
}

// Print writes a table of the outcomes to w, and below it what moves and why, if
// moves is set.
func Print(w io.Writer, outcomes []Outcome, moves bool) error {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"assignor", "loads", "rack mismatches", "stay", "move", "not assigned", "time"})
	for _, o := range outcomes {
		e := o.Explanation
		t.AppendRow(table.Row{
			o.Name, fmt.Sprintf("%d to %d", e.After.Least, e.After.Most), e.After.Mismatches, e.Kept, e.Moved(), o.Unassigned,
			o.Took.Round(10 * time.Microsecond),
		})
	}
	var text strings.Builder
	text.WriteString(t.Render() + "\n")
	if moves {
		for _, o := range outcomes {
			text.WriteString("\n" + o.Name + ": " + o.Explanation.String())
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}
