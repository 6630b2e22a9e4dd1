package integration

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
)

// A mixedGroup is a group of members of ours and of another client that read
// one topic.
type mixedGroup struct {
	t        *testing.T
	c        *Cluster
	recorder *Recorder
	group    string
	topic    string
	client   foreignClient
	foreign  map[string]bool // by name
	witness  *witness        // of all members of ours
}

func newMixedGroup(t *testing.T, c *Cluster, kind, topic string, client foreignClient, assignor assign.Assignor) *mixedGroup {
	return &mixedGroup{
		t: t, c: c, recorder: NewRecorder(), group: UniqueName(t, kind), topic: topic,
		client: client, foreign: map[string]bool{}, witness: &witness{Assignor: assignor},
	}
}

func (g *mixedGroup) join(name string) *MusterMember {
	g.t.Helper()
	return g.c.MusterMember(g.t, g.recorder, name, g.group, g.topic, uses(g.witness, g.topic))
}

func (g *mixedGroup) joinForeigner(name string) foreigner {
	g.t.Helper()
	g.foreign[name] = true
	return g.client.start(g.t, g.c, g.recorder, PeerConfig{
		Client: g.client.name, Name: name, Group: g.group, Topic: g.topic, Assignor: g.witness.Name(),
	})
}

// remembers reports whether a leader knows what a member had before it joined
// again.
func (g *mixedGroup) remembers(member string) bool {
	return !g.foreign[member] || g.client.forgets != g.witness.Name()
}

// mayRepeat reports whether what a member has read may be read again though it
// was not killed.
func (g *mixedGroup) mayRepeat(member string) bool {
	return g.foreign[member] && g.client.repeats == g.witness.Name()
}

// requireKeeps requires that each member has kept two partitions of the three
// that it had, except those of which no leader knows.
func (g *mixedGroup) requireKeeps(before, after map[Partition]string) {
	g.t.Helper()
	kept := map[string]int{}
	for p, owner := range before {
		kept[owner] += 0
		if after[p] == owner {
			kept[owner]++
		}
	}
	for member, n := range kept {
		if g.remembers(member) {
			require.Equal(g.t, 2, n, "in %s %s keeps two of three", g.group, member)
		}
	}
}

// Mixed groups do the same in step, so that they wait together.
type mixedGroups []*mixedGroup

func (groups mixedGroups) await(shares map[string]int) {
	for _, g := range groups {
		g.t.Helper()
		awaitShares(g.t, g.c, g.recorder, g.group, shares)
	}
}

func (groups mixedGroups) owners() []map[Partition]string {
	var owners []map[Partition]string
	for _, g := range groups {
		owners = append(owners, Judge(g.recorder.Events(), nil).Owners)
	}
	return owners
}

// requireRejoinMovesNothing makes all members join again, twice: one who reads
// something else comes and goes.
func (groups mixedGroups) requireRejoinMovesNothing(shares map[string]int) {
	before := groups.owners()
	passing := make([]*MusterMember, len(groups))
	begin := make([]time.Duration, len(groups))
	for i, g := range groups {
		g.t.Helper()
		begin[i] = time.Since(g.recorder.begin)
		passing[i] = g.c.MusterMember(g.t, g.recorder, "passing", g.group, "", uses(g.witness, g.c.CreateTopic(g.t, 1)))
	}
	with := maps.Clone(shares)
	with["passing"] = 1
	groups.await(with)
	for i, g := range groups {
		require.NoError(g.t, passing[i].Consumer.Close(g.t.Context()))
	}
	groups.await(shares)
	for i, g := range groups {
		for _, e := range g.recorder.Events() {
			owner, owned := before[i][e.Partition]
			if e.Kind == Assigned && e.At > begin[i] && owned && g.remembers(owner) {
				require.Equal(g.t, owner, e.Member, "in %s %s stays where it is", g.group, e.Partition)
			}
		}
	}
}
