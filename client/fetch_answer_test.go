package client

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"
)

// drawFetchResponse draws a response as brokers give it, with tags that this client
// does not know of.
func drawFetchResponse(t *rapid.T, version int16) *kmsg.FetchResponse {
	resp := kmsg.NewPtrFetchResponse()
	resp.SetVersion(version)
	resp.ThrottleMillis = rapid.Int32().Draw(t, "throttle")
	if version >= 7 {
		resp.ErrorCode = rapid.Int16().Draw(t, "code")
	}
	for range rapid.IntRange(0, 3).Draw(t, "topics") {
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic = rapid.SampledFrom([]string{"a", "bb"}).Draw(t, "name")
		topic.TopicID = [16]byte{byte(len(topic.Topic))}
		for range rapid.IntRange(0, 3).Draw(t, "partitions") {
			p := kmsg.NewFetchResponseTopicPartition()
			p.Partition = rapid.Int32().Draw(t, "partition")
			p.ErrorCode = rapid.Int16().Draw(t, "partition code")
			p.HighWatermark = rapid.Int64().Draw(t, "high watermark")
			for range rapid.IntRange(0, 2).Draw(t, "aborted") {
				p.AbortedTransactions = append(p.AbortedTransactions, kmsg.NewFetchResponseTopicPartitionAbortedTransaction())
			}
			p.RecordBatches = rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "records")
			if version >= 12 {
				p.CurrentLeader.LeaderID = rapid.Int32Range(-1, 3).Draw(t, "leader hint")
				p.UnknownTags.Set(99, []byte("new"))
			}
			topic.Partitions = append(topic.Partitions, p)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	if version >= 16 && rapid.Bool().Draw(t, "endpoints") {
		resp.Brokers = append(resp.Brokers, kmsg.NewFetchResponseBroker())
	}
	return resp
}

// The twin is the decoder that is generated from Kafka's own description.
func TestFetchAnswersAreReadAsTheirTwinReadsThem(t *testing.T) {
	names := map[[16]byte]string{{1}: "a", {2}: "bb"}
	name := func(id [16]byte, name string) string {
		if name == "" {
			return names[id]
		}
		return string([]byte(name))
	}
	var a fetchAnswer
	rapid.Check(t, func(t *rapid.T) {
		version := rapid.Int16Range(4, fetchVersionMax).Draw(t, "version")
		resp := drawFetchResponse(t, version)
		require.NoError(t, a.read(resp.AppendTo(nil), version, name))
		require.Equal(t, resp.ThrottleMillis, a.throttleMillis)
		require.Equal(t, resp.ErrorCode, a.code)
		i := 0
		for _, topic := range resp.Topics {
			for _, p := range topic.Partitions {
				got := a.partitions[i]
				require.Equal(t, partitionKey{topic.Topic, p.Partition}, got.key)
				require.Equal(t, p.ErrorCode, got.code)
				require.Equal(t, p.HighWatermark, got.highWatermark)
				require.Equal(t, string(p.RecordBatches), string(got.records))
				i++
			}
		}
		require.Len(t, a.partitions, i)
	})
}

func TestATruncatedFetchAnswerIsAnError(t *testing.T) {
	for _, version := range []int16{4, 11, 12, 17} {
		resp := kmsg.NewPtrFetchResponse()
		resp.SetVersion(version)
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic = "a"
		p := kmsg.NewFetchResponseTopicPartition()
		p.RecordBatches = []byte("records")
		topic.Partitions = append(topic.Partitions, p)
		resp.Topics = append(resp.Topics, topic)
		whole := resp.AppendTo(nil)
		end := len(whole)
		if version >= fetchVersionFlexible {
			end-- // the last byte is the number of tags, which are not looked at
		}
		var a fetchAnswer
		for n := range end {
			require.Error(t, a.read(whole[:n], version, func([16]byte, string) string { return "a" }), "version %d, %d of %d bytes", version, n, len(whole))
		}
	}
}

func FuzzFetchAnswer(f *testing.F) {
	for _, version := range []int16{4, 7, 11, 12, 13, 17} {
		resp := kmsg.NewPtrFetchResponse()
		resp.SetVersion(version)
		topic := kmsg.NewFetchResponseTopic()
		p := kmsg.NewFetchResponseTopicPartition()
		p.RecordBatches = []byte("records")
		topic.Partitions = append(topic.Partitions, p)
		resp.Topics = append(resp.Topics, topic)
		f.Add(resp.AppendTo(nil), version)
	}
	f.Fuzz(func(t *testing.T, body []byte, version int16) {
		version = 4 + (version%14+14)%14
		var a fetchAnswer
		if a.read(body, version, func([16]byte, string) string { return "a" }) != nil {
			return
		}
		if len(a.partitions) > len(body)/20 {
			t.Errorf("%d partitions out of %d bytes", len(a.partitions), len(body))
		}
		total := 0
		for _, p := range a.partitions {
			total += len(p.records)
		}
		if total > len(body) {
			t.Errorf("%d bytes of records out of %d bytes", total, len(body))
		}
	})
}
