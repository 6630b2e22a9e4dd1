package groupmember

// State is where the member stands in the conversation. docs/group-member.md
// draws the states and their moves.
type State uint8

const (
	Idle      State = iota // not started
	Finding                // waits to know the group's coordinator
	Waiting                // backs off before the next attempt to join
	Releasing              // the application lets go of partitions before a join
	Encoding               // waits for the subscription's bytes
	Joining                // JoinGroup is out; the broker may hold it
	Planning               // elected leader: waits for the plan
	Syncing                // SyncGroup is out; the broker may hold it
	Decoding               // waits for the meaning of the assignment's bytes
	Yielding               // the application lets go of what was assigned away (KIP-429)
	Stable                 // settled: heartbeats, and nothing else to do
	Parting                // the application lets go before the member leaves
	Leaving                // LeaveGroup is out, or waits for a coordinator or an ID to leave with
	Resting                // left because the application stopped asking; waits for Asked (KIP-62)
	Exited                 // the end
)

var stateNames = [...]string{
	Idle: "Idle", Finding: "Finding", Waiting: "Waiting", Releasing: "Releasing", Encoding: "Encoding",
	Joining: "Joining", Planning: "Planning", Syncing: "Syncing", Decoding: "Decoding", Yielding: "Yielding",
	Stable: "Stable", Parting: "Parting", Leaving: "Leaving", Resting: "Resting", Exited: "Exited",
}

// String returns the state's name.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "State(?)"
}
