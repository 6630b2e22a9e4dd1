package integration

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Record is what two clients must agree on. It holds text without tabs and
// line ends, which Kafka's console tools can carry too.
type Record struct {
	Partition int32
	Offset    int64
	Key       string
	Value     string
}

// Codecs are the names of all compression codecs, as Kafka spells them; the
// index is the number of each on the wire.
func Codecs() []string {
	return []string{"none", "gzip", "snappy", "lz4", "zstd"}
}

// MakeRecords returns n records for partition 0 of a new topic, each with a
// key of its own. Lengths run from nothing to a few hundred bytes; values
// repeat themselves, so that a codec has something to do.
func MakeRecords(n int) []Record {
	records := make([]Record, n)
	for i := range records {
		word := fmt.Sprintf("%x.", i*i)
		records[i] = Record{
			Offset: int64(i),
			Key:    fmt.Sprintf("key-%d", i),
			Value:  strings.Repeat(word, i%37),
		}
	}
	return records
}

// SortRecords sorts records by partition and offset, in place.
func SortRecords(records []Record) {
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
	})
}
