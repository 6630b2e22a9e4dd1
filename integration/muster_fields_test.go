package integration

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/musterkafka/muster/client"
)

// oddRecords are all that a record can be, beyond what console tools carry.
func oddRecords() []*client.Record {
	at := time.UnixMilli(1_700_000_000_123)
	header := func(key string, value []byte) client.Header { return client.Header{Key: key, Value: value} }
	return []*client.Record{
		{Timestamp: at, Key: nil, Value: nil},
		{Timestamp: at, Key: []byte{}, Value: []byte{}},
		{Timestamp: at.Add(-time.Hour), Key: []byte{0, 255, '\t', '\n'}, Value: []byte("older than the one before")},
		{Timestamp: at.Add(time.Hour), Value: []byte("headers"), Headers: []client.Header{
			header("same", []byte("1")), header("same", []byte("2")), header("", []byte{}), header("null", nil),
		}},
		{Timestamp: at, Key: []byte("large"), Value: make([]byte, 900_000)},
	}
}

func TestMusterAndFranzAgreeOnEveryField(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	want := oddRecords()
	topic := c.CreateTopic(t, 1)
	producer := c.MusterProducer(t, client.ProducerConfig{Partitioner: client.ManualPartitioner})
	for offset, record := range want {
		record.Topic = topic
		at, err := producer.Produce(t.Context(), record)
		require.NoError(t, err)
		require.Equal(t, client.Offset{Topic: topic, Offset: int64(offset), Timestamp: record.Timestamp}, at)
	}
	franz := c.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	c.franzEach(t, topic, 1, func(r *kgo.Record) {
		requireSame(t, want[r.Offset], r)
		require.NoError(t, franz.ProduceSync(t.Context(), &kgo.Record{
			Topic: topic, Timestamp: r.Timestamp, Key: r.Key, Value: r.Value, Headers: r.Headers,
		}).FirstErr())
	})

	// What ours wrote, and the same as franz-go wrote it again.
	m := c.MusterConsumer(t, NewRecorder(), "reader", UniqueName(t, "group"), topic)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	read := int64(0)
	for record, err := range m.Consumer.Records(ctx) {
		require.NoError(t, err)
		require.Equal(t, read, record.Offset)
		like := want[int(read)%len(want)]
		require.True(t, like.Timestamp.Equal(record.Timestamp))
		require.Equal(t, like.Key, record.Key)
		require.Equal(t, like.Value, record.Value)
		require.Equal(t, like.Headers, record.Headers)
		if read++; read == 2*int64(len(want)) {
			break
		}
	}
	require.Equal(t, 2*int64(len(want)), read)
}

func requireSame(t *testing.T, want *client.Record, got *kgo.Record) {
	t.Helper()
	require.True(t, want.Timestamp.Equal(got.Timestamp))
	require.Equal(t, want.Key, got.Key)
	require.Equal(t, want.Value, got.Value)
	require.Len(t, got.Headers, len(want.Headers))
	for i, header := range want.Headers {
		require.Equal(t, kgo.RecordHeader{Key: header.Key, Value: header.Value}, got.Headers[i])
	}
}
