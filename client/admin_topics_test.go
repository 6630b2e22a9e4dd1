package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func created(name string, id [16]byte, code int16, message string) kmsg.CreateTopicsResponseTopic {
	t := kmsg.NewCreateTopicsResponseTopic()
	t.Topic, t.TopicID, t.ErrorCode = name, id, code
	if message != "" {
		t.ErrorMessage = &message
	}
	return t
}

func TestCreateTopicsSaysWhatBecameOfEachInTheOrderAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.broker(1).On(keyCreateTopics, func(kmsg.Request) kmsg.Response {
			resp := kmsg.NewPtrCreateTopicsResponse()
			resp.Topics = append(resp.Topics,
				created("b", [16]byte{}, kerr.TopicAlreadyExists.Code, "it is there"),
				created("a", idA, 0, ""))
			return resp
		})
		results, err := f.client(Config{}).Admin().CreateTopics(t.Context(),
			NewTopic{Name: "a", Config: map[string]string{"x": "1", "b": "2"}},
			NewTopic{Name: "b", Partitions: 12, ReplicationFactor: 3},
			NewTopic{Name: "c"})
		require.ErrorIs(t, err, kerr.TopicAlreadyExists)
		require.ErrorContains(t, err, "create topics: ")
		require.Equal(t, TopicResult{Name: "a", ID: idA}, results[0])
		require.ErrorContains(t, results[1].Err, "it is there")
		require.ErrorContains(t, results[2].Err, `topic "c"`)

		req := f.broker(1).Seen(keyCreateTopics)[0].(*kmsg.CreateTopicsRequest)
		require.Equal(t, []int32{-1, 12, -1}, []int32{req.Topics[0].NumPartitions, req.Topics[1].NumPartitions, req.Topics[2].NumPartitions})
		require.Equal(t, []int16{-1, 3, -1}, []int16{req.Topics[0].ReplicationFactor, req.Topics[1].ReplicationFactor, req.Topics[2].ReplicationFactor})
		require.Equal(t, "b", req.Topics[0].Configs[0].Name)
		require.Equal(t, "2", *req.Topics[0].Configs[0].Value)
		require.Equal(t, int32(30_000), req.TimeoutMillis)
	})
}

func TestCreateTopicsRefusesNegativeNumbersItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		_, err := f.client(Config{}).Admin().CreateTopics(t.Context(), NewTopic{Name: "a", Partitions: -1})
		require.ErrorContains(t, err, `"a"`)
		require.Zero(t, f.dials())
	})
}

func TestOneTopicThatCannotBeCreatedDoesNotHinderTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.broker(1).On(keyCreateTopics, func(kmsg.Request) kmsg.Response {
			resp := kmsg.NewPtrCreateTopicsResponse()
			resp.Topics = append(resp.Topics, created("b", idB, 0, ""))
			return resp
		})
		results, err := f.client(Config{}).Admin().CreateTopics(t.Context(), NewTopic{Name: "a", Partitions: -1}, NewTopic{Name: "b"})
		require.ErrorIs(t, err, errNegative)
		require.Len(t, results, 2)
		require.ErrorContains(t, results[0].Err, `topic "a": neither`)
		require.Equal(t, TopicResult{Name: "b", ID: idB}, results[1])
	})
}

func TestTopicsAreCreatedOnTheController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 2)
		for id, code := range map[int32]int16{1: kerr.NotController.Code, 2: 0} {
			f.broker(id).On(keyCreateTopics, func(kmsg.Request) kmsg.Response {
				f.change(func() { f.controller = 2 })
				resp := kmsg.NewPtrCreateTopicsResponse()
				resp.Topics = append(resp.Topics, created("a", idA, code, ""))
				return resp
			})
		}
		_, err := f.client(Config{}).Admin().CreateTopics(t.Context(), NewTopic{Name: "a"})
		require.NoError(t, err)
		require.Len(t, f.broker(1).Seen(keyCreateTopics), 1)
		require.Len(t, f.broker(2).Seen(keyCreateTopics), 1)
	})
}

func TestTheBrokerIsGivenNoMoreTimeThanTheContextHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		f.broker(1).On(keyCreateTopics, func(kmsg.Request) kmsg.Response {
			resp := kmsg.NewPtrCreateTopicsResponse()
			resp.Topics = append(resp.Topics, created("a", idA, 0, ""))
			return resp
		})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err := f.client(Config{}).Admin().CreateTopics(ctx, NewTopic{Name: "a"})
		require.NoError(t, err)
		require.Equal(t, int32(2000), f.broker(1).Seen(keyCreateTopics)[0].(*kmsg.CreateTopicsRequest).TimeoutMillis)
	})
}

func TestDeleteTopicsNamesThemInEveryVersion(t *testing.T) {
	for version := range int16(7) {
		synctest.Test(t, func(t *testing.T) {
			f := newFakes(t, 1)
			f.broker(1).Offer(keyDeleteTopics, 0, version)
			f.broker(1).On(keyDeleteTopics, func(req kmsg.Request) kmsg.Response {
				resp := kmsg.NewPtrDeleteTopicsResponse()
				asked := req.(*kmsg.DeleteTopicsRequest)
				names := asked.TopicNames
				for _, topic := range asked.Topics {
					names = append(names, *topic.Topic)
				}
				for _, name := range names {
					topic := kmsg.NewDeleteTopicsResponseTopic()
					topic.Topic = &name
					if name == "b" {
						topic.ErrorCode = unknownTopic
					}
					resp.Topics = append(resp.Topics, topic)
				}
				return resp
			})
			results, err := f.client(Config{}).Admin().DeleteTopics(t.Context(), "a", "b")
			require.ErrorIs(t, err, kerr.UnknownTopicOrPartition)
			require.NoError(t, results[0].Err)
			topicErr, ok := errors.AsType[*TopicError](results[1].Err)
			require.True(t, ok)
			require.Equal(t, "b", topicErr.Topic)
		})
	}
}

func TestDescribeTopicsTellsWhatABrokerKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 2)
		offline := partitionAnswer(1, -1, 3)
		offline.OfflineReplicas = []int32{2}
		f.topics["a"] = topicAnswer("a", idA, 0, offline, partitionAnswer(0, 2, 7))
		cl := f.client(Config{})
		described, err := cl.Admin().DescribeTopics(t.Context(), "b", "a")
		require.ErrorIs(t, err, kerr.UnknownTopicOrPartition)
		require.Equal(t, "b", described[0].Name)
		require.ErrorIs(t, described[0].Err, kerr.UnknownTopicOrPartition)
		require.Equal(t, TopicDescription{Name: "a", ID: idA, Partitions: []PartitionDescription{
			{ID: 0, Leader: 2, LeaderEpoch: 7, Replicas: []int32{1, 2}, ISR: []int32{2}},
			{ID: 1, Leader: -1, LeaderEpoch: 3, Replicas: []int32{1, 2}, ISR: []int32{-1}, Offline: []int32{2}},
		}}, described[1])
		require.Empty(t, cl.snapshot().topics, "describing is not watching")
	})
}

func TestNoTopicsAreNoWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes(t, 1)
		admin := f.client(Config{}).Admin()
		described, err := admin.DescribeTopics(t.Context())
		require.NoError(t, err)
		require.Empty(t, described)
		results, err := admin.CreateTopics(t.Context())
		require.NoError(t, err)
		require.Empty(t, results)
		results, err = admin.DeleteTopics(t.Context())
		require.NoError(t, err)
		require.Empty(t, results)
		require.Zero(t, f.dials())
	})
}
