package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"time"
)

// PeerVariable makes a process of this test binary a member of a group, by
// another client in Go. Its value is a PeerConfig in JSON.
const PeerVariable = "MUSTER_INTEGRATION_PEER"

// GoMember joins a group by the client in Go that the config names, "franz-go",
// "sarama" or "kafka-go", in a process of its own, and reads one topic from its
// start. The config's Name is also that in the recorder.
func (c *Cluster) GoMember(t testing.TB, r *Recorder, config PeerConfig) *Peer {
	t.Helper()
	return c.startPeer(t, r, config, func(config string) *exec.Cmd {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), PeerVariable+"="+config)
		return command
	})
}

// PeerMain runs the process of a GoMember, and returns the code to exit with.
func PeerMain(config string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := runPeer(ctx, config); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// runPeer is a member that writes what happens to it to standard output, until
// ctx ends, when it leaves.
func runPeer(ctx context.Context, encoded string) error {
	var config PeerConfig
	if err := json.Unmarshal([]byte(encoded), &config); err != nil {
		return err
	}
	w := &peerWriter{encoder: json.NewEncoder(os.Stdout)}
	switch config.Client {
	case "franz-go":
		return runFranz(ctx, config, w)
	case "sarama":
		return runSarama(ctx, config, w)
	case "kafka-go":
		return runKafkaGo(ctx, config, w)
	default:
		return errors.New("unknown client " + config.Client)
	}
}

// A reporter is told what a member is given, gives back and reads, as a
// Recorder is.
type reporter interface {
	Assigned(member string, generation int32, partitions ...Partition)
	Revoked(member string, partitions ...Partition)
	Read(member string, partition Partition, offset int64)
}

// A peerWriter is a reporter that writes lines for a Peer to read. Its methods
// may be called from any goroutine.
type peerWriter struct {
	mu      sync.Mutex
	encoder *json.Encoder
}

// Assigned implements reporter. The generation is not told.
func (w *peerWriter) Assigned(_ string, _ int32, partitions ...Partition) {
	w.write("assigned", 0, partitions...)
}

// Revoked implements reporter.
func (w *peerWriter) Revoked(_ string, partitions ...Partition) {
	w.write("revoked", 0, partitions...)
}

// Read implements reporter.
func (w *peerWriter) Read(_ string, partition Partition, offset int64) {
	w.write("read", offset, partition)
}

func (w *peerWriter) write(kind string, offset int64, partitions ...Partition) {
	line := peerLine{Kind: kind, Offset: offset, Partitions: []int32{}}
	for _, p := range partitions {
		line.Partitions = append(line.Partitions, p.Number)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	line.At = float64(time.Now().UnixMicro()) / 1000 // under the lock, so that order and clock agree
	_ = w.encoder.Encode(line)                       // without a parent nobody wants to know
}

func (c PeerConfig) sessionTimeout() time.Duration {
	return time.Duration(c.SessionTimeout) * time.Millisecond
}

func (c PeerConfig) heartbeatInterval() time.Duration {
	return time.Duration(c.HeartbeatInterval) * time.Millisecond
}
