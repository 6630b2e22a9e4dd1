package integration

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
)

// leaders remembers which member has planned for the group, and can make one
// of them do something else instead.
type leaders struct {
	mu      sync.Mutex
	planned []string // by name, in order
	instead map[string]func(assign.Group)
}

func (l *leaders) plan(name string, g assign.Group) {
	l.mu.Lock()
	l.planned = append(l.planned, name)
	instead := l.instead[name]
	l.mu.Unlock()
	if instead != nil {
		instead(g)
	}
}

func (l *leaders) make(name string, do func(assign.Group)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.instead = map[string]func(assign.Group){name: do}
}

func (l *leaders) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.planned)
}

func (l *leaders) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.planned[len(l.planned)-1]
}

// watched is the range assignor under the eyes of leaders.
type watched struct {
	assign.Assignor
	name string
	by   *leaders
}

func (w watched) Assign(g assign.Group) (assign.Plan, error) {
	w.by.plan(w.name, g)
	return w.Assignor.Assign(g)
}

func (l *leaders) watch(name string) func(*MusterConfig) {
	return func(cfg *MusterConfig) {
		cfg.Consumer.Assignors = []assign.Assignor{watched{assign.Range(), name, l}}
	}
}

func TestMusterLeaderKilledWhileItPlansIsReplaced(t *testing.T) {
	t.Parallel()
	const partitions = 12
	c := Shared(t)
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	r := NewRecorder()
	traffic := c.Traffic(t, topic, partitions)

	l := new(leaders)
	ann := c.MusterMember(t, r, "ann", group, topic, l.watch("ann"))
	awaitShares(t, c, r, group, map[string]int{"ann": 12})
	c.MusterMember(t, r, "bob", group, topic, l.watch("bob"))
	awaitShares(t, c, r, group, map[string]int{"ann": 6, "bob": 6})
	require.Equal(t, "ann", l.last())

	planning, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	once := sync.OnceFunc(func() { close(planning) })
	l.make("ann", func(assign.Group) { once(); <-release })
	c.MusterMember(t, r, "cid", group, topic, l.watch("cid"))
	<-planning
	described, err := c.Describe(t.Context(), group)
	require.NoError(t, err)
	require.Equal(t, "CompletingRebalance", described.State)
	require.Len(t, described.Members, 3)

	ann.Kill()
	awaitShares(t, c, r, group, map[string]int{"bob": 6, "cid": 6})
	require.Contains(t, []string{"bob", "cid"}, l.last())
	verdict := judgeAll(t, c, r, traffic.Stop(t), topic, partitions)
	require.Zero(t, verdict.Duplicates, "everything was committed before the round")
}

func TestMusterLeaderWhosePlanFailsMakesWayForTheNext(t *testing.T) {
	t.Parallel()
	const partitions = 12
	c := Shared(t)
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	r := NewRecorder()
	traffic := c.Traffic(t, topic, partitions)

	l := new(leaders)
	ann := c.MusterMember(t, r, "ann", group, topic, l.watch("ann"))
	awaitShares(t, c, r, group, map[string]int{"ann": 12})
	l.make("ann", func(assign.Group) { panic("no plan today") })
	c.MusterMember(t, r, "bob", group, topic, l.watch("bob"))

	require.EventuallyWithT(t, func(collect *assert.CollectT) {
		require.Equal(collect, "bob", l.last())
	}, time.Minute, 10*time.Millisecond)
	awaitShares(t, c, r, group, map[string]int{"ann": 6, "bob": 6})
	require.NotEmpty(t, ann.Log.Lines("level=WARN", "no plan today"))
	verdict := judgeAll(t, c, r, traffic.Stop(t), topic, partitions)
	require.Zero(t, verdict.Duplicates)
}
