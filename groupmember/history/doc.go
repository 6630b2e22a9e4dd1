// Package history writes down what a group member is told and what it answers,
// and replays it: a fresh member that is told the same must answer the same, byte
// for byte.
//
// A history is text, a JSON object a line. The first line is the header: the
// format, the version of muster, the time, and the member's configuration with the
// seed of its jitter. Every further line is one step: when it was, in nanoseconds since
// the header's time, the event, and the actions that came of it.
//
//	{"history":1,"muster":"v0.1.0","started":"2026-01-01T00:00:00Z","config":{"Group":"billing","Seed":7}}
//	{"at":1200,"event":{"Start":{}},"actions":[{"Moved":{"From":"Idle","To":"Finding","Why":"consumer started"}},{"Find":{"Seq":1}}]}
//
// Fields have the names that they have in Go, in groupmember and kmsg, and those
// that are zero are left out. Requests and responses are written field by field, not as
// the bytes of some version: a request has no version yet when the member sends it. Bytes are in
// base64. So is a string that is not valid UTF-8, or looks as if it were one: it has
// "base64:" in front.
//
// A history holds no record and no credentials. It does hold the names of groups, topics, members
// and hosts, committed offsets with their metadata, the user data of subscriptions and
// assignments, and texts of errors.
//
// The package does not know the protocol, nor who runs the member.
package history
