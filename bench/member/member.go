// Package member starts members of consumer groups with several Kafka clients,
// all in the same way, so that programs can compare what they do.
//
// Every member has a session timeout of 45 s and a heartbeat interval of 3 s, begins at
// the earliest offset, and commits as its client does by default.
package member

import (
	"fmt"
	"os"
	"slices"
	"time"
)

const (
	sessionTimeout    = 45 * time.Second
	heartbeatInterval = 3 * time.Second
)

// A Protocol is how a group rebalances.
type Protocol string

const (
	// Cooperative groups use cooperative-sticky: what does not move is kept (KIP-429).
	Cooperative Protocol = "cooperative"
	// Eager groups use range: everybody lets go of everything first.
	Eager Protocol = "eager"
)

// Options say which group to join, and what it reads.
type Options struct {
	Broker   string // host:port
	Topic    string // the only one
	Group    string
	Protocol Protocol
}

// Events are told what a member sees. They are called from the member's goroutines, from
// several at once, and must not block. None may be nil.
type Events struct {
	Assigned func(partitions []int32)
	Revoked  func(partitions []int32)
	Cleared  func() // whatever it had is taken back
	Record   func(partition int32)
}

// A Client is a Kafka client whose members can be started.
type Client struct {
	Name      string
	Protocols []Protocol

	// Start starts a member, which joins and reads until stop is called. Stop
	// leaves the group and returns when that is done.
	Start func(Options, Events) (stop func(), err error)
}

// Has reports whether the client speaks a protocol.
func (c Client) Has(p Protocol) bool { return slices.Contains(c.Protocols, p) }

// Clients are those written in Go alone, muster first.
func Clients() []Client {
	both := []Protocol{Cooperative, Eager}
	return []Client{
		{"muster", both, startMuster},
		{"franz-go", both, startFranz},
		{"sarama", both, startSarama},
		{"kafka-go", []Protocol{Eager}, startKafkaGo},
	}
}

// complain says what a member of a client met, which nothing else would tell.
func complain(client string, err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", client, err)
}
