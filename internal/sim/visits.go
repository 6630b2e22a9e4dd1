package sim

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/musterkafka/muster/groupmember"
)

// Visits counts which events met a member in which state.
type Visits [states][events]int

const (
	states = int(groupmember.Exited) + 1
	events = 15
)

var eventNames = [events]string{
	"Found", "Replied", "Encoded", "Planned", "Decoded", "Released", "Start", "Rejoin", "Asked", "Commit", "LookUp", "Leave", "Abandon", "Elapsed", "Withdraw",
}

func indexOf(ev groupmember.Event) int {
	switch ev.(type) {
	case groupmember.Found:
		return 0
	case groupmember.Replied:
		return 1
	case groupmember.Encoded:
		return 2
	case groupmember.Planned:
		return 3
	case groupmember.Decoded:
		return 4
	case groupmember.Released:
		return 5
	case groupmember.Start:
		return 6
	case groupmember.Rejoin:
		return 7
	case groupmember.Asked:
		return 8
	case groupmember.Commit:
		return 9
	case groupmember.LookUp:
		return 10
	case groupmember.Leave:
		return 11
	case groupmember.Abandon:
		return 12
	case groupmember.Elapsed:
		return 13
	case groupmember.Withdraw:
		return 14
	}
	panic(fmt.Sprintf("BUG: unknown event %T", ev))
}

// Add counts the visits of other too.
func (v *Visits) Add(other *Visits) {
	for s := range other {
		for e, n := range other[s] {
			v[s][e] += n
		}
	}
}

// Write writes a table of the visits: a line for each state, a column for each event. What
// cannot be is a dash.
func (v *Visits) Write(to io.Writer) error {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\t%s\t\n", strings.Join(eventNames[:], "\t"))
	for s := range v {
		fmt.Fprintf(table, "%v\t", groupmember.State(s))
		for e, n := range v[s] {
			if legal[s][e] {
				fmt.Fprintf(table, "%d\t", n)
			} else {
				fmt.Fprint(table, "-\t")
			}
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

// Rare returns the pairs that can be met and were met less than least times.
func (v *Visits) Rare(least int) []string {
	var rare []string
	for s := range v {
		for e, n := range v[s] {
			if n < least && legal[s][e] {
				rare = append(rare, fmt.Sprintf("%v in %v: %d", eventNames[e], groupmember.State(s), n))
			}
		}
	}
	return rare
}

// legal are the pairs of state and event that a driver can bring about. An answer can come
// late, in any state, if its question was canceled.
var legal = legalPairs()

func legalPairs() (table [states][events]bool) {
	for s := range table {
		for e := range table[s] {
			table[s][e] = possible(groupmember.State(s), eventNames[e])
		}
	}
	return table
}

func possible(s groupmember.State, event string) bool {
	if s == groupmember.Idle || event == "Start" {
		return s == groupmember.Idle && event == "Start" // it comes first, and once
	}
	if s == groupmember.Exited {
		return false // nothing is brought to a member that has exited
	}
	parting := s == groupmember.Parting
	switch event {
	case "Released": // who lets go is waited for
		return parting || s == groupmember.Releasing || s == groupmember.Yielding
	case "Abandon": // it follows a Leave
		return parting || s == groupmember.Leaving
	}
	return true
}

// meet counts that an event meets the member in its state, which must be legal.
func (p *process) meet(ev groupmember.Event) {
	e := indexOf(ev)
	if !legal[p.state][e] {
		p.world.fail("%s is %v and meets %v, which is said to be impossible", p.name, p.state, eventNames[e])
	}
	p.world.visits[p.state][e]++
}
