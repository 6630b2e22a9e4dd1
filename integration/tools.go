package integration

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/stretchr/testify/require"
)

// Exec runs a command in the container of a broker, waits for it, and returns
// what it wrote to standard output. The test fails if the command does.
func (c *Cluster) Exec(t testing.TB, id int, command ...string) string {
	t.Helper()
	out, err := c.brokers[id-1].exec(t.Context(), command)
	require.NoError(t, err)
	return out
}

// Java runs one of Kafka's own tools by the name of its class in the container
// of broker 1, with input as its standard input, and returns its output.
// The tool reaches the cluster at [Cluster.Internal].
func (c *Cluster) Java(t testing.TB, input, class string, args ...string) string {
	t.Helper()
	file := "/tmp/" + UniqueName(t, "input")
	require.NoError(t, c.brokers[0].container.CopyToContainer(t.Context(), []byte(input), file, 0o644))
	defer c.Exec(t, 1, "rm", file)
	script := kafkaFunction + `input=$1; shift; kafka "$@" <"$input"`
	return c.Exec(t, 1, append([]string{"sh", "-c", script, "sh", file, class}, args...)...)
}

// Internal returns the addresses of all brokers as containers of the cluster
// reach them, joined by commas.
func (c *Cluster) Internal() string {
	var addrs []string
	for _, b := range c.brokers {
		addrs = append(addrs, internalAddr(b.id))
	}
	return strings.Join(addrs, ",")
}

func (b *broker) exec(ctx context.Context, command []string) (string, error) {
	code, output, err := b.container.Exec(ctx, command)
	if err != nil {
		return "", fmt.Errorf("run %q beside broker %d: %w", command, b.id, err)
	}
	var stdout, stderr bytes.Buffer
	if _, err := stdcopy.StdCopy(&stdout, &stderr, output); err != nil {
		return "", fmt.Errorf("read the output of %q beside broker %d: %w", command, b.id, err)
	}
	if code != 0 {
		return "", fmt.Errorf("%q beside broker %d ended with code %d: %s", command, b.id, code, stderr.String())
	}
	return stdout.String(), nil
}
