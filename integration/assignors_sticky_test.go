package integration

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
)

var javaSticky = []string{"--assignment-strategy", "org.apache.kafka.clients.consumer.StickyAssignor"}

// A Java leader knows what our members own from their user data alone.
func TestMusterRejoinMovesNothingUnderAStickyJavaLeader(t *testing.T) {
	t.Parallel()
	const partitions = 12
	c := Shared(t)
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	r := NewRecorder()
	w := &witness{Assignor: assign.Sticky()}

	c.JavaMember(t, r, "java", group, topic, javaSticky...)
	awaitShares(t, c, r, group, map[string]int{"java": 12})
	c.MusterMember(t, r, "ann", group, topic, uses(w, topic))
	awaitShares(t, c, r, group, map[string]int{"ann": 6, "java": 6})
	two := Judge(r.Events(), nil).Owners
	c.MusterMember(t, r, "bob", group, topic, uses(w, topic))
	shares := map[string]int{"ann": 4, "bob": 4, "java": 4}
	awaitShares(t, c, r, group, shares)

	three := requireTwoRoundsMoveNothing(t, c, r, group, shares, w)
	require.Equal(t, 4, countMoves(two, three), "bob has been given his share and nothing else moved")
	plans, _, _ := w.last()
	require.Zero(t, plans, "only java has led")
}

// Our leader knows what Java members own from their user data alone.
func TestMusterStickyLeaderMovesNothingOfJavaMembers(t *testing.T) {
	t.Parallel()
	const partitions = 12
	c := Shared(t)
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	r := NewRecorder()
	w, follower := &witness{Assignor: assign.Sticky()}, &witness{Assignor: assign.Sticky()}

	c.MusterMember(t, r, "ann", group, topic, uses(w, topic))
	awaitShares(t, c, r, group, map[string]int{"ann": 12})
	c.JavaMember(t, r, "java", group, topic, javaSticky...)
	awaitShares(t, c, r, group, map[string]int{"ann": 6, "java": 6})
	two := Judge(r.Events(), nil).Owners
	c.JavaMember(t, r, "jim", group, topic, javaSticky...)
	shares := map[string]int{"ann": 4, "java": 4, "jim": 4}
	awaitShares(t, c, r, group, shares)

	three := requireTwoRoundsMoveNothing(t, c, r, group, shares, follower)
	require.Equal(t, 4, countMoves(two, three), "jim has been given his share and nothing else moved")
	_, _, plan := w.last()
	require.Equal(t, three, requirePlanned(t, c, group, plan))
}

// countMoves counts the partitions that have another owner.
func countMoves(before, after map[Partition]string) int {
	moves := 0
	for p, owner := range before {
		if after[p] != owner {
			moves++
		}
	}
	return moves
}

// requireTwoRoundsMoveNothing makes everybody join again, twice: one who reads something
// else comes and goes. It returns who owns what all the while.
func requireTwoRoundsMoveNothing(t *testing.T, c *Cluster, r *Recorder, group string, shares map[string]int, w *witness) map[Partition]string {
	t.Helper()
	before, begin := Judge(r.Events(), nil).Owners, time.Since(r.begin)
	passing := c.MusterMember(t, r, "passing", group, "", uses(w, c.CreateTopic(t, 1)))
	with := maps.Clone(shares)
	with["passing"] = 1
	awaitShares(t, c, r, group, with)
	require.NoError(t, passing.Close())
	awaitShares(t, c, r, group, shares)

	given := map[Partition][]string{}
	for _, e := range r.Events() {
		if e.Kind == Assigned && e.At > begin && e.Member != "passing" {
			given[e.Partition] = append(given[e.Partition], e.Member)
		}
	}
	require.Len(t, given, len(before), "all partitions are given out again")
	for p, owner := range before {
		// Once is enough: a slow member's round may be overtaken by the next.
		require.Equal(t, []string{owner}, slices.Compact(given[p]), "%s stays where it is", p)
	}
	return before
}
