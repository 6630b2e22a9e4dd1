package main

import (
	"context"
	"fmt"
	"time"
)

// workload is one topic to be read from its start to its end.
type workload struct {
	name       string
	records    int
	size       int // bytes of each value
	partitions int32
	codec      string // as kgo names it
}

// workloads are the cases of the comparison. A batch in them is at most 64
// KiB, as it would be from a producer that lingers a little.
func workloads(scale float64) []workload {
	list := []workload{
		{"100B", 5_000_000, 100, 1, "none"},
		{"1KiB", 1_000_000, 1024, 1, "none"},
		{"100B-6", 5_000_000, 100, 6, "none"},
		{"1KiB-6", 1_000_000, 1024, 6, "none"},
		{"100B-lz4", 5_000_000, 100, 1, "lz4"},
	}
	for i := range list {
		list[i].records = max(1000, int(float64(list[i].records)*scale))
	}
	return list
}

// topic names a workload's topic, so that a second run finds it filled.
func (w workload) topic() string {
	return fmt.Sprintf("muster-bench-%s-%d", w.name, w.records)
}

// tally is what a reader saw.
type tally struct {
	first, last time.Time // of the first and after the last record
	records     int
	bytes       int64
	sum         uint64 // over all values, so that each is touched
}

// see counts one record.
func (t *tally) see(value []byte) {
	t.records++
	t.bytes += int64(len(value))
	if len(value) > 0 {
		t.sum += uint64(value[0]) + uint64(value[len(value)-1])
	}
}

// A reader reads the first n records of a topic as a new group.
type reader func(ctx context.Context, brokers []string, topic, group string, n int, t *tally) error

// readers are the clients compared. The first is the one that ratios are to.
var readers = []struct {
	name string
	read reader
}{
	{"franz-go", readFranz},
	{"muster-batches", readMusterBatches},
	{"muster-records", readMusterRecords},
}
