package integration

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/network"
	"github.com/twmb/franz-go/pkg/kgo"
)

// readyTimeout is how long a broker may take from its start, or from its
// restart, until it takes requests. Seconds are usual; a busy machine is not.
const readyTimeout = 2 * time.Minute

// Options say what cluster to start.
type Options struct {
	// Brokers is how many brokers to start, each of them also a controller.
	// Zero is one.
	Brokers int

	// Version is one of those that [Versions] returns. Empty is the newest.
	Version string

	// Properties are set on every broker, over those of the harness.
	Properties map[string]string
}

// A Cluster is a real Kafka of brokers 1 to n in containers, reached over
// 127.0.0.1. Its methods may be called from many goroutines, those that take a
// testing.TB from the test's own only.
type Cluster struct {
	brokers []*broker // by ID - 1
	network *testcontainers.DockerNetwork
	admin   *kgo.Client
}

// Start starts a cluster for this test alone, which may do to its brokers what
// it likes, and removes it when the test ends.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	requireEngine(t)
	c, err := start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.remove(), "remove the cluster") })
	c.showLogs(t)
	return c
}

// Shared returns the one broker that the tests of this process share, and
// starts it if this is the first. A test must leave it as it is, and use
// topics and groups of its own.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	return share(t, sharedOne)
}

// SharedThree is Shared with a cluster of three brokers.
func SharedThree(t testing.TB) *Cluster {
	t.Helper()
	return share(t, sharedThree)
}

var (
	sharedOne = sync.OnceValues(func() (*Cluster, error) {
		return start(context.Background(), Options{Brokers: 1})
	})
	sharedThree = sync.OnceValues(func() (*Cluster, error) {
		return start(context.Background(), Options{Brokers: 3})
	})
)

func share(t testing.TB, shared func() (*Cluster, error)) *Cluster {
	t.Helper()
	requireEngine(t)
	c, err := shared()
	require.NoError(t, err)
	c.showLogs(t)
	return c
}

func start(ctx context.Context, o Options) (_ *Cluster, err error) {
	o.Brokers = max(o.Brokers, 1)
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	rel, err := findRelease(o)
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(o.Brokers)
	if err != nil {
		return nil, err
	}
	c := &Cluster{}
	defer func() {
		if err != nil {
			err = fmt.Errorf("start a cluster of %d: %w%s", o.Brokers, err, c.logs())
			_ = c.remove() // what it leaves, the end of the process sweeps
		}
	}()
	c.network, err = network.New(ctx, network.WithLabels(map[string]string{ownerLabel: owner()}))
	if err != nil {
		return nil, fmt.Errorf("create a network: %w", err)
	}
	for i, port := range ports {
		properties := brokerProperties(i+1, o.Brokers, port)
		rel.adapt(properties)
		maps.Copy(properties, o.Properties)
		b, err := runBroker(ctx, rel, i+1, port, properties, c.network)
		if err != nil {
			return nil, err
		}
		c.brokers = append(c.brokers, b)
	}
	c.admin, err = kgo.NewClient(kgo.SeedBrokers(c.Addrs()...))
	if err != nil {
		return nil, err
	}
	return c, c.awaitReady(ctx)
}

// Addrs returns the addresses of all brokers, in the order of their IDs. They
// stay the same when a broker is stopped and started.
func (c *Cluster) Addrs() []string {
	addrs := make([]string, len(c.brokers))
	for i, b := range c.brokers {
		addrs[i] = b.addr
	}
	return addrs
}

// Addr returns the address of one broker, 1 being the first.
func (c *Cluster) Addr(id int) string {
	return c.brokers[id-1].addr
}

// Client returns a franz-go client of this cluster that is closed when the
// test ends.
func (c *Cluster) Client(t testing.TB, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(c.Addrs()...)}, options...)...)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

func (c *Cluster) remove() error {
	if c.admin != nil {
		c.admin.Close()
	}
	for _, b := range c.brokers {
		if err := testcontainers.TerminateContainer(b.container, testcontainers.StopTimeout(0)); err != nil {
			return err
		}
	}
	if c.network == nil {
		return nil
	}
	return c.network.Remove(context.Background())
}

// showLogs shows the end of every broker's log if the test fails.
func (c *Cluster) showLogs(t testing.TB) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.logs())
		}
	})
}

func (c *Cluster) logs() string {
	var all strings.Builder
	for _, b := range c.brokers {
		fmt.Fprintf(&all, "\nend of the log of broker %d:\n%s", b.id, b.logTail())
	}
	return all.String()
}
