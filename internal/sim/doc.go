// Package sim is a simulation of a consumer group: real members of package
// groupmember, a model of the coordinator, and a network, brokers, processes and
// applications that misbehave as a seed says. What must always hold is checked at
// every step, and when the faults end the group must recover.
//
// Nothing in it is concurrent or reads the clock. One seed is one history, which can
// be had again at any time.
package sim
