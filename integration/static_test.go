package integration

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/assign"
	"github.com/musterkafka/muster/client"
)

// using makes a member offer these assignors.
func using(assignors ...assign.Assignor) func(*MusterConfig) {
	return func(cfg *MusterConfig) { cfg.Consumer.Assignors = assignors }
}

// static makes a member a static one.
func static(instance string) func(*MusterConfig) {
	return func(cfg *MusterConfig) { cfg.Consumer.InstanceID = instance }
}

func TestMusterStaticMemberRestartsWithoutARebalance(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	for _, assignor := range []assign.Assignor{assign.CooperativeSticky(), assign.Range()} {
		t.Run(assignor.Name(), func(t *testing.T) {
			t.Parallel()
			restartStatic(t, c, assignor)
		})
	}
}

// The first member leads the group, the second does not. Each is restarted once
// in good order and once after a crash. One that does not come back loses its place
// with its session.
func restartStatic(t *testing.T, c *Cluster, assignor assign.Assignor) {
	const partitions = 6
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	r := NewRecorder()
	traffic := c.Traffic(t, topic, partitions)
	members := map[string]*MusterMember{}
	start := func(name string) {
		members[name] = c.MusterMember(t, r, name, group, topic, using(assignor), static("instance-of-"+name))
	}
	start("ann")
	awaitShares(t, c, r, group, map[string]int{"ann": 6})
	start("bob")
	awaitShares(t, c, r, group, map[string]int{"ann": 3, "bob": 3})
	generation := lastGeneration(r)
	owners := Judge(r.Events(), nil).Owners

	for _, restart := range []struct {
		name string
		end  func(*MusterMember)
	}{
		{"bob", func(m *MusterMember) { require.NoError(t, m.Close()) }},
		{"ann", func(m *MusterMember) { require.NoError(t, m.Close()) }},
		{"bob", (*MusterMember).Kill},
		{"ann", (*MusterMember).Kill},
	} {
		traffic.Await(t, 100)
		ended := time.Since(r.begin)
		restart.end(members[restart.name])
		require.ElementsMatch(t, []string{"ann", "bob"}, clientIDs(t, c, group), "the group keeps a place for %s", restart.name)
		start(restart.name)
		awaitShares(t, c, r, group, map[string]int{"ann": 3, "bob": 3})
		c.RequireGeneration(t, group, generation)
		require.Equal(t, owners, Judge(r.Events(), nil).Owners)
		require.Less(t, time.Since(r.begin)-ended, sessionTimeout, "this test is about restarts within the session timeout")
		for _, e := range r.Events() {
			require.False(t, e.At > ended && e.Kind != Read && e.Member != restart.name, "the other notices nothing: %v", e)
		}
	}

	require.NoError(t, members["bob"].Close())
	closed := time.Since(r.begin)
	awaitBrokerShares(t, c, group, map[string]int{"ann": 6})
	requireSessionTimeout(t, r.Events()[assignedAfter(t, r, "ann", closed)].At-closed)
	judgeAll(t, c, r, traffic.Stop(t), topic, partitions)
}

func describe(t *testing.T, c *Cluster, group string) Group {
	t.Helper()
	described, err := c.Describe(t.Context(), group)
	require.NoError(t, err)
	return described
}

// lastGeneration returns the newest generation that anybody was assigned
// something in.
func lastGeneration(r *Recorder) int32 {
	last := int32(-1)
	for _, e := range r.Events() {
		last = max(last, e.Generation)
	}
	return last
}

// Two processes with one instance ID are a mistake of whoever set them up. The
// later one gets the place; the other must say so, and not take it back.
func TestMusterStaticMemberStopsWhenAnotherTakesItsInstanceID(t *testing.T) {
	t.Parallel()
	const partitions = 6
	c := Shared(t)
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	r := NewRecorder()
	traffic := c.Traffic(t, topic, partitions)
	first := c.MusterConsumer(t, r, "first", group, topic, static("the-same"))
	var loop sync.WaitGroup
	var err error
	loop.Go(func() {
		var record *client.Record
		for record, err = range first.Consumer.Records(t.Context()) {
			if err == nil {
				r.Read("first", Partition{record.Topic, record.Partition}, record.Offset)
			}
		}
	})
	awaitShares(t, c, r, group, map[string]int{"first": 6})
	generation := lastGeneration(r)
	traffic.Await(t, 100)

	before := describe(t, c, group)
	r2 := NewRecorder()
	c.MusterMember(t, r2, "second", group, topic, static("the-same"))
	loop.Wait()
	require.ErrorIs(t, err, kerr.FencedInstanceID)
	for _, words := range []string{group, `"the-same"`, "another process", "give each its own"} {
		require.ErrorContains(t, err, words)
	}
	require.Eventually(t, func() bool { return len(Judge(r2.Events(), nil).Owners) == partitions }, time.Minute, 10*time.Millisecond)
	for range 2 {
		for _, err := range first.Consumer.Records(t.Context()) {
			require.ErrorIs(t, err, kerr.FencedInstanceID, "every loop says it")
		}
	}
	traffic.Await(t, 2000) // for some seconds nobody tries to come back
	c.RequireGeneration(t, group, generation)
	require.Len(t, first.Log.Lines("from=Encoding to=Joining"), 1, "the first does not join again")
	require.NoError(t, first.Close(), "the loop has said it")
	after := describe(t, c, group)
	require.Len(t, after.Members, 1, "closing the first does not make the second leave")
	require.NotEqual(t, before.Members[0].ID, after.Members[0].ID)
	require.Len(t, after.Members[0].Partitions, partitions)
}

func TestMusterStaticMemberReturnsWhenAnAdministratorHasRemovedIt(t *testing.T) {
	t.Parallel()
	const partitions = 6
	c := Shared(t)
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	r := NewRecorder()
	traffic := c.Traffic(t, topic, partitions)
	ann := c.MusterMember(t, r, "ann", group, topic, static("instance-of-ann"))
	awaitShares(t, c, r, group, map[string]int{"ann": 6})
	c.MusterMember(t, r, "bob", group, topic, static("instance-of-bob"))
	awaitShares(t, c, r, group, map[string]int{"ann": 3, "bob": 3})
	traffic.Await(t, 100)

	removeInstance(t, c, group, "instance-of-ann")
	removed := time.Since(r.begin)
	returned := assignedAfter(t, r, "ann", removed)
	awaitShares(t, c, r, group, map[string]int{"ann": 3, "bob": 3})
	require.NotEmpty(t, ann.Log.Lines("UNKNOWN_MEMBER_ID"))

	// It hears of it with its next heartbeat, and others may be faster. What it
	// reads until then it cannot commit.
	produced := traffic.Stop(t)
	awaitReads(t, r, produced)
	events := slices.Clone(r.Events()[:returned])
	events = slices.DeleteFunc(events, func(e Event) bool { return e.Member == "ann" && e.At > removed })
	gone := slices.IndexFunc(append(events, Event{At: removed + 1}), func(e Event) bool { return e.At > removed })
	events = slices.Insert(events, gone, Event{At: removed, Kind: Gone, Member: "ann"})
	verdict := Judge(append(events, r.Events()[returned:]...), awaitEnds(t, c, topic, partitions))
	verdict.Require(t)
	require.Equal(t, produced, verdict.Read)
}

// removeInstance is what an administrator does to a static member that will not
// come back: LeaveGroup in its name.
func removeInstance(t *testing.T, c *Cluster, group, instance string) {
	t.Helper()
	member := kmsg.NewLeaveGroupRequestMember()
	member.InstanceID = &instance
	request := kmsg.NewPtrLeaveGroupRequest()
	request.Group = group
	request.Members = append(request.Members, member)
	response, err := requestCoordinator[*kmsg.LeaveGroupResponse](t.Context(), c, group, request)
	require.NoError(t, err)
	require.NoError(t, kerr.ErrorForCode(response.ErrorCode))
	require.NoError(t, kerr.ErrorForCode(response.Members[0].ErrorCode))
}
