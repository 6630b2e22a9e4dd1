package groupmember_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/internal/sim"
)

// A seed of the simulation can be had as a script, which tells the same events to
// the same members, and they do the same.
func TestSimulatedGroupsAreScriptsToo(t *testing.T) {
	for seed := range uint64(20) {
		path := filepath.Join(t.TempDir(), fmt.Sprintf("seed_%d.txt", seed))
		file, err := os.Create(path)
		require.NoError(t, err)
		require.NoError(t, sim.WriteScript(file, seed))
		require.NoError(t, file.Close())
		require.NotEmpty(t, script(t, path))
	}
}
