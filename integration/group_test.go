package integration

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// The broker, the clients' own reports and the judge agree on a group whose
// clients are believed to be right.
func TestBrokerAndJudgeAgreeOnAFranzGroup(t *testing.T) {
	const partitions = 6
	for _, test := range []struct {
		name     string
		balancer kgo.GroupBalancer
	}{
		{"eager", kgo.RangeBalancer()},
		{"cooperative", kgo.CooperativeStickyBalancer()},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Shared(t)
			topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
			r := NewRecorder()

			ann := c.FranzMember(t, r, "ann", group, topic, kgo.Balancers(test.balancer))
			c.FranzProduce(t, topic, "none", spread(600, partitions))
			awaitShares(t, c, r, group, map[string]int{"ann": 6})

			c.FranzMember(t, r, "bob", group, topic, kgo.Balancers(test.balancer))
			awaitShares(t, c, r, group, map[string]int{"ann": 3, "bob": 3})
			c.FranzProduce(t, topic, "none", spread(600, partitions))

			ann.Leave()
			awaitShares(t, c, r, group, map[string]int{"bob": 6})
			awaitReads(t, r, 1200)

			ends, err := c.Ends(t.Context(), topic, partitions)
			require.NoError(t, err)
			verdict := Judge(r.Events(), ends)
			verdict.Require(t)
			require.Equal(t, 1200, verdict.Read)
		})
	}
}

func TestAnUnknownGroupIsAnError(t *testing.T) {
	_, err := Shared(t).Describe(t.Context(), UniqueName(t, "group"))
	require.ErrorContains(t, err, "GROUP_ID_NOT_FOUND")
}

// spread returns records for all partitions in turn.
func spread(n int, partitions int32) []Record {
	records := MakeRecords(n)
	for i := range records {
		records[i].Partition = int32(i) % partitions
	}
	return records
}

// awaitShares waits until the broker and the clients name the same owners, and
// each has the number of partitions that want says.
func awaitShares(t *testing.T, c *Cluster, r *Recorder, group string, want map[string]int) {
	t.Helper()
	require.EventuallyWithT(t, func(collect *assert.CollectT) {
		owners := requireShares(t, collect, c, group, want)
		require.Equal(collect, owners, Judge(r.Events(), nil).Owners, "owners by the clients' reports")
	}, time.Minute, 100*time.Millisecond)
}

// awaitBrokerShares is awaitShares by the word of the broker alone.
func awaitBrokerShares(t *testing.T, c *Cluster, group string, want map[string]int) {
	t.Helper()
	require.EventuallyWithT(t, func(collect *assert.CollectT) {
		requireShares(t, collect, c, group, want)
	}, time.Minute, 100*time.Millisecond)
}

// requireShares returns who owns what by the word of the broker.
func requireShares(t *testing.T, collect *assert.CollectT, c *Cluster, group string, want map[string]int) map[Partition]string {
	described, err := c.Describe(t.Context(), group)
	require.NoError(collect, err)
	require.Equal(collect, "Stable", described.State)
	owners, err := described.Owners()
	require.NoError(collect, err)
	shares := map[string]int{}
	for _, owner := range owners {
		shares[owner]++
	}
	require.Equal(collect, want, shares)
	return owners
}

func awaitReads(t *testing.T, r *Recorder, want int) {
	t.Helper()
	require.Eventually(t, func() bool { return Judge(r.Events(), nil).Read >= want },
		time.Minute, 100*time.Millisecond, "%d different records are read", want)
}
