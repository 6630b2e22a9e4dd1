package client

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

var (
	idA = [16]byte{1}
	idB = [16]byte{2}
)

const unknownTopic = 3

// answer is a Metadata response of cluster "c" with brokers 1 and 2 and these topics.
func answer(topics ...kmsg.MetadataResponseTopic) *kmsg.MetadataResponse {
	resp := kmsg.NewPtrMetadataResponse()
	resp.ClusterID = new("c")
	resp.ControllerID = 1
	for id := range int32(2) {
		b := kmsg.NewMetadataResponseBroker()
		b.NodeID, b.Host, b.Port = id+1, "b", 9092+id
		resp.Brokers = append(resp.Brokers, b)
	}
	resp.Topics = topics
	return resp
}

func topicAnswer(name string, id [16]byte, code int16, partitions ...kmsg.MetadataResponseTopicPartition) kmsg.MetadataResponseTopic {
	t := kmsg.NewMetadataResponseTopic()
	t.Topic, t.TopicID, t.ErrorCode, t.Partitions = &name, id, code, partitions
	return t
}

func partitionAnswer(id, leader, leaderEpoch int32) kmsg.MetadataResponseTopicPartition {
	p := kmsg.NewMetadataResponseTopicPartition()
	p.Partition, p.Leader, p.LeaderEpoch, p.Replicas, p.ISR = id, leader, leaderEpoch, []int32{1, 2}, []int32{leader}
	return p
}

func named(topics ...string) scope { return scope{topics: topics} }

func leaders(c *cluster, name string) (leaders []int32) {
	t, _ := c.topic(name)
	for _, p := range t.partitions {
		leaders = append(leaders, p.leader)
	}
	return leaders
}

func TestAnAnswerBecomesACluster(t *testing.T) {
	resp := answer(
		topicAnswer("b", idB, 0, partitionAnswer(1, 2, 5), partitionAnswer(0, 1, 4)),
		topicAnswer("a", idA, 0, partitionAnswer(0, 2, 0)),
	)
	resp.Brokers[0].Rack = new("r1")
	c := (&cluster{}).apply(7, named("a", "b"), resp)

	require.Equal(t, uint64(7), c.number)
	require.Equal(t, int32(1), c.controller)
	b, ok := c.broker(1)
	require.True(t, ok)
	require.Equal(t, broker{id: 1, host: "b", port: 9092, addr: "b:9092", rack: "r1"}, b)
	_, ok = c.broker(3)
	require.False(t, ok)
	require.Equal(t, []int32{1, 2}, leaders(c, "b"))
	name, ok := c.nameOf(idA)
	require.True(t, ok)
	require.Equal(t, "a", name)
	got, _ := c.topic("b")
	require.Equal(t, partition{id: 1, leader: 2, leaderEpoch: 5, replicas: []int32{1, 2}, isr: []int32{2}}, got.partitions[1])
}

func TestATopicThatNobodyWatchesAnyMoreIsDropped(t *testing.T) {
	c := (&cluster{}).apply(1, named("a", "b"), answer(topicAnswer("a", idA, 0), topicAnswer("b", idB, 0)))
	c = c.apply(2, named("b"), answer(topicAnswer("b", idB, 0)))
	_, ok := c.topic("a")
	require.False(t, ok)
	_, ok = c.nameOf(idA)
	require.False(t, ok)
}

func TestAnErrorLeavesTheTopicAsItWas(t *testing.T) {
	before := (&cluster{}).apply(1, named("a"), answer(topicAnswer("a", idA, 0, partitionAnswer(0, 1, 4))))
	for name, test := range map[string]struct {
		resp   *kmsg.MetadataResponse
		code   int16
		absent int
	}{
		"unknown":     {answer(topicAnswer("a", [16]byte{}, unknownTopic)), unknownTopic, 1},
		"missing":     {answer(), unknownTopic, 1},
		"forbidden":   {answer(topicAnswer("a", [16]byte{}, kerr.TopicAuthorizationFailed.Code)), kerr.TopicAuthorizationFailed.Code, 0},
		"no leader":   {answer(topicAnswer("a", idA, kerr.LeaderNotAvailable.Code)), kerr.LeaderNotAvailable.Code, 0},
		"null answer": {answer(kmsg.NewMetadataResponseTopic()), unknownTopic, 1},
	} {
		c := before.apply(2, named("a"), test.resp)
		got, ok := c.topic("a")
		require.True(t, ok, name)
		require.Equal(t, test.code, got.err, name)
		require.Equal(t, test.absent, got.absent, name)
		require.Equal(t, []int32{1}, leaders(c, "a"), name)
		_, ok = c.nameOf(idA)
		require.True(t, ok, name)

		c = c.apply(3, named("a"), answer(topicAnswer("a", idA, 0, partitionAnswer(0, 2, 5))))
		got, _ = c.topic("a")
		require.Zero(t, got.err, name)
		require.Zero(t, got.absent, name)
		require.Equal(t, []int32{2}, leaders(c, "a"), name)
	}
}

func TestAbsencesInARowAreCounted(t *testing.T) {
	c := &cluster{}
	for range 3 {
		c = c.apply(1, named("a"), answer(topicAnswer("a", [16]byte{}, unknownTopic)))
	}
	got, ok := c.topic("a")
	require.True(t, ok)
	require.Equal(t, 3, got.absent)
	require.Empty(t, got.partitions)
}

func TestATopicCreatedAgainStartsFromNothing(t *testing.T) {
	c := (&cluster{}).apply(1, named("a"), answer(topicAnswer("a", idA, 0, partitionAnswer(0, 1, 12), partitionAnswer(1, 1, 12))))
	c = c.apply(2, named("a"), answer(topicAnswer("a", idB, 0, partitionAnswer(0, 2, 0))))
	require.Equal(t, []int32{2}, leaders(c, "a"))
	_, ok := c.nameOf(idA)
	require.False(t, ok)
	_, ok = c.nameOf(idB)
	require.True(t, ok)

	c = c.apply(3, named("a"), answer(topicAnswer("a", idA, 0, partitionAnswer(0, 1, 12))))
	_, ok = c.nameOf(idB)
	require.True(t, ok, "an ID never comes back: that broker lags behind")
	require.Equal(t, []int32{2}, leaders(c, "a"))
}

// The newest leader is known by its epoch (KIP-320).
func TestLeadersFollowTheirEpochs(t *testing.T) {
	type seen struct{ leader, epoch int32 }
	for name, test := range map[string]struct {
		answers []seen
		want    []int32
	}{
		"newer epoch":                   {[]seen{{1, 5}, {2, 6}}, []int32{1, 2}},
		"same epoch, another leader":    {[]seen{{1, 5}, {2, 5}}, []int32{1, 2}},
		"one old answer is ignored":     {[]seen{{1, 5}, {2, 4}, {1, 5}, {2, 4}, {2, 6}}, []int32{1, 1, 1, 1, 2}},
		"three old ones are the truth":  {[]seen{{1, 5}, {2, 4}, {2, 4}, {2, 4}, {2, 4}}, []int32{1, 1, 1, 2, 2}},
		"no epoch is taken as it comes": {[]seen{{1, 5}, {2, -1}, {1, 3}}, []int32{1, 2, 1}},
	} {
		c := &cluster{}
		var got []int32
		for i, a := range test.answers {
			c = c.apply(uint64(i+1), named("a"), answer(topicAnswer("a", idA, 0, partitionAnswer(0, a.leader, a.epoch))))
			got = append(got, leaders(c, "a")...)
		}
		require.Equal(t, test.want, got, name)
	}
}

func TestAPartitionWithoutALeaderHasNone(t *testing.T) {
	for _, code := range []int16{kerr.LeaderNotAvailable.Code, kerr.ListenerNotFound.Code} {
		p := partitionAnswer(0, 1, 4)
		p.ErrorCode = code
		c := (&cluster{}).apply(1, named("a"), answer(topicAnswer("a", idA, 0, p)))
		require.Equal(t, []int32{-1}, leaders(c, "a"))
	}
}

func TestPartitionsNeverGetFewer(t *testing.T) {
	c := (&cluster{}).apply(1, named("a"), answer(topicAnswer("a", idA, 0, partitionAnswer(0, 1, 0), partitionAnswer(1, 1, 0), partitionAnswer(2, 1, 0))))
	c = c.apply(2, named("a"), answer(topicAnswer("a", idA, 0, partitionAnswer(0, 2, 1), partitionAnswer(2, 2, 1))))
	require.Equal(t, []int32{2, 1, 2}, leaders(c, "a"))
}

func TestASnapshotIsNotChangedByItsSuccessors(t *testing.T) {
	c := (&cluster{}).apply(1, named("a"), answer(topicAnswer("a", idA, 0, partitionAnswer(0, 1, 0))))
	c.apply(2, named("a"), answer(topicAnswer("a", idB, 0, partitionAnswer(0, 2, 1))))
	c.with(broker{id: 9})
	require.Equal(t, []int32{1}, leaders(c, "a"))
	require.Len(t, c.brokers, 2)
}

func TestALearnedBrokerIsAddedButReplacesNone(t *testing.T) {
	c := (&cluster{}).apply(1, named(), answer())
	next := c.with(broker{id: 9, host: "nine", port: 1}).with(broker{id: 1, host: "other", port: 1})
	nine, ok := next.broker(9)
	require.True(t, ok)
	require.Equal(t, "nine", nine.host)
	one, _ := next.broker(1)
	require.Equal(t, "b", one.host)
}

// Whatever a broker answers, partitions are where their IDs say, and their
// number is in proportion to what was sent.
func TestAnyAnswerMakesAConsistentCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &cluster{}
		sent := 0
		for number := range uint64(rapid.IntRange(1, 5).Draw(t, "answers")) {
			var partitions []kmsg.MetadataResponseTopicPartition
			for range rapid.IntRange(0, 6).Draw(t, "partitions") {
				sent++
				id := rapid.OneOf(rapid.Int32Range(-2, 8), rapid.Int32()).Draw(t, "id")
				partitions = append(partitions, partitionAnswer(id, rapid.Int32Range(-1, 3).Draw(t, "leader"), rapid.Int32Range(-1, 5).Draw(t, "epoch")))
			}
			code := rapid.SampledFrom([]int16{0, 0, 0, unknownTopic}).Draw(t, "code")
			id := rapid.SampledFrom([][16]byte{idA, idB}).Draw(t, "id")
			c = c.apply(number, named("a"), answer(topicAnswer("a", id, code, partitions...)))
			topic, _ := c.topic("a")
			for i, p := range topic.partitions {
				if p.id != int32(i) {
					t.Fatalf("partition %d is at %d", p.id, i)
				}
			}
			if n := len(topic.partitions); n > 5*(2*sent+16) {
				t.Fatalf("%d partitions after %d were sent", n, sent)
			}
		}
	})
}
