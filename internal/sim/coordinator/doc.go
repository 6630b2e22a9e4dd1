// Package coordinator is a model of the group coordinator of Kafka 4.4 for one
// classic group: what it answers to which request, whom it holds and whom it
// removes, and what of it outlives the broker that it runs on.
//
// It is pure: it is asked and told the time, and says what to answer to whom. It
// speaks the highest version of every request that a classic member sends.
package coordinator
