package integration

import (
	"testing"

	"github.com/musterkafka/muster/assign"
)

// A foreigner is a member that another client makes.
type foreigner struct {
	leave, kill func() error
}

// A foreignClient is another client, with the assignors that it shares with us.
type foreignClient struct {
	name      string
	assignors []assign.Assignor
	start     func(t *testing.T, c *Cluster, r *Recorder, config PeerConfig) foreigner

	// forgets and repeats name an assignor, or are "". Under the one, members of
	// this client do not tell a leader of ours what they have; under the other, they
	// let go of partitions without a commit of what they have read.
	forgets, repeats string
}

func foreignClients() []foreignClient {
	byRange, roundRobin, sticky, cooperative := assign.Range(), assign.RoundRobin(), assign.Sticky(), assign.CooperativeSticky()
	ofGo := peer((*Cluster).GoMember)
	return []foreignClient{
		{"java", []assign.Assignor{byRange, roundRobin, sticky, cooperative}, startJava, "", "cooperative-sticky"},
		{"librdkafka", []assign.Assignor{byRange, roundRobin, cooperative}, peer((*Cluster).LibrdkafkaMember), "", ""},
		{"franz-go", []assign.Assignor{byRange, roundRobin, sticky, cooperative}, ofGo, "sticky", ""},
		{"sarama", []assign.Assignor{byRange, roundRobin, sticky, cooperative}, ofGo, "sticky", ""},
		{"kafka-go", []assign.Assignor{byRange, roundRobin}, ofGo, "", ""},
		{"kafkajs", []assign.Assignor{roundRobin, renamed{roundRobin, "RoundRobinAssigner"}}, peer((*Cluster).KafkajsMember), "", ""},
		{"aiokafka", []assign.Assignor{byRange, roundRobin, sticky}, peer((*Cluster).AiokafkaMember), "", ""},
	}
}

// A renamed assignor goes by the name that another client has for it.
type renamed struct {
	assign.Assignor
	name string
}

// Name implements assign.Assignor.
func (r renamed) Name() string { return r.name }

func peer(start func(*Cluster, testing.TB, *Recorder, PeerConfig) *Peer) func(*testing.T, *Cluster, *Recorder, PeerConfig) foreigner {
	return func(t *testing.T, c *Cluster, r *Recorder, config PeerConfig) foreigner {
		t.Helper()
		m := start(c, t, r, config)
		return foreigner{m.Leave, m.Kill}
	}
}

func startJava(t *testing.T, c *Cluster, r *Recorder, config PeerConfig) foreigner {
	m := c.JavaMember(t, r, config.Name, config.Group, config.Topic, "--assignment-strategy", javaAssignor(config.Assignor))
	return foreigner{m.Leave, m.Kill}
}

// javaAssignor returns the class of an assignor of Kafka's own.
func javaAssignor(name string) string {
	return "org.apache.kafka.clients.consumer." + map[string]string{
		"range":              "RangeAssignor",
		"roundrobin":         "RoundRobinAssignor",
		"sticky":             "StickyAssignor",
		"cooperative-sticky": "CooperativeStickyAssignor",
	}[name]
}
