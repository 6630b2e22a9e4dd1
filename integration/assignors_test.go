package integration

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
)

// A witness is an assignor that remembers what it was asked and what it answered
// last.
type witness struct {
	assign.Assignor

	mu    sync.Mutex
	plans int
	group assign.Group
	plan  assign.Plan
}

// Assign implements assign.Assignor.
func (w *witness) Assign(g assign.Group) (assign.Plan, error) {
	plan, err := w.Assignor.Assign(g)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.plans++
	w.group, w.plan = g, plan
	return plan, err
}

// UserData implements assign.UserDataEncoder for the assignors that have it.
func (w *witness) UserData(owned assign.Partitions, generation int32) []byte {
	encoder, ok := w.Assignor.(assign.UserDataEncoder)
	if !ok {
		return nil
	}
	return encoder.UserData(owned, generation)
}

func (w *witness) last() (plans int, group assign.Group, plan assign.Plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.plans, w.group, w.plan
}

// uses makes a member use an assignor for some topics.
func uses(a assign.Assignor, topics ...string) func(*MusterConfig) {
	return func(cfg *MusterConfig) {
		cfg.Consumer.Topics = topics
		cfg.Consumer.Assignors = []assign.Assignor{a}
	}
}

// requirePlanned returns who owns what by the word of the broker, which must be
// what the plan says.
func requirePlanned(t *testing.T, c *Cluster, group string, plan assign.Plan) map[Partition]string {
	t.Helper()
	described, err := c.Describe(t.Context(), group)
	require.NoError(t, err)
	owners, err := described.Owners()
	require.NoError(t, err)
	planned := map[Partition]string{}
	for _, m := range described.Members {
		require.Contains(t, plan, m.ID)
		for _, p := range flatten(plan[m.ID]) {
			planned[p] = m.ClientID
		}
	}
	require.Len(t, plan, len(described.Members))
	require.Equal(t, planned, owners, "the plan, and who owns what")
	return owners
}

// Two groups of the same members: one is led by us, the other by Java. The members
// differ in their topics, and two are static: they are served before the others, though
// their IDs come later.
func TestMusterPlansForJavaAndLibrdkafkaWhatJavaPlans(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		assignor assign.Assignor
		java     string
		shares   map[string]int
	}{
		{assign.Range(), "org.apache.kafka.clients.consumer.RangeAssignor", map[string]int{"kcat": 6, "ann": 4, "bob": 2, "java": 2}},
		{assign.RoundRobin(), "org.apache.kafka.clients.consumer.RoundRobinAssignor", map[string]int{"kcat": 5, "ann": 5, "bob": 2, "java": 2}},
	} {
		t.Run(test.assignor.Name(), func(t *testing.T) {
			t.Parallel()
			const partitions = 7
			c := Shared(t)
			topics := []string{c.CreateTopic(t, partitions), c.CreateTopic(t, partitions)}
			slices.Sort(topics)
			java := []string{"--assignment-strategy", test.java, "--group-instance-id", "static-2"}
			kcat := []string{"partition.assignment.strategy", test.assignor.Name(), "group.instance.id", "static-1"}

			// In both groups whoever comes first leads.
			byJava, theirs := UniqueName(t, "by-java"), NewRecorder()
			c.JavaMember(t, theirs, "java", byJava, topics[0], java...)
			byUs, ours := UniqueName(t, "by-us"), NewRecorder()
			leader := &witness{Assignor: test.assignor}
			c.MusterMember(t, ours, "ann", byUs, "", uses(leader, topics...))
			awaitShares(t, c, ours, byUs, map[string]int{"ann": 14})
			awaitShares(t, c, theirs, byJava, map[string]int{"java": 7})

			follower := &witness{Assignor: test.assignor}
			c.KcatMember(t, ours, "kcat", byUs, topics, kcat...)
			c.JavaMember(t, ours, "java", byUs, topics[0], java...)
			c.MusterMember(t, ours, "bob", byUs, "", uses(follower, topics[1]))
			c.MusterMember(t, theirs, "ann", byJava, "", uses(follower, topics...))
			c.KcatMember(t, theirs, "kcat", byJava, topics, kcat...)
			c.MusterMember(t, theirs, "bob", byJava, "", uses(follower, topics[1]))

			awaitShares(t, c, ours, byUs, test.shares)
			awaitShares(t, c, theirs, byJava, test.shares)
			_, _, plan := leader.last()
			owners := requirePlanned(t, c, byUs, plan)
			described, err := c.Describe(t.Context(), byJava)
			require.NoError(t, err)
			want, err := described.Owners()
			require.NoError(t, err)
			require.Equal(t, want, owners, "what Java has planned, and what we have")
			plans, _, _ := follower.last()
			require.Zero(t, plans, "only ann and java have led")
		})
	}
}
