package integration

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/client"
)

const manyRecords = 100_000

// codecRecords fill many batches and several answers to Fetch.
func codecRecords() []Record {
	records := MakeRecords(manyRecords)
	for i := range records {
		value := &records[i].Value
		*value = (*value)[:min(len(*value), 50)]
	}
	return records
}

func TestMusterReadsWhatFranzAndJavaWrote(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	want := codecRecords()
	for _, codec := range Codecs() {
		t.Run(codec, func(t *testing.T) {
			fromFranz, fromJava := c.CreateTopic(t, 1), c.CreateTopic(t, 1)
			c.FranzProduce(t, fromFranz, codec, want)
			c.JavaProduce(t, fromJava, codec, want)
			requireCodec(t, c.RecordsByCodec(t, fromFranz, 1), codec)
			requireCodec(t, c.RecordsByCodec(t, fromJava, 1), codec)

			for way, read := range map[string]reader{"Records": byRecords, "Batches": byBatches} {
				got := c.musterRead(t, read, 2*manyRecords, fromFranz, fromJava)
				requireEqual(t, want, got[fromFranz], way+" of what franz-go wrote")
				requireEqual(t, want, got[fromJava], way+" of what Java wrote")
			}
		})
	}
}

// Each codec has a partition of its own.
func TestFranzAndJavaReadWhatMusterWrote(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	partitions := int32(len(Codecs()))
	topic := c.CreateTopic(t, partitions)
	var want []Record
	for partition, codec := range Codecs() {
		records := codecRecords()
		for i := range records {
			records[i].Partition = int32(partition)
		}
		c.MusterProduce(t, topic, codec, records)
		want = append(want, records...)
	}
	counts := c.RecordsByCodec(t, topic, partitions)
	for _, codec := range Codecs() {
		requireCodec(t, counts, codec)
	}
	requireEqual(t, want, c.FranzConsume(t, topic, partitions), "what franz-go reads")
	requireEqual(t, want, c.JavaConsume(t, topic, partitions), "what Java reads")
}

func TestMusterPutsKeysWhereJavaPutsThem(t *testing.T) {
	t.Parallel()
	const partitions = 12
	c := Shared(t)
	keys := []string{"", "a", "orders", "2 words", "\u00fc"}
	for _, r := range MakeRecords(1000) {
		keys = append(keys, r.Key)
	}
	want := c.JavaPartitions(t, partitions, keys)

	topic := c.CreateTopic(t, partitions)
	producer := c.MusterProducer(t, client.ProducerConfig{})
	got := map[string]int32{}
	for _, key := range keys {
		require.NoError(t, producer.Send(t.Context(), &client.Record{Topic: topic, Key: []byte(key)}, nil))
	}
	require.NoError(t, producer.Flush(t.Context()))
	for _, r := range c.FranzConsume(t, topic, partitions) {
		got[r.Key] = r.Partition
	}
	require.Equal(t, want, got)
}

// requireCodec requires that records are as compressed as the test believes. A
// batch of a few records may be left as it is.
func requireCodec(t *testing.T, counts map[string]int, codec string) {
	t.Helper()
	require.Greater(t, counts[codec], manyRecords*9/10, "records compressed with %s", codec)
}

// requireEqual is require.Equal without a message of megabytes.
func requireEqual(t *testing.T, want, got []Record, what string) {
	t.Helper()
	require.Equal(t, len(want), len(got), what)
	for i := range want {
		if got[i] != want[i] {
			require.Equal(t, want[i], got[i], "%s: record %d", what, i)
		}
	}
}

// A reader reads n records and returns them by topic.
type reader func(ctx context.Context, consumer *client.Consumer, n int) (map[string][]Record, error)

func byRecords(ctx context.Context, consumer *client.Consumer, n int) (map[string][]Record, error) {
	got := map[string][]Record{}
	for record, err := range consumer.Records(ctx) {
		if err != nil {
			return got, err
		}
		got[record.Topic] = append(got[record.Topic], recordOf(record))
		if n--; n == 0 {
			break
		}
	}
	return got, nil
}

func byBatches(ctx context.Context, consumer *client.Consumer, n int) (map[string][]Record, error) {
	got := map[string][]Record{}
	for batch, err := range consumer.Batches(ctx) {
		if err != nil {
			return got, err
		}
		for record := range batch.Records() {
			got[batch.Topic] = append(got[batch.Topic], recordOf(record))
			n--
		}
		if n == 0 {
			break
		}
	}
	return got, nil
}

func recordOf(r *client.Record) Record {
	return Record{r.Partition, r.Offset, string(r.Key), string(r.Value)}
}

// musterRead reads topics as a group of its own.
func (c *Cluster) musterRead(t *testing.T, read reader, n int, topics ...string) map[string][]Record {
	t.Helper()
	m := c.MusterConsumer(t, NewRecorder(), "reader", UniqueName(t, "group"), "", func(cfg *MusterConfig) {
		cfg.Consumer.Topics = topics
	})
	ctx, cancel := context.WithTimeout(t.Context(), transferTimeout)
	defer cancel()
	got, err := read(ctx, m.Consumer, n)
	require.NoError(t, err)
	require.NoError(t, m.Close())
	for _, records := range got {
		SortRecords(records)
	}
	return got
}
