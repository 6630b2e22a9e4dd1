package assign_test

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kbin"

	"github.com/musterkafka/muster/assign"
)

// stickyUserData is what Java's sticky assignor puts into a subscription, written
// down a second time: topics with their partitions, then (since version 1) the
// generation. A claim of generation -1 is written in the older form, which has none.
func stickyUserData(owned assign.Partitions, generation int32) []byte {
	data := kbin.AppendArrayLen(nil, len(owned))
	for _, topic := range slices.Sorted(maps.Keys(owned)) {
		data = kbin.AppendString(data, topic)
		data = kbin.AppendArrayLen(data, len(owned[topic]))
		for _, number := range owned[topic] {
			data = kbin.AppendInt32(data, number)
		}
	}
	if generation == -1 {
		return data
	}
	return kbin.AppendInt32(data, generation)
}
