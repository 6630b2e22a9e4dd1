package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"
)

// ownerLabel marks what a test process starts with the process it belongs to,
// as owner gives it, so that the next one can remove what a dead one left.
const ownerLabel = "musterkafka.integration.owner"

// requireEngine skips the test if no Docker engine or no image is there, and
// fails it instead where CI=true, so that no green run has left a test out.
func requireEngine(t testing.TB) {
	t.Helper()
	t.Cleanup(func() {
		if t.Skipped() && os.Getenv("CI") == "true" {
			t.Error("a test on a real Kafka was skipped")
		}
	})
	err := engineReady()
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("a real Kafka cannot be started: %v", err)
	}
	t.Skipf("a real Kafka cannot be started: %v; make integration prepares both engine and image", err)
}

// engineReady is asked once a process. It also removes what dead test
// processes left in the engine.
var engineReady = sync.OnceValue(func() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if os.Getenv("KAFKA_IMAGE") == "" {
		return errors.New("KAFKA_IMAGE is not set")
	}
	docker, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return fmt.Errorf("no Docker engine answers, is it running: %w", err)
	}
	defer docker.Close()
	return sweep(ctx, docker.Client, ownerDied)
})

// Main runs the tests of a package and removes all clusters they shared. It
// returns the code to exit with.
func Main(m *testing.M) int {
	log.SetDefault(log.NewNoopLogger()) // errors say what matters
	code := m.Run()
	if engineReady() != nil {
		return code
	}
	if err := sweepOwn(); err != nil {
		fmt.Fprintln(os.Stderr, "integration: containers are left behind:", err)
		return max(code, 1)
	}
	return code
}

func sweepOwn() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	docker, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return err
	}
	defer docker.Close()
	own := owner()
	return sweep(ctx, docker.Client, func(o string) bool { return o == own })
}

// sweep removes all containers and networks of the owners that unwanted names.
func sweep(ctx context.Context, docker *client.Client, unwanted func(owner string) bool) error {
	ours := client.Filters{}.Add("label", ownerLabel)
	containers, err := docker.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: ours})
	if err != nil {
		return fmt.Errorf("list containers: %w", err)
	}
	var failed []error
	for _, c := range containers.Items {
		if unwanted(c.Labels[ownerLabel]) {
			_, err := docker.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
			failed = append(failed, unlessGone(err))
		}
	}
	networks, err := docker.NetworkList(ctx, client.NetworkListOptions{Filters: ours})
	if err != nil {
		return fmt.Errorf("list networks: %w", err)
	}
	for _, n := range networks.Items {
		if unwanted(n.Labels[ownerLabel]) {
			_, err := docker.NetworkRemove(ctx, n.ID, client.NetworkRemoveOptions{})
			failed = append(failed, unlessGone(err))
		}
	}
	return errors.Join(failed...)
}

// unlessGone returns what a removal failed with, but nil where another process
// has removed the same, or is about to.
func unlessGone(err error) error {
	if errdefs.IsNotFound(err) || errdefs.IsConflict(err) {
		return nil
	}
	return err
}

// owner names this process on this machine.
func owner() string {
	host, _ := os.Hostname()
	return host + "/" + strconv.Itoa(os.Getpid())
}

// ownerDied reports whether an owner was a process of this machine that has
// ended. Others may share the engine, so in doubt it is alive.
func ownerDied(owner string) bool {
	host, pid, _ := strings.Cut(owner, "/")
	if here, _ := os.Hostname(); host != here {
		return false
	}
	n, err := strconv.Atoi(pid)
	return err == nil && errors.Is(syscall.Kill(n, 0), syscall.ESRCH)
}
