package integration

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/client"
)

// MusterProduce writes records with our producer in their order, compressed
// with codec, to the partitions that they name, and requires that it is told
// their offsets in that order too. Offsets are the broker's to give.
func (c *Cluster) MusterProduce(t testing.TB, topic, codec string, records []Record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), transferTimeout)
	defer cancel()
	producer := c.MusterProducer(t, client.ProducerConfig{
		Compression: musterCodec(t, codec),
		Partitioner: client.ManualPartitioner,
	})
	next := map[int32]int64{}
	var mu sync.Mutex
	var failed error
	for _, r := range records {
		record := &client.Record{Topic: topic, Partition: r.Partition, Key: []byte(r.Key), Value: []byte(r.Value)}
		require.NoError(t, producer.Send(ctx, record, func(at client.Offset, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err == nil && (at.Partition != r.Partition || at.Offset < next[at.Partition]) {
				err = fmt.Errorf("written to partition %d at offset %d, after a record at offset %d", at.Partition, at.Offset, next[at.Partition]-1)
			}
			next[at.Partition] = at.Offset + 1
			if failed == nil {
				failed = err
			}
		}))
	}
	require.NoError(t, producer.Close(ctx))
	mu.Lock()
	defer mu.Unlock()
	require.NoError(t, failed)
	total := 0
	for _, offset := range next {
		total += int(offset)
	}
	require.Equal(t, len(records), total, "records that the producer says it wrote to the new topic %s", topic)
}

// MusterProducer returns a producer of ours that is closed when the test ends.
func (c *Cluster) MusterProducer(t testing.TB, cfg client.ProducerConfig) *client.Producer {
	t.Helper()
	cl, err := client.New(client.Config{Brokers: c.Addrs(), Logger: NewLog(t, "producer").Logger()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cl.Close()) })
	producer, err := cl.Producer(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, producer.Close(context.WithoutCancel(t.Context()))) })
	return producer
}

func musterCodec(t testing.TB, name string) client.Codec {
	t.Helper()
	codecs := map[string]client.Codec{
		"none":   client.NoCompression,
		"gzip":   client.Gzip,
		"snappy": client.Snappy,
		"lz4":    client.LZ4,
		"zstd":   client.Zstd,
	}
	require.Contains(t, codecs, name, "codec")
	return codecs[name]
}
