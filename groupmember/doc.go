// Package groupmember is one member of a Kafka consumer group as a pure state
// machine: it is stepped with events and answers with actions.
//
// It knows the protocol: states, generations, error codes, timers as values.
// It does not know sockets, clocks, assignors and their bytes, topics'
// metadata or records; whoever drives it (package driver) does all of that and
// tells it the outcome.
//
// A [Member] starts no goroutine, takes no lock, reads no clock and does no
// I/O. Equal calls give equal actions, so a history of events can be written
// down and replayed.
package groupmember
