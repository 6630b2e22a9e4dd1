package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"
	"github.com/testcontainers/testcontainers-go"
)

// A JavaMember is Kafka's own consumer, in the container of broker 1, as a
// member of a group. What it is given, gives back and reads comes to a Recorder
// late, but with the time at which it happened.
type JavaMember struct {
	Leave func() error // leaves the group in good order; returns when that is done

	broker  *broker
	name    string
	told    teller
	output  *bufio.Scanner
	process int            // its ID in the container
	wg      sync.WaitGroup // two goroutines, which end with the process
}

// JavaMember joins a group under a client ID, also its name in the recorder,
// and reads one topic from its start. It commits what it has read before it
// reads more. Options are VerifiableConsumer's own, such as "--group-instance-id",
// "ann". The member leaves with Leave, or when the test ends.
func (c *Cluster) JavaMember(t testing.TB, r *Recorder, name, group, topic string, options ...string) *JavaMember {
	t.Helper()
	m := &JavaMember{broker: c.brokers[0], name: name, told: teller{r: r, name: name}}
	m.Leave = sync.OnceValue(m.leave)
	file := "/tmp/" + UniqueName(t, "properties")
	properties := fmt.Sprintf("client.id=%s\nheartbeat.interval.ms=%d\n", name, peerHeartbeat.Milliseconds())
	require.NoError(t, m.broker.container.CopyToContainer(t.Context(), []byte(properties), file, 0o644))
	const script = kafkaFunction + `echo $$; kafka "$@"`
	require.NoError(t, m.start(t, append([]string{
		"sh", "-c", script, "sh", "org.apache.kafka.tools.VerifiableConsumer",
		"--bootstrap-server", c.Internal(), "--group-id", group, "--topic", topic,
		"--session-timeout", strconv.FormatInt(sessionTimeout.Milliseconds(), 10),
		"--verbose", "--command-config", file,
	}, options...)), "start the Java member %s", name)
	t.Cleanup(func() { require.NoError(t, m.Leave(), "end the Java member %s", name) })
	return m
}

func (m *JavaMember) start(t testing.TB, command []string) error {
	docker, err := testcontainers.NewDockerClientWithOpts(t.Context())
	if err != nil {
		return err
	}
	options := client.ExecCreateOptions{AttachStdout: true, AttachStderr: true, Cmd: command}
	created, err := docker.ExecCreate(t.Context(), m.broker.container.GetContainerID(), options)
	if err != nil {
		return err
	}
	attached, err := docker.ExecAttach(t.Context(), created.ID, client.ExecAttachOptions{})
	if err != nil {
		return err
	}
	t.Cleanup(func() {
		attached.Close() // ends the goroutines if Leave could not
		m.wg.Wait()
		_ = docker.Close()
	})
	stdout, writer := io.Pipe()
	var stderr strings.Builder
	m.wg.Go(func() {
		_, err := stdcopy.StdCopy(writer, &stderr, attached.Reader)
		writer.CloseWithError(err)
	})
	m.output = bufio.NewScanner(stdout)
	if m.output.Scan() {
		m.process, err = strconv.Atoi(m.output.Text())
	}
	m.wg.Go(func() {
		for m.output.Scan() {
			m.report(t, m.output.Bytes())
		}
		stdout.Close() // of a line that is too long
		if text := stderr.String(); text != "" {
			t.Logf("standard error of %s:\n%s", m.name, text)
		}
	})
	return err
}

// Kill ends the process at once. A member that is killed cannot leave.
func (m *JavaMember) Kill() error {
	m.Leave = func() error { return nil }
	err := m.end("KILL")
	m.told.r.Gone(m.name)
	return err
}

func (m *JavaMember) leave() error { return m.end("TERM") }

// end sends the process a signal and returns when it has ended.
func (m *JavaMember) end(signal string) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	_, err := m.broker.exec(ctx, []string{"sh", "-c", fmt.Sprintf("kill -%s %d", signal, m.process)})
	if err == nil {
		m.wg.Wait()
	}
	return err
}

// javaEvent is a line that Kafka's VerifiableConsumer writes.
type javaEvent struct {
	Timestamp  int64 // ms since 1970, rounded down
	Name       string
	Partitions []javaPartition
	javaPartition
	Offset int64
}

type javaPartition struct {
	Topic     string
	Partition int32
}

func (m *JavaMember) report(t testing.TB, line []byte) {
	var e javaEvent
	if err := json.Unmarshal(line, &e); err != nil {
		t.Errorf("line of the Java member %s: %q: %v", m.name, line, err)
		return
	}
	at := time.UnixMilli(e.Timestamp)
	switch e.Name {
	case "partitions_assigned":
		m.told.tell(Assigned, at, 0, javaPartitions(e.Partitions)...)
	case "partitions_revoked":
		m.told.tell(Revoked, at, 0, javaPartitions(e.Partitions)...)
	case "record_data":
		m.told.tell(Read, at, e.Offset, Partition{e.Topic, e.Partition})
	}
}

func javaPartitions(told []javaPartition) []Partition {
	partitions := make([]Partition, len(told))
	for i, p := range told {
		partitions[i] = Partition{p.Topic, p.Partition}
	}
	return partitions
}
