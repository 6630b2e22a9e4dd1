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

// moves are the legal ones.
var moves = [...][]State{
	Idle:      {Finding, Exited},
	Finding:   {Waiting, Releasing, Encoding, Parting, Leaving, Exited},
	Waiting:   {Finding, Releasing, Encoding, Parting, Leaving, Exited},
	Releasing: {Finding, Waiting, Encoding, Parting, Exited},
	Encoding:  {Finding, Waiting, Releasing, Joining, Parting, Leaving, Exited},
	Joining:   {Finding, Waiting, Releasing, Encoding, Planning, Syncing, Parting, Leaving, Exited},
	Planning:  {Finding, Waiting, Releasing, Encoding, Syncing, Parting, Leaving, Exited},
	Syncing:   {Finding, Waiting, Releasing, Encoding, Decoding, Parting, Leaving, Exited},
	Decoding:  {Finding, Waiting, Releasing, Encoding, Yielding, Stable, Parting, Leaving, Exited},
	Yielding:  {Releasing, Stable, Parting, Exited},
	Stable:    {Finding, Releasing, Encoding, Parting, Leaving, Resting, Exited},
	Parting:   {Waiting, Leaving, Resting, Exited},
	Leaving:   {Waiting, Resting, Exited},
	Resting:   {Finding, Encoding, Leaving, Exited},
	Exited:    {},
}

// Next returns the states that may follow s.
func (s State) Next() []State { return moves[s] }
