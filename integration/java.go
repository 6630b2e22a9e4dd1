package integration

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// JavaProduce writes records with Kafka's own producer in their order,
// compressed with codec. The producer chooses the partitions, by key.
func (c *Cluster) JavaProduce(t testing.TB, topic, codec string, records []Record) {
	t.Helper()
	var input strings.Builder
	for _, r := range records {
		fmt.Fprintf(&input, "%s\t%s\n", r.Key, r.Value)
	}
	c.Java(t, input.String(), "org.apache.kafka.tools.ConsoleProducer",
		"--bootstrap-server", c.Internal(), "--topic", topic,
		"--compression-codec", codec,
		"--request-timeout-ms", "30000", // its default of 1.5 s is short for a busy machine
		"--reader-property", "parse.key=true",
		"--reader-property", "key.separator=\t")
}

// JavaConsume reads with Kafka's own consumer everything that the partitions
// 0 to n-1 of a topic hold now, by partition and offset.
func (c *Cluster) JavaConsume(t testing.TB, topic string, n int32) []Record {
	t.Helper()
	left, _ := c.toRead(t.Context(), t, topic, n)
	output := c.Java(t, "", "org.apache.kafka.tools.consumer.ConsoleConsumer",
		"--bootstrap-server", c.Internal(), "--topic", topic, "--from-beginning",
		"--max-messages", strconv.FormatInt(left, 10),
		"--timeout-ms", strconv.FormatInt(transferTimeout.Milliseconds(), 10),
		"--formatter-property", "print.partition=true",
		"--formatter-property", "print.offset=true",
		"--formatter-property", "print.key=true",
		"--formatter-property", "key.separator=\t")
	var records []Record
	for line := range strings.Lines(output) {
		records = append(records, parseJavaRecord(t, strings.TrimSuffix(line, "\n")))
	}
	require.Len(t, records, int(left), "Java consumes %s", topic)
	SortRecords(records)
	return records
}

func parseJavaRecord(t testing.TB, line string) Record {
	t.Helper()
	fields := strings.Split(line, "\t")
	require.Len(t, fields, 4, "line of the console consumer: %q", line)
	partition, err := strconv.ParseInt(strings.TrimPrefix(fields[0], "Partition:"), 10, 32)
	require.NoError(t, err, "line of the console consumer: %q", line)
	offset, err := strconv.ParseInt(strings.TrimPrefix(fields[1], "Offset:"), 10, 64)
	require.NoError(t, err, "line of the console consumer: %q", line)
	return Record{Partition: int32(partition), Offset: offset, Key: fields[2], Value: fields[3]}
}

// JavaPartitions returns the partition of n that Kafka's own producer puts
// each key on. It finds out by producing to a topic made for it.
func (c *Cluster) JavaPartitions(t testing.TB, n int32, keys []string) map[string]int32 {
	t.Helper()
	records := make([]Record, len(keys))
	for i, key := range keys {
		records[i].Key = key
	}
	topic := c.CreateTopic(t, n)
	c.JavaProduce(t, topic, "none", records)
	partitions := map[string]int32{}
	for _, r := range c.FranzConsume(t, topic, n) {
		partitions[r.Key] = r.Partition
	}
	require.Len(t, partitions, len(keys), "keys that Java produced to %s", topic)
	return partitions
}
