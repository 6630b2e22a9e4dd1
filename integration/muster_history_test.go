package integration

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/groupmember/history"
)

// What two members of a group heard from a real broker is written down, and each
// history replays to the same actions: the one of the member that leaves, and the one of
// the member that takes over.
func TestMusterHistoriesOfRealMembersReplay(t *testing.T) {
	t.Parallel()
	const partitions = 6
	c := Shared(t)
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	r := NewRecorder()
	traffic := c.Traffic(t, topic, partitions)
	dir := t.TempDir()

	members := map[string]*MusterMember{}
	for _, name := range []string{"ann", "bob"} {
		file, err := os.Create(filepath.Join(dir, name))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, file.Close()) })
		members[name] = c.MusterMember(t, r, name, group, topic, func(cfg *MusterConfig) { cfg.Consumer.History = file })
	}
	awaitShares(t, c, r, group, map[string]int{"ann": 3, "bob": 3})
	traffic.Await(t, 100)
	require.NoError(t, members["bob"].Close())
	awaitShares(t, c, r, group, map[string]int{"ann": 6})
	judgeAll(t, c, r, traffic.Stop(t), topic, partitions)
	require.NoError(t, members["ann"].Close())

	for name := range members {
		told := 0
		for _, e := range r.Events() {
			if e.Member == name && e.Kind == Assigned {
				told++
			}
		}
		require.Positive(t, told, name)
		require.Equal(t, told, replayHistory(t, filepath.Join(dir, name), group), name)
	}
}

// replayHistory replays the history of a member that has left, and returns how
// many partitions it owned after each of its rounds, all of them together.
func replayHistory(t *testing.T, path, group string) (assigned int) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	reader, err := history.NewReader(file)
	require.NoError(t, err, path)
	require.Equal(t, group, reader.Header().Config.Group)
	state := groupmember.Idle
	for step, err := range history.Replay(reader) {
		require.NoError(t, err, path)
		state = step.State
		for _, a := range step.Actions {
			if a, ok := a.(groupmember.Assigned); ok {
				assigned += len(flatten(a.Owned))
			}
		}
	}
	require.False(t, reader.Torn(), path)
	require.Equal(t, groupmember.Exited, state, path)
	return assigned
}
