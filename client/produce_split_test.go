package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// limited makes broker 1 refuse batches above a size, as max.message.bytes does.
func (b *produceBench) limited(limit int) {
	b.broker(1).On(keyProduce, func(req kmsg.Request) kmsg.Response {
		if len(req.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records) > limit {
			b.answer(0, kerr.MessageTooLarge.Code)
		}
		return b.produce(1, req.(*kmsg.ProduceRequest))
	})
}

func TestABatchThatIsTooLargeForTheTopicIsSentInParts(t *testing.T) {
	for _, codec := range []Codec{NoCompression, Snappy} {
		t.Run(codec.String(), func(t *testing.T) {
			withProducer(t, ProducerConfig{Linger: time.Second, Compression: codec}, []int32{1}, func(t *testing.T, b *produceBench) {
				b.limited(300)
				b.sendAll(0, 0, 99)
				require.NoError(t, b.p.Flush(t.Context()))
				b.requireWritten(counting(0, 99))
				require.Equal(t, counting(0, 99), b.logOf(0))
				require.Len(t, b.log.with("max.message.bytes"), 1, "said once, not for every half")

				requests := b.seen(keyProduce)
				b.sendAll(0, 100, 199)
				require.NoError(t, b.p.Flush(t.Context()))
				b.requireWritten(counting(0, 199))
				require.LessOrEqual(t, b.seen(keyProduce)-requests, 2*100/8, "it has learned how large a batch may be")
			})
		})
	}
}

func TestOnlyTheRecordThatIsTooLargeFails(t *testing.T) {
	withProducer(t, ProducerConfig{Linger: time.Second}, []int32{1}, func(t *testing.T, b *produceBench) {
		b.limited(300)
		b.sendAll(0, 0, 9)
		large := record(0, 10)
		large.Value = append(make([]byte, 1000), large.Value...)
		var failure error
		require.NoError(t, b.p.Send(t.Context(), large, func(_ Offset, err error) { failure = err }))
		b.sendAll(0, 11, 19)
		require.NoError(t, b.p.Flush(t.Context()))
		require.ErrorIs(t, failure, kerr.MessageTooLarge)
		require.ErrorContains(t, failure, "max.message.bytes")
		b.requireWritten(append(counting(0, 9), counting(11, 19)...))
	})
}

// The topic may be set up anew. To be wrong costs a request, and no other line in the log.
func TestLargerBatchesAreTriedAgainAfterAWhile(t *testing.T) {
	withProducer(t, ProducerConfig{Linger: time.Second}, []int32{1}, func(t *testing.T, b *produceBench) {
		b.limited(300)
		send := func(n uint64) (requests int) {
			before := b.seen(keyProduce)
			b.sendAll(0, n, n+99)
			require.NoError(t, b.p.Flush(t.Context()))
			return b.seen(keyProduce) - before
		}
		send(0)
		small := send(100)
		require.Greater(t, small, 5)
		time.Sleep(growBatches)
		send(200)
		require.Len(t, b.log.with("max.message.bytes"), 1)

		b.limited(1 << 20)
		for range 20 {
			time.Sleep(growBatches)
			send(300)
		}
		require.Equal(t, 1, send(400))
	})
}

func TestHeadersKeysAndTimestampsOutliveTheSplit(t *testing.T) {
	b := newTestBatcher(ProducerConfig{}, 1)
	for i := range int64(3) {
		rec := &Record{
			Key: []byte{byte(i)}, Timestamp: time.UnixMilli(1000 + i),
			Headers: []Header{{Key: "h", Value: []byte{byte(i)}}, {Key: "null"}},
		}
		require.NoError(t, b.add(batcherStart, "t", 0, rec, nil))
	}
	size := b.buffered
	_, err := b.split(batcherStart, drainAll(b, batcherStart, 1)[0])
	require.NoError(t, err)
	require.Greater(t, b.buffered, size, "two headers")
	var got []*Record
	for range 2 {
		batch := drainAll(b, batcherStart, 1)[0]
		got = append(got, recordsIn(t, batch.builder.Finish(nil))...)
		b.written(batch, 0, -1)
	}
	require.Len(t, got, 3)
	for i, rec := range got {
		require.Equal(t, []byte{byte(i)}, rec.Key)
		require.Nil(t, rec.Value)
		require.Equal(t, time.UnixMilli(1000+int64(i)), rec.Timestamp)
		require.Equal(t, []Header{{Key: "h", Value: []byte{byte(i)}}, {Key: "null"}}, rec.Headers)
	}
	require.Zero(t, b.buffered)
}

func TestFlushWaitsForTheParts(t *testing.T) {
	withProducer(t, ProducerConfig{Linger: time.Second}, []int32{1}, func(t *testing.T, b *produceBench) {
		b.limited(300)
		b.sendAll(0, 0, 99)
		require.NoError(t, b.p.Flush(t.Context()))
		require.Len(t, b.done(), 100)
	})
}

// The answer names partitions behind those whose batches were taken apart.
func TestBatchesOfOneRequestAreSplitEachByItsOwnAnswer(t *testing.T) {
	for _, version := range []int16{12, 13} {
		withProducer(t, ProducerConfig{Linger: time.Second}, []int32{1, 1, 1}, func(t *testing.T, b *produceBench) {
			b.broker(1).Offer(keyProduce, 0, version)
			b.answer(0, kerr.MessageTooLarge.Code)
			b.answer(1, kerr.MessageTooLarge.Code)
			for partition := range uint64(3) {
				b.sendAll(int32(partition), partition*10, partition*10+3)
			}
			require.NoError(t, b.p.Flush(t.Context()))
			require.Len(t, b.done(), 12)
			for partition := range uint64(3) {
				require.Equal(t, counting(partition*10, partition*10+3), b.logOf(int32(partition)), "neither lost nor written twice")
			}
		})
	}
}
