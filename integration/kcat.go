package integration

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A KcatMember is a consumer of librdkafka, by the program kcat on this machine,
// as a member of a group. What it is given and gives back comes to a Recorder when
// kcat says so, a moment after it has happened.
type KcatMember struct {
	Leave func() error // leaves the group in good order; returns when that is done

	name    string
	r       *Recorder
	log     *Log // what kcat says
	command *exec.Cmd
	wg      sync.WaitGroup // one goroutine, which ends with the process
}

// KcatMember joins a group under a client ID, also its name in the recorder, and
// reads some topics. Properties are pairs of a property of librdkafka and its value,
// such as "partition.assignment.strategy", "range". The member leaves with Leave,
// or when the test ends. Without kcat the test is skipped, and fails where CI=true.
func (c *Cluster) KcatMember(t testing.TB, r *Recorder, name, group string, topics []string, properties ...string) *KcatMember {
	t.Helper()
	program, err := exec.LookPath("kcat")
	if err != nil {
		t.Skipf("a member of librdkafka cannot be started: %v; make integration installs kcat as root on Debian", err)
	}
	properties = append([]string{
		"client.id", name,
		"session.timeout.ms", strconv.FormatInt(sessionTimeout.Milliseconds(), 10),
		"heartbeat.interval.ms", "500",
	}, properties...)
	args := []string{"-b", strings.Join(c.Addrs(), ",")}
	for i := 0; i < len(properties); i += 2 {
		args = append(args, "-X", properties[i]+"="+properties[i+1])
	}
	args = append(append(args, "-G", group), topics...)
	m := &KcatMember{name: name, r: r, log: NewLog(t, name), command: exec.Command(program, args...)}
	m.Leave = sync.OnceValue(m.leave)
	stderr, err := m.command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, m.command.Start())
	m.wg.Go(func() { m.listen(t, stderr) })
	t.Cleanup(func() { require.NoError(t, m.Leave(), "end kcat as %s", name) })
	return m
}

func (m *KcatMember) leave() error {
	if err := m.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	kill := time.AfterFunc(stopTimeout, func() { _ = m.command.Process.Kill() })
	defer kill.Stop()
	m.wg.Wait() // the pipe must have been read to its end
	return m.command.Wait()
}

func (m *KcatMember) listen(t testing.TB, stderr io.Reader) {
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		_, _ = m.log.Write([]byte(lines.Text() + "\n")) // cannot fail
		if err := m.report(lines.Text()); err != nil {
			t.Errorf("line of kcat as %s: %q: %v", m.name, lines.Text(), err)
		}
	}
}

// report understands lines of the kind
//
//	% Group billing rebalanced (memberid ann-1): assigned: orders [0], orders [1]
func (m *KcatMember) report(line string) error {
	_, rest, rebalanced := strings.Cut(line, " rebalanced (memberid ")
	_, said, complete := strings.Cut(rest, "): ")
	if !rebalanced || !complete {
		return nil
	}
	what, list, _ := strings.Cut(said, ":")
	partitions, err := parseKcatPartitions(list)
	switch what {
	case "assigned":
		m.r.Assigned(m.name, -1, partitions...)
	case "revoked":
		m.r.Revoked(m.name, partitions...)
	default:
		return fmt.Errorf("neither assigned nor revoked but %q", what)
	}
	return err
}

func parseKcatPartitions(list string) ([]Partition, error) {
	var partitions []Partition
	for entry := range strings.SplitSeq(list, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		var p Partition
		if _, err := fmt.Sscanf(entry, "%s [%d]", &p.Topic, &p.Number); err != nil {
			return nil, fmt.Errorf("%q: %w", entry, err)
		}
		partitions = append(partitions, p)
	}
	return partitions, nil
}
