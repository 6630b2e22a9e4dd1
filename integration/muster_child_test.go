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

	"github.com/musterkafka/muster/assign"
	"github.com/musterkafka/muster/client"
	"github.com/musterkafka/muster/groupmember"
)

// childVariable makes a process of this test binary a group member that can be
// killed or stopped for real. Its value is a child in JSON.
const childVariable = "MUSTER_INTEGRATION_CHILD"

// child is what a member in a process of its own needs to know.
type child struct {
	Name, Group, Topic string
	Eager              bool          // with the range assignor; else cooperative
	Batches            bool          // read by batches; else by records
	Pace               time.Duration // how long the body of the loop takes for a record

	// startChild sets these.
	Brokers []string
	Begin   time.Time // zero of the recorder's clock
}

// childMain runs the process of a child, and returns the code to exit with.
func childMain(config string) int {
	var c child
	err := json.Unmarshal([]byte(config), &c)
	if err == nil {
		err = c.run(json.NewEncoder(os.Stdout))
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// run is a member that writes what happens to it, an Event in JSON a line, until
// it is killed. It returns why it cannot go on.
func (c child) run(out *json.Encoder) error {
	var mu sync.Mutex
	report := func(kind EventKind, generation int32, offset int64, partitions ...Partition) {
		mu.Lock()
		defer mu.Unlock()
		for _, p := range partitions {
			e := Event{At: time.Since(c.Begin), Kind: kind, Member: c.Name, Partition: p, Generation: generation, Offset: offset}
			_ = out.Encode(e) // without a parent nobody wants to know
		}
	}
	read := func(topic string, partition int32, offset int64) {
		report(Read, 0, offset, Partition{topic, partition})
		time.Sleep(c.Pace)
	}
	cl, err := client.New(client.Config{Brokers: c.Brokers, ClientID: c.Name})
	if err != nil {
		return err
	}
	consumer, err := cl.Consumer(c.consumerConfig(report))
	if err != nil {
		return err
	}
	if c.Batches {
		for batch, err := range consumer.Batches(context.Background()) {
			if err != nil {
				return err
			}
			for record := range batch.Records() {
				read(record.Topic, record.Partition, record.Offset)
			}
		}
	}
	for record, err := range consumer.Records(context.Background()) {
		if err != nil {
			return err
		}
		read(record.Topic, record.Partition, record.Offset)
	}
	return errors.New("the loop has ended")
}

func (c child) assignor() assign.Assignor {
	if c.Eager {
		return assign.Range()
	}
	return assign.CooperativeSticky()
}

func (c child) consumerConfig(report func(EventKind, int32, int64, ...Partition)) client.ConsumerConfig {
	return client.ConsumerConfig{
		Group:          c.Group,
		Topics:         []string{c.Topic},
		Assignors:      []assign.Assignor{c.assignor()},
		CommitInterval: time.Second / 2,
		Classic:        client.ClassicConfig{SessionTimeout: sessionTimeout, HeartbeatInterval: time.Second / 2},
		Trace: &client.ConsumerTrace{
			Assigned: func(generation int32, _, owned groupmember.Partitions) {
				report(Assigned, generation, 0, flatten(owned)...)
			},
			Revoked: func(partitions groupmember.Partitions, _ bool) {
				report(Revoked, 0, 0, flatten(partitions)...)
			},
		},
	}
}

// startChild starts a member in a process of its own, which ends with the test.
// What it reports is recorded when it arrives, with the time at which it happened.
func (c *Cluster) startChild(t *testing.T, r *Recorder, member child) *exec.Cmd {
	t.Helper()
	member.Brokers, member.Begin = c.Addrs(), r.begin
	config, err := json.Marshal(member)
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
		for {
			var e Event
			if decoder.Decode(&e) != nil { // the last line may be cut off
				return
			}
			r.insert(e)
		}
	})
	t.Cleanup(func() {
		_ = command.Process.Kill() // if it has ended before, the test sees that it reads nothing
		wg.Wait()
		_ = command.Wait() // always an error: it was killed
		if t.Failed() {
			t.Logf("standard error of %s:\n%s", member.Name, stderr.String())
		}
	})
	return command
}

func TestMusterProcessKilledIsReplaced(t *testing.T) {
	t.Parallel()
	const partitions = 12
	c := Shared(t)
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	r := NewRecorder()
	traffic := c.Traffic(t, topic, partitions)

	c.MusterMember(t, r, "ann", group, topic, using(assign.CooperativeSticky()))
	awaitShares(t, c, r, group, map[string]int{"ann": 12})
	bob := c.startChild(t, r, child{Name: "bob", Group: group, Topic: topic})
	awaitShares(t, c, r, group, map[string]int{"ann": 6, "bob": 6})
	traffic.Await(t, 500)

	killed := time.Since(r.begin)
	require.NoError(t, bob.Process.Kill())
	awaitBrokerShares(t, c, group, map[string]int{"ann": 12})
	r.insert(Event{At: killed + killTime, Kind: Gone, Member: "bob"})
	takeover := r.Events()[assignedAfter(t, r, "ann", killed)]
	requireSessionTimeout(t, takeover.At-killed)

	verdict := judgeAll(t, c, r, traffic.Stop(t), topic, partitions)
	require.Equal(t, verdict.Duplicates, rereads(r.Events())["bob"], "only what bob had read is read twice")
}

// killTime is how long a process may go on after it was told to stop at once.
const killTime = time.Second
