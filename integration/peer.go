package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// peerHeartbeat is the heartbeat interval of all members that are not ours.
const peerHeartbeat = time.Second / 2

// A PeerConfig tells a program of another client what member to be. Times are
// in milliseconds.
type PeerConfig struct {
	Client            string   `json:"client"` // of those in Go; "" else
	Name              string   `json:"name"`
	Group             string   `json:"group"`
	Topic             string   `json:"topic"`
	Assignor          string   `json:"assignor"` // as the group's members name it
	Brokers           []string `json:"brokers"`
	SessionTimeout    int64    `json:"sessionTimeout"`
	HeartbeatInterval int64    `json:"heartbeatInterval"`
}

// A peerLine is what such a program writes, as a line of JSON, when something
// happens to its member.
type peerLine struct {
	Kind       string  `json:"kind"` // "assigned", "revoked" or "read"
	At         float64 `json:"at"`   // ms since 1970
	Partitions []int32 `json:"partitions"`
	Offset     int64   `json:"offset"` // of "read"
}

// A Peer is a member of a group that another client makes in a process of its
// own. What it is given, gives back and reads comes to a Recorder late, but with
// the time at which it happened.
type Peer struct {
	Leave func() error // leaves the group in good order; returns when that is done

	config  PeerConfig
	told    teller
	log     *Log // what it writes to standard error
	command *exec.Cmd
	wg      sync.WaitGroup // one goroutine, which ends with the process
}

// startPeer starts a program, which the config's name, brokers and times are
// added to. The member leaves with Leave, or when the test ends.
func (c *Cluster) startPeer(t testing.TB, r *Recorder, config PeerConfig, command func(config string) *exec.Cmd) *Peer {
	t.Helper()
	config.Brokers = c.Addrs()
	config.SessionTimeout = sessionTimeout.Milliseconds()
	config.HeartbeatInterval = peerHeartbeat.Milliseconds()
	encoded, err := json.Marshal(config)
	require.NoError(t, err)
	m := &Peer{
		config: config, told: teller{r: r, name: config.Name},
		log: NewLog(t, config.Name), command: command(string(encoded)),
	}
	m.Leave = sync.OnceValue(m.leave)
	m.command.Stderr = m.log
	stdout, err := m.command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, m.command.Start(), "start %s", config.Name)
	m.wg.Go(func() { m.listen(t, stdout) })
	t.Cleanup(func() { require.NoError(t, m.Leave(), "end %s", config.Name) })
	return m
}

// Kill ends the process at once. A member that is killed cannot leave.
func (m *Peer) Kill() error {
	m.Leave = func() error { return nil }
	err := m.command.Process.Kill()
	m.wg.Wait()
	_ = m.command.Wait() // always an error: it was killed
	m.told.r.Gone(m.config.Name)
	return err
}

func (m *Peer) leave() error {
	if err := m.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	kill := time.AfterFunc(stopTimeout, func() { _ = m.command.Process.Kill() })
	defer kill.Stop()
	m.wg.Wait() // the pipe must have been read to its end
	return m.command.Wait()
}

func (m *Peer) listen(t testing.TB, stdout io.Reader) {
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if err := m.report(lines.Bytes()); err != nil {
			t.Errorf("line of %s: %q: %v", m.config.Name, lines.Text(), err)
		}
	}
}

func (m *Peer) report(line []byte) error {
	var l peerLine
	if err := json.Unmarshal(line, &l); err != nil {
		return err
	}
	kinds := map[string]EventKind{"assigned": Assigned, "revoked": Revoked, "read": Read}
	kind, known := kinds[l.Kind]
	if !known {
		return fmt.Errorf("unknown kind %q", l.Kind)
	}
	partitions := make([]Partition, len(l.Partitions))
	for i, number := range l.Partitions {
		partitions[i] = Partition{m.config.Topic, number}
	}
	m.told.tell(kind, time.UnixMicro(int64(l.At*1000)), l.Offset, partitions...)
	return nil
}

// A teller puts what a process tells of its member into a Recorder, late, but
// at the time at which it happened by the clock of this machine.
type teller struct {
	r    *Recorder
	name string
	last time.Duration // when the last event happened
}

func (m *teller) tell(kind EventKind, at time.Time, offset int64, partitions ...Partition) {
	since := at.Sub(m.r.begin)
	if kind == Assigned {
		// Rounded up, for clocks that tell only the millisecond: others may have
		// let go in it.
		since += time.Millisecond
	}
	m.last = max(m.last, since)
	for _, p := range partitions {
		m.r.insert(Event{At: m.last, Kind: kind, Member: m.name, Partition: p, Generation: -1, Offset: offset})
	}
}

// KafkajsMember joins a group by kafkajs, in a process of Node.js, and reads one
// topic from its start. The assignor is "roundrobin", or "RoundRobinAssigner" as
// kafkajs itself names it. The config's Name is also that in the recorder.
// Without kafkajs the test is skipped, and fails where CI=true.
func (c *Cluster) KafkajsMember(t testing.TB, r *Recorder, config PeerConfig) *Peer {
	t.Helper()
	modules := requireInstalled(t, "PEERS_NODE_MODULES", "kafkajs")
	return c.startPeer(t, r, config, func(config string) *exec.Cmd {
		command := exec.Command("node", "peers/kafkajs_member.js", config)
		command.Env = append(os.Environ(), "NODE_PATH="+modules)
		return command
	})
}

// AiokafkaMember is KafkajsMember by aiokafka, in a process of Python. The
// assignor is "range", "roundrobin" or "sticky".
func (c *Cluster) AiokafkaMember(t testing.TB, r *Recorder, config PeerConfig) *Peer {
	t.Helper()
	return c.pythonMember(t, r, config, "aiokafka")
}

// LibrdkafkaMember is KafkajsMember by librdkafka, in a process of Python. The
// assignor is "range", "roundrobin" or "cooperative-sticky".
func (c *Cluster) LibrdkafkaMember(t testing.TB, r *Recorder, config PeerConfig) *Peer {
	t.Helper()
	return c.pythonMember(t, r, config, "librdkafka")
}

func (c *Cluster) pythonMember(t testing.TB, r *Recorder, config PeerConfig, client string) *Peer {
	t.Helper()
	python := requireInstalled(t, "PEERS_PYTHON", client)
	return c.startPeer(t, r, config, func(config string) *exec.Cmd {
		return exec.Command(python, "peers/"+client+"_member.py", config)
	})
}

// requireInstalled returns where a client is, by a variable that the set-up
// has set. It skips the test if there is none.
func requireInstalled(t testing.TB, variable, client string) string {
	t.Helper()
	place := os.Getenv(variable)
	if place == "" {
		t.Skipf("a member of %s cannot be started: %s is not set; make integration installs it", client, variable)
	}
	return place
}
