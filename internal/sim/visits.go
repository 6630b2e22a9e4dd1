package sim

import (
	"fmt"

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

// Rare returns the pairs that can be met and were met less than least times.
func (v *Visits) Rare(least int) []string {
	var rare []string
	for s := range v {
		for e, n := range v[s] {
			if n < least && possible(groupmember.State(s), e) {
				rare = append(rare, fmt.Sprintf("%v in %v: %d", eventNames[e], groupmember.State(s), n))
			}
		}
	}
	return rare
}

// possible reports whether a driver can bring the event in the state. An answer
// can come late, in any state, if its question was canceled.
func possible(s groupmember.State, event int) bool {
	name := eventNames[event]
	if s == groupmember.Idle || name == "Start" {
		return s == groupmember.Idle && name == "Start" // it comes first, and once
	}
	if s == groupmember.Exited {
		return false // nothing is brought to a member that has exited
	}
	parting := s == groupmember.Parting
	switch name {
	case "Released": // who lets go is waited for
		return parting || s == groupmember.Releasing || s == groupmember.Yielding
	case "Abandon": // it follows a Leave
		return parting || s == groupmember.Leaving
	}
	return true
}
