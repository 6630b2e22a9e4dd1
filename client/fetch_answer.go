package client

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Versions of Fetch: 4 is the first whose record batches are v2 and the oldest
// of Kafka 4.0 (KIP-896), 8 the first in which the client obeys
// throttling (KIP-219), 12 the first with tagged fields (KIP-482), 13 the first with topic IDs (KIP-516).
const (
	fetchVersionThrottle = 8
	fetchVersionFlexible = 12
	fetchVersionTopicID  = 13
	fetchVersionMax      = 17
)

// fetchAnswer is a decoded response to Fetch. It is used again and again; records
// alias the frame that they came in.
type fetchAnswer struct {
	throttleMillis int32
	code           int16
	partitions     []fetchedPartition

	reader  kbin.Reader
	version int16
}

// fetchedPartition is what an answer says of one partition.
type fetchedPartition struct {
	key           partitionKey // its topic is "" if it was not asked for
	code          int16
	highWatermark int64
	records       []byte

	// What measure has found in records, which are then only the whole batches.
	next   int64 // behind the last of them; -1 if there is none
	cut    int   // bytes that followed
	damage error // why those are no batch, if they are not just cut off
	resume int64 // behind the damage; -1 if that cannot be said
}

// read decodes body. Names of topics come from name, which is given the ID from
// version 13 on and the name below, both only until it returns. Memory grows
// with what is really in body, not with what it claims.
func (a *fetchAnswer) read(body []byte, version int16, name func(id [16]byte, name string) string) error {
	a.reader, a.version = kbin.Reader{Src: body}, version
	a.partitions = a.partitions[:0]
	a.code = 0
	r := &a.reader
	a.throttleMillis = r.Int32()
	if version >= 7 {
		a.code = r.Int16()
		r.Int32() // session ID
	}
	for range a.arrayLen() {
		a.readTopic(name)
		if !r.Ok() {
			break
		}
	}
	if err := r.Complete(); err != nil { // what follows are tags, which hold nothing for us
		return fmt.Errorf("cannot decode a Fetch response of version %d and %d bytes: %w", version, len(body), err)
	}
	return nil
}

func (a *fetchAnswer) readTopic(name func(id [16]byte, name string) string) {
	r := &a.reader
	var topic string
	switch {
	case a.version >= fetchVersionTopicID:
		topic = name(r.Uuid(), "")
	case a.flexible():
		topic = name([16]byte{}, r.UnsafeCompactString())
	default:
		topic = name([16]byte{}, r.UnsafeString())
	}
	for range a.arrayLen() {
		p := a.readPartition()
		if !r.Ok() {
			return
		}
		p.key.topic = topic
		a.partitions = append(a.partitions, p)
	}
	a.skipTags()
}

func (a *fetchAnswer) readPartition() fetchedPartition {
	r := &a.reader
	p := fetchedPartition{next: -1}
	p.key.partition = r.Int32()
	p.code = r.Int16()
	p.highWatermark = r.Int64()
	r.Int64() // last stable offset
	if a.version >= 5 {
		r.Int64() // log start offset
	}
	for range a.arrayLen() { // aborted transactions
		r.Int64()
		r.Int64()
		a.skipTags()
		if !r.Ok() {
			break
		}
	}
	if a.version >= 11 {
		r.Int32() // preferred read replica
	}
	if a.flexible() {
		p.records = r.CompactNullableBytes()
	} else {
		p.records = r.NullableBytes()
	}
	a.skipTags()
	return p
}

func (a *fetchAnswer) flexible() bool { return a.version >= fetchVersionFlexible }

func (a *fetchAnswer) skipTags() {
	if a.flexible() {
		kmsg.SkipTags(&a.reader)
	}
}

// arrayLen reads the length of an array, which is at most that of what follows;
// null is 0.
func (a *fetchAnswer) arrayLen() int32 {
	if a.flexible() {
		return max(0, a.reader.CompactArrayLen())
	}
	return max(0, a.reader.ArrayLen())
}
