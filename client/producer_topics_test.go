package client

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestATopicThatComesIntoBeingIsWaitedFor(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
		known := b.topics["t"]
		b.change(func() { delete(b.topics, "t") })
		time.AfterFunc(3*time.Second, func() { b.change(func() { b.topics["t"] = known }) })
		_, err := b.p.Produce(t.Context(), record(0, 1))
		require.NoError(t, err)
	})
}

func TestATopicThatDoesNotExistIsNamed(t *testing.T) {
	withProducer(t, ProducerConfig{DeliveryTimeout: 10 * time.Second}, []int32{1}, func(t *testing.T, b *produceBench) {
		start := time.Now()
		err := b.p.Send(t.Context(), &Record{Topic: "typo"}, func(Offset, error) { t.Error("the record was not taken") })
		require.Equal(t, 10*time.Second, since(start))
		require.ErrorIs(t, err, ErrDeliveryTimeout)
		require.ErrorIs(t, err, codeError(unknownTopic))
		require.ErrorContains(t, err, `topic "typo"`)
		require.ErrorContains(t, err, "check the topic's name")

		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errTestEnough)
		defer cancel()
		require.ErrorIs(t, b.p.Send(ctx, &Record{Topic: "typo"}, nil), errTestEnough)
	})
}

func TestATopicThatIsForbiddenFailsAtOnce(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
		b.change(func() { b.topics["secret"] = topicAnswer("secret", idB, 29) })
		start := time.Now()
		err := b.p.Send(t.Context(), &Record{Topic: "secret"}, nil)
		require.ErrorIs(t, err, codeError(29))
		require.ErrorContains(t, err, "ACL")
		require.Zero(t, since(start))

		b.change(func() { b.topics["secret"] = topicAnswer("secret", idB, 0, partitionAnswer(0, 1, 0)) })
		_, err = b.cl.fresh(t.Context(), []string{"secret"})
		require.NoError(t, err)
		require.NoError(t, b.p.Send(t.Context(), &Record{Topic: "secret", Value: make([]byte, 8)}, nil), "rights were granted")
		require.NoError(t, b.p.Flush(t.Context()))
	})
}

func TestAPartitionThatDoesNotExistIsRefusedUnlessItIsNew(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
		require.NoError(t, b.send(t.Context(), 0, 1))
		err := b.send(t.Context(), 1, 2)
		require.ErrorContains(t, err, "no such partition, the topic has 1")
		b.lead(idA, 1, 1)
		require.NoError(t, b.send(t.Context(), 1, 3))
		require.NoError(t, b.p.Flush(t.Context()))
		require.Equal(t, []uint64{3}, b.logOf(1))
	})
}

// A broker may answer with a topic of no partitions, or with numbers that cannot be.
func TestATopicWithoutPartitionsIsWaitedFor(t *testing.T) {
	for name, parts := range map[string][]kmsg.MetadataResponseTopicPartition{
		"none":       nil,
		"impossible": {partitionAnswer(-5, 1, 0), partitionAnswer(1<<30, 1, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			withProducer(t, ProducerConfig{Partitioner: KeyPartitioner, DeliveryTimeout: 3 * time.Second}, []int32{1}, func(t *testing.T, b *produceBench) {
				keyed := &Record{Topic: "t", Key: []byte("k"), Value: make([]byte, 8)}
				require.NoError(t, b.p.Send(t.Context(), keyed, nil))
				require.NoError(t, b.p.Flush(t.Context()))
				b.broker(1).On(keyProduce, func(kmsg.Request) kmsg.Response { return nil })
				b.change(func() { b.topics["t"] = topicAnswer("t", idB, 0, parts...) })
				_, err := b.cl.fresh(t.Context(), []string{"t"})
				require.NoError(t, err)
				synctest.Wait()
				require.NoError(t, b.p.Send(t.Context(), keyed, nil), "it keeps the partitions that it knows")

				b.change(func() { b.topics["new"] = topicAnswer("new", idB, 0, parts...) })
				require.ErrorIs(t, b.p.Send(t.Context(), &Record{Topic: "new"}, nil), ErrDeliveryTimeout)
			})
		})
	}
}

func TestATopicNameThatCannotBeIsRefusedAtOnce(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
		for _, name := range []string{"", strings.Repeat("x", 250), strings.Repeat("x", 1<<16)} {
			err := b.p.Send(t.Context(), &Record{Topic: name}, nil)
			require.ErrorContains(t, err, "249")
			require.Less(t, len(err.Error()), 600)
		}
		require.Zero(t, b.dials(), "nobody was asked")
	})
}
