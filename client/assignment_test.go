package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/musterkafka/muster/groupmember"
)

// clusterOf describes one topic whose partitions have these leaders.
func clusterOf(name string, id byte, leaders ...int32) *cluster {
	t := topic{name: name, id: [16]byte{id}}
	for i, leader := range leaders {
		t.partitions = append(t.partitions, partition{id: int32(i), leader: leader, leaderEpoch: 5})
	}
	return &cluster{number: 1, topics: map[string]topic{name: t}}
}

func TestPlanFollowsAPartitionFromAssignmentToFetch(t *testing.T) {
	now := time.Unix(1000, 0)
	var a assignment
	a.add(groupmember.Partitions{"t": {0, 1}})
	a.route(clusterOf("t", 1, 7, 8))

	w := a.plan(now)
	require.Len(t, w.lookUp, 2)
	require.Empty(t, a.plan(now).lookUp, "asked once")

	p0, p1 := w.lookUp[0], w.lookUp[1]
	p0.startAt(mark{5, 1}, true)
	p1.restart(ResetEarliest)
	w = a.plan(now)
	require.Equal(t, map[int32][]*ownedPartition{7: {p0}}, w.fetch)
	require.Equal(t, map[int32][]*ownedPartition{8: {p1}}, w.reset)

	p1.startAt(mark{0, -1}, false)
	w = a.plan(now)
	require.Equal(t, map[int32][]*ownedPartition{7: {p0}, 8: {p1}}, w.fetch)
	require.Empty(t, w.reset)
	require.True(t, w.next.IsZero(), "fetchers have it all")
}

func TestPlanWaitsForALeader(t *testing.T) {
	now := time.Unix(1000, 0)
	var a assignment
	a.add(groupmember.Partitions{"t": {0}})
	p := a.all()[0]
	p.startAt(mark{5, 1}, true)
	a.route(clusterOf("t", 1, -1))
	w := a.plan(now)
	require.True(t, w.leaderless)
	require.True(t, w.next.After(now))
	require.Empty(t, w.fetch)

	a.route(clusterOf("t", 1, 3))
	w = a.plan(w.next)
	require.False(t, w.leaderless)
	require.Equal(t, map[int32][]*ownedPartition{3: {p}}, w.fetch)
}

func TestPlanStartsNowhereWithResetNone(t *testing.T) {
	var a assignment
	a.add(groupmember.Partitions{"t": {0}})
	p := a.all()[0]
	p.restart(ResetNone)
	require.Equal(t, []*ownedPartition{p}, a.plan(time.Unix(1000, 0)).refused)
}

func TestAReplacedPartitionMeansNothingAnyMore(t *testing.T) {
	var a assignment
	a.add(groupmember.Partitions{"t": {0}})
	old := a.all()[0]
	next := a.replace(old)
	require.False(t, a.owns(old))
	require.True(t, a.owns(next))
	a.remove(groupmember.Partitions{"t": {0}})
	require.True(t, a.owns(next), "it is not being taken back")

	next.going = true
	last := a.replace(next)
	a.remove(groupmember.Partitions{"t": {0}})
	require.False(t, a.owns(last), "what took the place of one that is going goes with it")
}

func TestATopicThatWasCreatedAgainIsNoticed(t *testing.T) {
	var a assignment
	a.add(groupmember.Partitions{"t": {0}})
	require.Empty(t, a.route(clusterOf("t", 1, 7)))
	require.Empty(t, a.route(&cluster{topics: map[string]topic{}}), "unknown for a moment")
	require.Empty(t, a.route(clusterOf("t", 1, 8)), "only another leader")
	require.Equal(t, a.all(), a.route(clusterOf("t", 2, 8)))
}

// An assigned partition is asked about, or will be, or waits for the application.
func TestAPartitionNeverRestsSilently(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(1000, 0)
		var a assignment
		ids := []int32{0, 1, 2}
		a.add(groupmember.Partitions{"t": ids})
		pick := func() *ownedPartition { return rapid.SampledFrom(a.all()).Draw(t, "partition") }
		leader := func() int32 { return rapid.Int32Range(-1, 2).Draw(t, "leader") }
		w := a.plan(now)
		plan := func() { w = a.plan(now) }
		t.Repeat(map[string]func(*rapid.T){
			"route":  func(*rapid.T) { a.route(clusterOf("t", 1, leader(), leader(), leader())) },
			"found":  func(*rapid.T) { pick().startAt(mark{9, 1}, true) },
			"reset":  func(*rapid.T) { pick().restart(ResetLatest) },
			"failed": func(*rapid.T) { pick().failed(now) },
			"rest":   func(*rapid.T) { pick().rest(now) },
			"tell":   func(*rapid.T) { pick().tell() },
			"told":   func(*rapid.T) { pick().told(now) },
			"over":   func(*rapid.T) { a.replace(pick()) },
			"fetch": func(*rapid.T) {
				for _, parts := range w.fetch {
					for _, p := range parts {
						if a.owns(p) && p.due(now) {
							p.ask()
						}
					}
				}
			},
			"time": func(*rapid.T) { now = now.Add(time.Duration(rapid.IntRange(1, 2000).Draw(t, "ms")) * time.Millisecond) },
			"": func(t *rapid.T) {
				plan()
				for _, p := range a.all() {
					fetched := false
					for _, q := range w.fetch[p.leader] {
						fetched = fetched || q == p
					}
					timer := !w.next.IsZero() && !w.next.After(p.retryAt)
					if p.retryAt.After(now) { // even if it is busy: the answer may come before
						require.True(t, p.telling || timer, "%+v", p)
						continue
					}
					require.True(t, p.busy || p.telling || fetched && p.due(now), "%+v", p)
				}
			},
		})
	})
}
