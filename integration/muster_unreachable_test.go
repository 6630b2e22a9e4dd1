package integration

import (
	"context"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/client"
)

// What a first user may have wrong, and words by which he finds it.
func wrongAddresses(t *testing.T, c *Cluster) map[string]struct{ addr, words string } {
	t.Helper()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, nobody.Close())
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { silent.Close() })
	web := httptest.NewServer(nil)
	t.Cleanup(web.Close)
	return map[string]struct{ addr, words string }{
		"nobody listens":          {nobody.Addr().String(), "is the broker running"},
		"somebody is silent":      {silent.Addr().String(), "is this the port of a Kafka listener"},
		"an HTTP server":          {web.Listener.Addr().String(), "is this the port of a Kafka listener"},
		"the port of controllers": {c.ControllerAddr(t), "is this the port of a controller"},
	}
}

func TestMusterSaysWithinTheBootstrapTimeoutWhyNoBrokerAnswers(t *testing.T) {
	t.Parallel()
	const timeout = 2 * time.Second
	for name, wrong := range wrongAddresses(t, Shared(t)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := NewLog(t, "client")
			cl, err := client.New(client.Config{Brokers: []string{wrong.addr}, BootstrapTimeout: timeout, Logger: log.Logger()})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, cl.Close()) })
			consumer, err := cl.Consumer(client.ConsumerConfig{Group: "any", Topics: []string{"any"}})
			require.NoError(t, err)

			begin := time.Now()
			for _, err := range consumer.Records(t.Context()) {
				requireExplained(t, err, wrong.addr, wrong.words)
			}
			require.Less(t, time.Since(begin), timeout+time.Second)

			_, err = cl.Admin().DescribeTopics(t.Context(), "any")
			requireExplained(t, err, wrong.addr, wrong.words)
			require.Len(t, log.Lines("level=WARN"), 1, "said once, not at each try")

			begin = time.Now()
			require.NoError(t, consumer.Close(t.Context()))
			require.Less(t, time.Since(begin), time.Second, "there is no group to leave")
		})
	}
}

func TestMusterSaysByTheDeadlineOfACallWhyNoBrokerAnswers(t *testing.T) {
	t.Parallel()
	const patience = 500 * time.Millisecond
	for name, wrong := range wrongAddresses(t, Shared(t)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cl, err := client.New(client.Config{Brokers: []string{wrong.addr}, Logger: NewLog(t, "client").Logger()})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, cl.Close()) })
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			begin := time.Now()
			_, err = cl.Admin().DescribeTopics(ctx, "any")
			require.Less(t, time.Since(begin), patience+time.Second)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			requireExplained(t, err, wrong.addr, "")
		})
	}
}

func requireExplained(t *testing.T, err error, addr, words string) {
	t.Helper()
	var bootstrap *client.BootstrapError
	require.ErrorAs(t, err, &bootstrap)
	require.ErrorContains(t, err, addr)
	require.ErrorContains(t, err, words)
	require.ErrorContains(t, err, "check Config.Brokers")
}

func TestMusterNamesEveryProblemOfAConfig(t *testing.T) {
	_, err := client.New(client.Config{Brokers: []string{"http://localhost", "localhost:what"}, DialTimeout: -1})
	for _, words := range []string{`"http://localhost"`, `"localhost:what"`, "DialTimeout"} {
		require.ErrorContains(t, err, words)
	}
	_, err = client.New(client.Config{})
	require.ErrorContains(t, err, "Brokers is empty")

	cl, err := client.New(client.Config{Brokers: []string{"localhost"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cl.Close()) })
	_, err = cl.Consumer(client.ConsumerConfig{
		FetchMinBytes: -1,
		Classic:       client.ClassicConfig{SessionTimeout: time.Second, HeartbeatInterval: time.Minute},
	})
	for _, words := range []string{"Group is empty", "neither Topics nor Patterns has an entry", "FetchMinBytes", "HeartbeatInterval"} {
		require.ErrorContains(t, err, words)
	}
}
