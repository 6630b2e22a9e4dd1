package integration

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
)

// Every client is met in two groups: in one it comes first and leads, in the
// other we do. In both, two members of the other side join, one leaves, and one
// is killed without a word.
func TestMusterSharesAGroupWithEveryClient(t *testing.T) {
	t.Parallel()
	for _, client := range foreignClients() {
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			for _, assignor := range client.assignors {
				t.Run(assignor.Name(), func(t *testing.T) {
					t.Parallel()
					meetClient(t, client, assignor)
				})
			}
		})
	}
}

func meetClient(t *testing.T, client foreignClient, assignor assign.Assignor) {
	const partitions = 6
	c := Shared(t)
	topic := c.CreateTopic(t, partitions)
	traffic := c.Traffic(t, topic, partitions)
	led := newMixedGroup(t, c, "led", topic, client, assignor)
	leading := newMixedGroup(t, c, "leading", topic, client, assignor)
	both := mixedGroups{led, leading}

	led.joinForeigner("first")
	leading.join("first")
	both.await(map[string]int{"first": 6})
	ann, foreignAnn := led.join("ann"), leading.joinForeigner("ann")
	both.await(map[string]int{"first": 3, "ann": 3})
	two := both.owners()
	bob, foreignBob := led.join("bob"), leading.joinForeigner("bob")
	three := map[string]int{"first": 2, "ann": 2, "bob": 2}
	both.await(three)
	plans, _, _ := led.witness.last()
	require.Zero(t, plans, "only %s has led", client.name)
	_, _, plan := leading.witness.last()
	requirePlanned(t, c, leading.group, plan)
	if strings.Contains(assignor.Name(), "sticky") {
		for i, owners := range both.owners() {
			both[i].requireKeeps(two[i], owners)
		}
		both.requireRejoinMovesNothing(three)
	}

	require.NoError(t, ann.Consumer.Close(t.Context()))
	require.NoError(t, foreignAnn.leave())
	both.await(map[string]int{"first": 3, "bob": 3})
	bob.Kill()
	require.NoError(t, foreignBob.kill())
	both.await(map[string]int{"first": 6})

	produced := traffic.Stop(t)
	for _, g := range both {
		judgeAll(t, c, g.recorder, produced, topic, partitions)
		events := g.recorder.Events()
		for name := range rereads(events) {
			require.True(t, name == "bob" || g.mayRepeat(name), "in %s what %s had read is read again", g.group, name)
		}
		if assignor.Cooperative() {
			requireKeptIsNotRevoked(t, events)
		}
	}
}

// requireKeptIsNotRevoked requires that nobody gives back what it then is given again.
func requireKeptIsNotRevoked(t *testing.T, events []Event) {
	t.Helper()
	revokedBy := map[Partition]string{}
	for _, e := range events {
		if e.Kind == Revoked {
			revokedBy[e.Partition] = e.Member
		}
		if e.Kind == Assigned {
			require.NotEqual(t, revokedBy[e.Partition], e.Member, "%s is revoked from %s, and given to it again at %v", e.Partition, e.Member, e.At)
			delete(revokedBy, e.Partition)
		}
	}
}
