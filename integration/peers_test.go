package integration

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// The harness is believed only as far as two foreign clients agree through it.

func TestFranzAndJavaReadWhatTheOtherWrote(t *testing.T) {
	c := Shared(t)
	records := MakeRecords(1000)
	for _, codec := range Codecs() {
		t.Run(codec, func(t *testing.T) {
			fromFranz := c.CreateTopic(t, 1)
			c.FranzProduce(t, fromFranz, codec, records)
			require.Equal(t, records, c.JavaConsume(t, fromFranz, 1))

			fromJava := c.CreateTopic(t, 1)
			c.JavaProduce(t, fromJava, codec, records)
			require.Equal(t, records, c.FranzConsume(t, fromJava, 1))
		})
	}
}

func TestFranzPutsKeysWhereJavaPutsThem(t *testing.T) {
	const partitions = 12
	c := Shared(t)
	keys := []string{"", "a", "orders", "2 words"}
	for i := range 100 {
		keys = append(keys, fmt.Sprintf("key-%d", i))
	}
	want := c.JavaPartitions(t, partitions, keys)

	topic := c.CreateTopic(t, partitions)
	client := c.Client(t)
	for _, key := range keys {
		r, err := client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Key: []byte(key)}).First()
		require.NoError(t, err)
		require.Equal(t, want[key], r.Partition, "key %q", key)
	}
}
