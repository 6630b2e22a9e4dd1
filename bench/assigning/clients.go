package main

import (
	"slices"
	"time"

	"github.com/musterkafka/muster/assign"
)

// A client is one of those compared.
type client struct {
	name      string
	assignors []string // that it has
	racks     bool     // its sticky assignors know racks
	slow      []string // assignors that take minutes

	// prepare puts into the client's form what its leader has when the members are known: their
	// subscriptions as bytes, and the topics.
	prepare func(assignor string, g assign.Group) (lead, error)
}

// lead does the leader's work once and returns every member's assignment as bytes, by member ID.
type lead func(*stopwatch) (map[string][]byte, error)

// clients in the order in which they are measured and printed.
var clients = []client{
	{name: "muster", assignors: []string{"range", "roundrobin", "sticky", "cooperative-sticky"}, racks: true, prepare: prepareMuster},
	{name: "franz-go", assignors: []string{"range", "roundrobin", "sticky", "cooperative-sticky"}, racks: true, prepare: prepareFranz},
	{
		name: "sarama", assignors: []string{"range", "roundrobin", "sticky", "cooperative-sticky"},
		slow: []string{"sticky", "cooperative-sticky"}, prepare: prepareSarama,
	},
	{name: "kafka-go", assignors: []string{"range", "roundrobin"}, prepare: prepareKafkaGo},
}

// takes reports whether the client can be measured on a case.
func (c client) takes(b benchCase, slow bool) bool {
	return slices.Contains(c.assignors, b.assignor) && (c.racks || b.shape.racks == 0) && (slow || !slices.Contains(c.slow, b.assignor))
}

// A stopwatch says how long each stage took.
type stopwatch struct {
	stages stages
	last   time.Time
}

// stages are the leader's work, in milliseconds. Of muster, Assign is all but decoding.
type stages struct{ Decode, Assign, Encode float64 }

func (s stages) total() float64 { return s.Decode + s.Assign + s.Encode }

func (w *stopwatch) start() { w.last = time.Now() }

// lap adds the time since the last lap to a stage.
func (w *stopwatch) lap(stage *float64) {
	now := time.Now()
	*stage += now.Sub(w.last).Seconds() * 1000
	w.last = now
}

// subscriptions encodes what the members of g say when they join, by member ID: members of
// eager groups do not own anything then, and tell what they had in user data or not at all.
func subscriptions(assignor string, g assign.Group) []assign.Joined {
	joined := make([]assign.Joined, 0, len(g.Members))
	a := assignorOf(assignor)
	for _, m := range g.Members {
		if encoder, ok := a.(assign.UserDataEncoder); ok {
			m.UserData = encoder.UserData(m.Owned, m.Generation)
		}
		if !a.Cooperative() {
			m.Owned, m.Generation = nil, -1
		}
		joined = append(joined, assign.Joined{ID: m.ID, Metadata: assign.AppendSubscription(nil, m)})
	}
	return joined
}

func assignorOf(name string) assign.Assignor {
	at := slices.IndexFunc(assignors, func(a assign.Assignor) bool { return a.Name() == name })
	return assignors[at]
}
