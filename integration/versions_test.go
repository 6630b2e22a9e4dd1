package integration

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
)

// Members on a broker of each version do what they do on the newest.
func TestMusterGroupOnEveryVersion(t *testing.T) {
	t.Parallel()
	for _, version := range Versions(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			t.Run("cooperative-sticky", func(t *testing.T) { groupOnVersion(t, version, assign.CooperativeSticky()) })
			t.Run("range", func(t *testing.T) { groupOnVersion(t, version, assign.Range()) })
		})
	}
}

// Records of all codecs, a partition of each, come back as they went.
func TestMusterRecordsOnEveryVersion(t *testing.T) {
	t.Parallel()
	for _, version := range Versions(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := SharedVersion(t, version)
			partitions := int32(len(Codecs()))
			topic := c.CreateTopic(t, partitions)
			var want []Record
			for partition, codec := range Codecs() {
				records := MakeRecords(1000)
				for i := range records {
					records[i].Partition = int32(partition)
				}
				c.MusterProduce(t, topic, codec, records)
				want = append(want, records...)
			}
			requireEqual(t, want, c.FranzConsume(t, topic, partitions), "what franz-go reads")
			for way, read := range map[string]reader{"Records": byRecords, "Batches": byBatches} {
				got := c.musterRead(t, read, len(want), topic)[topic]
				requireEqual(t, want, got, way)
			}
		})
	}
}

// One comes, a static one comes, is restarted and changes nothing by that, the first
// leaves, and what both have done is committed.
func groupOnVersion(t *testing.T, version string, assignor assign.Assignor) {
	const partitions = 12
	c := SharedVersion(t, version)
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	r := NewRecorder()
	traffic := c.Traffic(t, topic, partitions)

	ann := c.MusterMember(t, r, "ann", group, topic, using(assignor))
	awaitShares(t, c, r, group, map[string]int{"ann": 12})
	traffic.Await(t, 300)
	bob := c.MusterMember(t, r, "bob", group, topic, using(assignor), static("second"))
	awaitShares(t, c, r, group, map[string]int{"ann": 6, "bob": 6})
	traffic.Await(t, 300)
	generation := lastGeneration(r)
	require.NoError(t, bob.Close())
	bob = c.MusterMember(t, r, "bob", group, topic, using(assignor), static("second"))
	awaitShares(t, c, r, group, map[string]int{"ann": 6, "bob": 6})
	c.RequireGeneration(t, group, generation)
	require.NoError(t, ann.Close())
	awaitShares(t, c, r, group, map[string]int{"bob": 12})
	verdict := judgeAll(t, c, r, traffic.Stop(t), topic, partitions)
	require.Zero(t, verdict.Duplicates)

	require.NoError(t, bob.Close())
	require.Equal(t, verdict.Read, committedRecords(t, c, group))
}
