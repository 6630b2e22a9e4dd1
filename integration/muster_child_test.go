package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/client"
	"github.com/musterkafka/muster/groupmember"
)

// childVariable makes a process of this test binary a group member that can be
// killed for real. Its value is a child in JSON.
const childVariable = "MUSTER_INTEGRATION_CHILD"

// child is what a member in a process of its own needs to know.
type child struct {
	Name, Group, Topic string
	Brokers            []string
}

// childMain runs the process of a child, and returns the code to exit with.
func childMain(config string) int {
	fmt.Fprintln(os.Stderr, runChild(config))
	return 1
}

// runChild is a member that writes what happens to it to standard output, an
// Event in JSON a line, until it is killed. It returns why it cannot go on.
func runChild(config string) error {
	var c child
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		return err
	}
	var mu sync.Mutex
	encoder := json.NewEncoder(os.Stdout)
	report := func(events ...Event) {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range events {
			_ = encoder.Encode(e) // without a parent nobody wants to know
		}
	}
	cl, err := client.New(client.Config{Brokers: c.Brokers, ClientID: c.Name})
	if err != nil {
		return err
	}
	consumer, err := cl.Consumer(client.ConsumerConfig{
		Group:   c.Group,
		Topics:  []string{c.Topic},
		Classic: client.ClassicConfig{SessionTimeout: sessionTimeout, HeartbeatInterval: time.Second / 2},
		Trace: &client.ConsumerTrace{
			Assigned: func(generation int32, _, owned groupmember.Partitions) {
				for _, p := range flatten(owned) {
					report(Event{Kind: Assigned, Partition: p, Generation: generation})
				}
			},
			Revoked: func(partitions groupmember.Partitions, _ bool) {
				for _, p := range flatten(partitions) {
					report(Event{Kind: Revoked, Partition: p})
				}
			},
		},
	})
	if err != nil {
		return err
	}
	for record, err := range consumer.Records(context.Background()) {
		if err != nil {
			return err
		}
		report(Event{Kind: Read, Partition: Partition{record.Topic, record.Partition}, Offset: record.Offset})
	}
	return errors.New("the loop has ended")
}

// startChild starts a member in a process of its own. What it reports is
// recorded when it arrives, a moment after it happened. The function that is
// returned kills it.
func (c *Cluster) startChild(t *testing.T, r *Recorder, name, group, topic string) (kill func()) {
	t.Helper()
	config, err := json.Marshal(child{Name: name, Group: group, Topic: topic, Brokers: c.Addrs()})
	require.NoError(t, err)
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), childVariable+"="+string(config))
	var stderr strings.Builder
	command.Stderr = &stderr
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())

	var wg sync.WaitGroup
	wg.Go(func() {
		decoder := json.NewDecoder(stdout)
		var e Event
		for decoder.Decode(&e) == nil { // the last line may be cut off
			e.Member = name
			r.add(e)
			e = Event{}
		}
	})
	kill = sync.OnceFunc(func() {
		_ = command.Process.Kill() // if it has ended before, the test sees that it reads nothing
		wg.Wait()
		_ = command.Wait() // always an error: it was killed
		if t.Failed() {
			t.Logf("standard error of %s:\n%s", name, stderr.String())
		}
	})
	t.Cleanup(kill)
	return kill
}

func TestMusterProcessKilledIsReplaced(t *testing.T) {
	t.Parallel()
	const partitions = 12
	c := Shared(t)
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	r := NewRecorder()
	traffic := c.Traffic(t, topic, partitions)

	c.MusterMember(t, r, "ann", group, topic)
	awaitShares(t, c, r, group, map[string]int{"ann": 12})
	kill := c.startChild(t, r, "bob", group, topic) // last, so that nothing is taken from it while it lives
	awaitShares(t, c, r, group, map[string]int{"ann": 6, "bob": 6})
	traffic.Await(t, 500)

	killed := time.Since(r.begin)
	kill()
	r.Gone("bob")
	awaitShares(t, c, r, group, map[string]int{"ann": 12})
	events := r.Events()
	takeover := events[assignedAfter(t, r, "ann", killed)]
	requireSessionTimeout(t, takeover.At-killed)

	verdict := judgeAll(t, c, r, traffic.Stop(t), topic, partitions)
	require.Equal(t, verdict.Duplicates, rereads(r.Events())["bob"], "only what bob had read is read twice")
}
