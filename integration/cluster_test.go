package integration

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestOneBrokerKeepsWhatIsProduced(t *testing.T) {
	c := Shared(t)
	topic := c.CreateTopic(t, 2)
	records := MakeRecords(100)
	c.FranzProduce(t, topic, "none", records)
	require.Equal(t, records, c.FranzConsume(t, topic, 2))

	ends, err := c.Ends(t.Context(), topic, 2)
	require.NoError(t, err)
	require.Equal(t, map[Partition]int64{{topic, 0}: 100, {topic, 1}: 0}, ends)
}

func TestThreeBrokersOutliveTheCoordinator(t *testing.T) {
	c := Start(t, Options{Brokers: 3})
	topic := c.CreateTopic(t, 3)
	addrs := c.Addrs()
	group := UniqueName(t, "group")
	first := coordinator(t, c, group, 0)

	for _, fault := range []struct {
		name string
		end  func(testing.TB, int)
	}{{"stop", c.Stop}, {"kill", c.Kill}} {
		fault.end(t, first)
		second := coordinator(t, c, group, first)
		require.NotEqual(t, first, second, fault.name)
		c.FranzProduce(t, topic, "none", MakeRecords(10))
		c.Start(t, first)
		require.Equal(t, addrs, c.Addrs(), fault.name)
		answers(t, c.Addr(first))
		first = second
	}
	require.Len(t, c.FranzConsume(t, topic, 3), 20)
}

func TestAPausedBrokerAnswersWhenItGoesOn(t *testing.T) {
	c := Start(t, Options{})
	client := c.Client(t)
	require.NoError(t, client.Ping(t.Context()))

	c.Pause(t, 1)
	silence, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	require.Error(t, client.Ping(silence))

	c.Unpause(t, 1)
	require.NoError(t, client.Ping(t.Context()))
}

func TestPropertiesReachTheBroker(t *testing.T) {
	c := Start(t, Options{Properties: map[string]string{"message.max.bytes": "5000"}})
	topic := c.CreateTopic(t, 1)
	client := c.Client(t, kgo.ProducerBatchCompression(kgo.NoCompression()))
	err := client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: make([]byte, 6000)}).FirstErr()
	require.ErrorContains(t, err, "MESSAGE_TOO_LARGE")
}

// coordinator returns the coordinator of a group once it is another than not.
func coordinator(t *testing.T, c *Cluster, group string, not int) int {
	t.Helper()
	var id int
	require.EventuallyWithT(t, func(collect *assert.CollectT) {
		var err error
		id, err = c.Coordinator(t.Context(), group)
		require.NoError(collect, err)
		require.NotEqual(collect, not, id)
	}, time.Minute, 100*time.Millisecond)
	return id
}

func answers(t *testing.T, addr string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(addr))
	require.NoError(t, err)
	defer client.Close()
	require.NoError(t, client.Ping(t.Context()))
}
