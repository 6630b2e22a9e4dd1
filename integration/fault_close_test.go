package integration

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/musterkafka/muster/assign"
)

// Each is in a group of its own and has read everything there is.
func TestMusterIdleConsumersCloseAtOnce(t *testing.T) {
	t.Parallel()
	const consumers = 20
	c := Shared(t)
	topic := c.CreateTopic(t, 1)
	c.FranzProduce(t, topic, "none", MakeRecords(10))
	groups := map[string]*MusterMember{}
	for range consumers {
		group := UniqueName(t, "group")
		groups[group] = c.MusterMember(t, NewRecorder(), "ann", group, topic, func(cfg *MusterConfig) {
			cfg.Consumer.Classic.HeartbeatInterval = 3 * time.Second // nothing that is due soon helps
		})
	}
	var took []time.Duration
	for group, m := range groups {
		require.Eventually(t, func() bool { return Judge(m.recorder.Events(), nil).Read == 10 }, time.Minute, 10*time.Millisecond)
		begin := time.Now()
		require.NoError(t, m.Consumer.Close(t.Context()))
		took = append(took, time.Since(begin))
		require.Empty(t, clientIDs(t, c, group))
		require.Equal(t, 10, committedRecords(t, c, group))
	}
	slices.Sort(took)
	t.Logf("%d idle consumers closed within %v (median), %v at most", consumers, took[consumers/2], took[consumers-1])
	require.Less(t, took[consumers/2], 400*time.Millisecond, "nothing waits for a timer, on a busy machine either")
}

// The coordinator holds the JoinGroup of ours for as long as another client's
// application takes to let go.
func TestMusterCloseDoesNotWaitForASlowMemberOfAnotherClient(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	topic, group := c.CreateTopic(t, 6), UniqueName(t, "group")
	r := NewRecorder()
	revoking, release := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(revoking) })
	free := sync.OnceFunc(func() { close(release) })
	c.FranzMember(t, r, "slow", group, topic, kgo.Balancers(kgo.RangeBalancer()),
		kgo.OnPartitionsRevoked(func(context.Context, *kgo.Client, map[string][]int32) {
			once()
			<-release
		}))
	t.Cleanup(free) // before the slow member leaves
	awaitBrokerShares(t, c, group, map[string]int{"slow": 6})
	ann := c.MusterMember(t, NewRecorder(), "ann", group, topic, using(assign.Range()))
	<-revoking
	awaitLog(t, ann, "to=Joining")
	require.Eventually(t, func() bool { return slices.Contains(clientIDs(t, c, group), "ann") }, time.Minute, 10*time.Millisecond)

	begin := time.Now()
	require.NoError(t, ann.Consumer.Close(t.Context()))
	took := time.Since(begin)
	require.Equal(t, []string{"slow"}, clientIDs(t, c, group))
	t.Logf("closed within %v", took)
	require.Less(t, took, time.Second)
	free()
	awaitBrokerShares(t, c, group, map[string]int{"slow": 6})
}
