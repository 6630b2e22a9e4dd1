package groupmember_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/internal/purity"
)

// A member that can be replayed has nothing to replay but its events: no
// network, file, lock, context, log or clock. A new import here is a decision
// about that promise, not a convenience. The list is also in .golangci.yml.
func TestTheMachineIsPure(t *testing.T) {
	breaches, err := purity.Check(
		".",
		"bytes", "cmp", "errors", "fmt", "iter", "maps", "math", "math/rand/v2", "slices", "strconv", "strings", "time",
		"github.com/twmb/franz-go/pkg/kerr",
		"github.com/twmb/franz-go/pkg/kmsg",
	)
	require.NoError(t, err)
	require.Empty(t, breaches)
}
