package assign_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/internal/purity"
)

// Equal groups get equal plans only if nothing but the group can be asked: no
// network, file, lock, context, log, clock or chance. A new import here is a
// decision about that promise, not a convenience. The list is also in
// .golangci.yml.
func TestTheAssignorsArePure(t *testing.T) {
	breaches, err := purity.Check(
		".",
		"bytes", "cmp", "errors", "fmt", "iter", "maps", "math", "slices", "strconv", "strings",
		"github.com/twmb/franz-go/pkg/kbin",
		"github.com/twmb/franz-go/pkg/kmsg",
	)
	require.NoError(t, err)
	require.Empty(t, breaches)
}
