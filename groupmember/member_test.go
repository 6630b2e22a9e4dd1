package groupmember_test

import (
	"path/filepath"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/groupmember"
)

// The classic protocol as conversations. Run with -rewrite after a change of
// behaviour, and read the diff.
func TestClassicConversations(t *testing.T) {
	datadriven.Walk(t, filepath.Join("testdata", "classic"), func(t *testing.T, path string) { script(t, path) })
}

func TestConfigReportsAllProblemsAtOnce(t *testing.T) {
	_, err := groupmember.New(groupmember.Config{SessionTimeout: -1, HeartbeatInterval: -1, MinBackoff: 2, MaxBackoff: 1})
	for _, problem := range []string{"group is empty", "session timeout is", "heartbeat interval is", "minimum back-off"} {
		require.ErrorContains(t, err, problem)
	}
}
