package integration

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// transferTimeout is how long a peer may take for all records of a test.
const transferTimeout = 2 * time.Minute

// FranzProduce writes records with franz-go in their order, compressed with
// codec, to the partitions that they name. Offsets are the broker's to give.
func (c *Cluster) FranzProduce(t testing.TB, topic, codec string, records []Record) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), transferTimeout)
	defer cancel()
	client := c.Client(t, kgo.ProducerBatchCompression(franzCodec(t, codec)), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	defer client.Close()
	batch := make([]*kgo.Record, len(records))
	for i, r := range records {
		batch[i] = &kgo.Record{Topic: topic, Partition: r.Partition, Key: []byte(r.Key), Value: []byte(r.Value)}
	}
	require.NoError(t, client.ProduceSync(ctx, batch...).FirstErr(), "franz-go produces to %s", topic)
}

func franzCodec(t testing.TB, name string) kgo.CompressionCodec {
	t.Helper()
	codecs := map[string]kgo.CompressionCodec{
		"none":   kgo.NoCompression(),
		"gzip":   kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(),
		"lz4":    kgo.Lz4Compression(),
		"zstd":   kgo.ZstdCompression(),
	}
	require.Contains(t, codecs, name, "codec")
	return codecs[name]
}

// FranzConsume reads with franz-go, without a group, everything that the
// partitions 0 to n-1 of a topic hold now, by partition and offset.
func (c *Cluster) FranzConsume(t testing.TB, topic string, n int32) []Record {
	t.Helper()
	var records []Record
	c.franzEach(t, topic, n, func(r *kgo.Record) {
		records = append(records, Record{r.Partition, r.Offset, string(r.Key), string(r.Value)})
	})
	SortRecords(records)
	return records
}

// RecordsByCodec counts, as franz-go sees them, the records that the partitions
// 0 to n-1 of a topic hold in batches of each codec.
func (c *Cluster) RecordsByCodec(t testing.TB, topic string, n int32) map[string]int {
	t.Helper()
	counts := map[string]int{}
	c.franzEach(t, topic, n, func(r *kgo.Record) { counts[Codecs()[r.Attrs.CompressionType()]]++ })
	return counts
}

// franzEach calls f for every record that is there now.
func (c *Cluster) franzEach(t testing.TB, topic string, n int32, f func(*kgo.Record)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), transferTimeout)
	defer cancel()
	left, begin := c.toRead(ctx, t, topic, n)
	client := c.Client(t, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: begin}))
	defer client.Close()
	for left > 0 {
		fetches := client.PollFetches(ctx)
		require.NoError(t, fetches.Err(), "franz-go consumes %s: %d records left", topic, left)
		fetches.EachRecord(func(r *kgo.Record) {
			f(r)
			left--
		})
	}
}

// toRead returns how many records a topic holds, and where to begin.
func (c *Cluster) toRead(ctx context.Context, t testing.TB, topic string, n int32) (int64, map[int32]kgo.Offset) {
	t.Helper()
	ends, err := c.Ends(ctx, topic, n)
	require.NoError(t, err)
	var count int64
	begin := map[int32]kgo.Offset{}
	for p, end := range ends {
		count += end
		begin[p.Number] = kgo.NewOffset().AtStart()
	}
	return count, begin
}
