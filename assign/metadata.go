package assign

import (
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kbin"
)

// metadataVersion is the highest version of ConsumerProtocolSubscription and
// ConsumerProtocolAssignment. Most readers take the fields they know and skip the
// rest.
const metadataVersion = 3

// AppendSubscription appends what m tells its group when it joins: version 3 of
// ConsumerProtocolSubscription. ID and InstanceID are not part of it. Topics and
// Owned are written in order, each entry once, so equal members give equal bytes.
// A name of more than 32,767 bytes, which the format cannot hold and Kafka cannot
// have given, is left out.
func AppendSubscription(dst []byte, m Member) []byte {
	dst = appendSubscription0(dst, metadataVersion, m)
	dst = appendPartitions(dst, m.Owned)
	dst = kbin.AppendInt32(dst, max(m.Generation, -1))
	if m.Rack == "" || tooLong(m.Rack) {
		return kbin.AppendNullableString(dst, nil)
	}
	return kbin.AppendString(dst, m.Rack)
}

// AppendEagerSubscription is AppendSubscription for an assignor that is not
// cooperative: in version 0 where that holds all that m has to say, without Rack,
// Owned and Generation. As a leader, kafka-go 0.4.51 leaves its group rather than
// read more. A cooperative assignor must be given more: as a leader, librdkafka
// 2.16 crashes on a subscription without the field for Owned.
func AppendEagerSubscription(dst []byte, m Member) []byte {
	if m.Rack != "" || len(m.Owned) > 0 || m.Generation >= 0 {
		return AppendSubscription(dst, m)
	}
	return appendSubscription0(dst, 0, m)
}

// appendSubscription0 writes the fields of version 0.
func appendSubscription0(dst []byte, version int16, m Member) []byte {
	topics := slices.DeleteFunc(slices.Clone(sortedUnique(m.Topics)), tooLong)
	dst = kbin.AppendInt16(dst, version)
	dst = kbin.AppendArrayLen(dst, len(topics))
	for _, topic := range topics {
		dst = kbin.AppendString(dst, topic)
	}
	return appendUserData(dst, m.UserData)
}

// AppendAssignment appends what the leader tells one member: version 3 of
// ConsumerProtocolAssignment with null user data. Anything else there would keep a
// coordinator from moving the group to the KIP-848 protocol while it runs.
func AppendAssignment(dst []byte, p Partitions) []byte {
	dst = kbin.AppendInt16(dst, metadataVersion)
	dst = appendPartitions(dst, p)
	return appendUserData(dst, nil)
}

// appendPartitions writes [topic, [partition]] as the type Partitions promises it, whatever an
// application made of it.
func appendPartitions(dst []byte, p Partitions) []byte {
	var few [128]string // not on the heap, unlike longer lists
	topics := slices.Grow(few[:0], len(p))
	size := 4
	for topic, numbers := range p {
		if len(numbers) > 0 && !tooLong(topic) {
			topics = append(topics, topic)
			size += 2 + len(topic) + 4 + 4*len(numbers)
		}
	}
	slices.Sort(topics)
	dst = slices.Grow(dst, size+4) // 4 for what follows everywhere
	count := len(dst)
	dst = kbin.AppendArrayLen(dst, 0)
	written := int32(0)
	for _, topic := range topics {
		numbers := ascending(p[topic])
		if len(numbers) == 0 {
			continue
		}
		written++
		dst = kbin.AppendString(dst, topic)
		dst = kbin.AppendArrayLen(dst, len(numbers))
		for _, number := range numbers {
			dst = kbin.AppendInt32(dst, number)
		}
	}
	kbin.AppendInt32(dst[:count], written)
	return dst
}

// appendUserData writes an empty slice as null: both mean nothing, and bytes
// must not depend on which of them it was.
func appendUserData(dst, data []byte) []byte {
	if len(data) == 0 {
		return kbin.AppendNullableBytes(dst, nil)
	}
	return kbin.AppendNullableBytes(dst, data)
}

func tooLong(name string) bool { return len(name) > math.MaxInt16 }
