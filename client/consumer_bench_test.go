package client

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/internal/recordbatch"
)

// bench is a Consumer of the topic "t" with fake brokers and a fake member.
type bench struct {
	*fakes
	member   *fakeMember
	cl       *Client
	consumer *Consumer

	logs     sync.Mutex
	stored   map[partitionKey]*storedLog
	appended chan struct{} // closed when something is
	fetchErr map[partitionKey]int16
}

// storedLog is what the brokers have of one partition.
type storedLog struct {
	start   int64 // of the log: what is before is gone
	end     int64
	batches []storedBatch
}

type storedBatch struct {
	last int64
	data []byte
}

// newBench has partitions of "t" on as many brokers as leaders says, each led by
// the broker named.
func newBench(t testing.TB, leaders ...int32) *bench {
	brokers := int32(1)
	b := &bench{
		member: &fakeMember{
			committed: make(map[partitionKey]groupmember.Offset),
			codes:     make(map[partitionKey]int16),
			done:      make(chan struct{}),
			turn:      make(chan struct{}, 1),
			trusted:   time.Now().AddDate(1, 0, 0),
		},
		stored:   make(map[partitionKey]*storedLog),
		appended: make(chan struct{}),
		fetchErr: make(map[partitionKey]int16),
	}
	var parts []kmsg.MetadataResponseTopicPartition
	for i, leader := range leaders {
		brokers = max(brokers, leader)
		parts = append(parts, partitionAnswer(int32(i), leader, 0))
		b.stored[partitionKey{"t", int32(i)}] = &storedLog{}
	}
	b.fakes = newFakes(t, brokers)
	b.topics["t"] = topicAnswer("t", idA, 0, parts...)
	for id := range brokers {
		f := b.broker(id + 1)
		f.On(keyFetch, func(req kmsg.Request) kmsg.Response { return b.fetch(id+1, req.(*kmsg.FetchRequest)) })
		f.On(keyListOffsets, func(req kmsg.Request) kmsg.Response {
			return b.listOffsets(id+1, req.(*kmsg.ListOffsetsRequest))
		})
	}
	return b
}

// open makes the Consumer. It is closed when the test ends, if not before.
func (b *bench) open(cfg ConsumerConfig) *Consumer {
	if b.cl == nil {
		b.cl = b.client(Config{})
	}
	if cfg.Group == "" {
		cfg.Group = "g"
	}
	if cfg.Topics == nil && cfg.Patterns == nil {
		cfg.Topics = []string{"t"}
	}
	c, err := b.cl.consumer(cfg, b.member.start)
	require.NoError(b.t, err)
	b.consumer = c
	b.t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// write appends one batch of count records, with their offset as the value, to a partition.
func (b *bench) write(partition int32, count int) {
	var builder recordbatch.Builder
	b.logs.Lock()
	end := b.stored[partitionKey{"t", partition}].end
	b.logs.Unlock()
	for i := range int64(count) {
		builder.Append(1000+i, nil, fmt.Append(nil, end+i), nil)
	}
	b.writeBatch(partition, builder.Finish(nil), int64(count))
}

// writeBatch appends a batch as it is, but for its offset and leader epoch.
func (b *bench) writeBatch(partition int32, data []byte, span int64) {
	b.logs.Lock()
	defer b.logs.Unlock()
	l := b.stored[partitionKey{"t", partition}]
	data = append([]byte(nil), data...)
	binary.BigEndian.PutUint64(data, uint64(l.end))
	binary.BigEndian.PutUint32(data[12:], 0)
	l.end += span
	l.batches = append(l.batches, storedBatch{last: l.end - 1, data: data})
	close(b.appended)
	b.appended = make(chan struct{})
}

// expire removes everything before start, and goes on there if that is behind the
// end.
func (b *bench) expire(partition int32, start int64) {
	b.logs.Lock()
	defer b.logs.Unlock()
	l := b.stored[partitionKey{"t", partition}]
	l.start, l.end = start, max(l.end, start)
}

// offsetOf is a committed offset of the first partition.
func offsetOf(next int64) groupmember.Offset {
	return groupmember.Offset{Topic: "t", Next: next, LeaderEpoch: -1}
}

// answerWith makes the brokers answer a fetch of a partition with an error.
func (b *bench) answerWith(partition int32, code int16) {
	b.logs.Lock()
	defer b.logs.Unlock()
	b.fetchErr[partitionKey{"t", partition}] = code
}

// fetch answers a Fetch as a broker does: at once if there is something, else when its
// time is over.
func (b *bench) fetch(node int32, req *kmsg.FetchRequest) kmsg.Response {
	timeout := time.After(time.Duration(req.MaxWaitMillis) * time.Millisecond)
	for {
		b.logs.Lock()
		resp, found := b.read(node, req)
		appended := b.appended
		b.logs.Unlock()
		if found {
			return resp
		}
		select {
		case <-appended:
		case <-timeout:
			return resp
		}
	}
}

func (b *bench) read(node int32, req *kmsg.FetchRequest) (resp *kmsg.FetchResponse, found bool) {
	resp = kmsg.NewPtrFetchResponse()
	room, first := int(req.MaxBytes), true
	for _, t := range req.Topics {
		name := t.Topic
		if req.Version >= fetchVersionTopicID {
			name = b.nameOf(t.TopicID)
		}
		rt := kmsg.NewFetchResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			rp := b.readPartition(node, partitionKey{name, p.Partition}, p, &room, &first)
			found = found || rp.ErrorCode != 0 || len(rp.RecordBatches) > 0
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp, found
}

// readPartition gives what fits into room. The first batch of an answer comes
// whatever its size (KIP-74).
func (b *bench) readPartition(node int32, key partitionKey, p kmsg.FetchRequestTopicPartition, room *int, first *bool) kmsg.FetchResponseTopicPartition {
	rp := kmsg.NewFetchResponseTopicPartition()
	rp.Partition = p.Partition
	rp.RecordBatches = []byte{}
	l := b.stored[key]
	switch {
	case l == nil:
		rp.ErrorCode = 100
		return rp
	case b.fetchErr[key] != 0:
		rp.ErrorCode = b.fetchErr[key]
		return rp
	case b.leader(key) != node:
		rp.ErrorCode = 6
		return rp
	case p.FetchOffset < l.start || p.FetchOffset > l.end:
		rp.ErrorCode = 1
		return rp
	}
	rp.HighWatermark = l.end
	limit := min(int(p.PartitionMaxBytes), *room)
	for _, batch := range l.batches {
		if batch.last < p.FetchOffset {
			continue
		}
		if n := len(rp.RecordBatches); n+len(batch.data) > limit && (n > 0 || !*first) {
			break
		}
		rp.RecordBatches = append(rp.RecordBatches, batch.data...)
	}
	*room -= len(rp.RecordBatches)
	*first = *first && len(rp.RecordBatches) == 0
	return rp
}

// nameOf returns the topic that has this ID now; "" if there is none.
func (b *bench) nameOf(id [16]byte) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, t := range b.topics {
		if t.TopicID == id {
			return name
		}
	}
	return ""
}

func (b *bench) leader(key partitionKey) int32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.topics[key.topic].Partitions {
		if p.Partition == key.partition {
			return p.Leader
		}
	}
	return -1
}

// move makes another broker the leader of a partition.
func (b *bench) move(partition, leader int32) {
	b.change(func() {
		t := b.topics["t"]
		p := &t.Partitions[partition]
		p.Leader, p.LeaderEpoch = leader, p.LeaderEpoch+1
	})
}

func (b *bench) listOffsets(node int32, req *kmsg.ListOffsetsRequest) kmsg.Response {
	b.logs.Lock()
	defer b.logs.Unlock()
	resp := kmsg.NewPtrListOffsetsResponse()
	for _, t := range req.Topics {
		rt := kmsg.NewListOffsetsResponseTopic()
		rt.Topic = t.Topic
		for _, p := range t.Partitions {
			rp := kmsg.NewListOffsetsResponseTopicPartition()
			rp.Partition = p.Partition
			l := b.stored[partitionKey{t.Topic, p.Partition}]
			switch {
			case b.leader(partitionKey{t.Topic, p.Partition}) != node:
				rp.ErrorCode = 6
			case p.Timestamp == -1:
				rp.Offset = l.end
			default:
				rp.Offset = l.start
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

// read takes n records off a new loop, and breaks out with the last of them undone.
// It fails the test if they do not come within an hour of its time.
func read(t testing.TB, c *Consumer, n int) []*Record {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, errTestEnd)
	defer cancel()
	var got []*Record
	for rec, err := range c.Records(ctx) {
		require.NoError(t, err)
		if got = append(got, rec); len(got) == n {
			return got
		}
	}
	require.Len(t, got, n)
	return nil
}

// offsets returns the offsets of records.
func offsets(records []*Record) []int64 {
	var all []int64
	for _, r := range records {
		all = append(all, r.Offset)
	}
	return all
}

// within runs test in a bubble with a bench.
func within(t *testing.T, leaders []int32, test func(t *testing.T, b *bench)) {
	synctest.Test(t, func(t *testing.T) { test(t, newBench(t, leaders...)) })
}
