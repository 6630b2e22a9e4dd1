package client

import (
	"context"
	"encoding/binary"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/internal/recordbatch"
)

const keyProduce = 0

// produceBench is a Producer and fake brokers that keep what is written to the
// topic "t".
type produceBench struct {
	*fakes
	cl *Client
	p  *Producer

	logs     sync.Mutex
	written  map[int32][]uint64 // by partition: the IDs of the records
	codes    map[int32][]int16  // by partition: what the next requests are answered with
	outcomes []produceOutcome   // in the order of the callbacks
}

type produceOutcome struct {
	id     uint64
	offset Offset
	err    error
}

// withProducer runs test in a bubble with a producer of a topic whose partitions
// are led by the brokers named.
func withProducer(t *testing.T, cfg ProducerConfig, leaders []int32, test func(t *testing.T, b *produceBench)) {
	synctest.Test(t, func(t *testing.T) {
		b := newProduceBench(t, leaders...)
		b.open(cfg)
		test(t, b)
	})
}

func newProduceBench(t testing.TB, leaders ...int32) *produceBench {
	b := &produceBench{written: make(map[int32][]uint64), codes: make(map[int32][]int16)}
	brokers := int32(1)
	for _, leader := range leaders {
		brokers = max(brokers, leader)
	}
	b.fakes = newFakes(t, brokers)
	b.lead(idA, leaders...)
	for node := range brokers {
		b.broker(node+1).On(keyProduce, func(req kmsg.Request) kmsg.Response {
			return b.produce(node+1, req.(*kmsg.ProduceRequest))
		})
	}
	return b
}

// lead says who leads the partitions of "t".
func (b *produceBench) lead(id [16]byte, leaders ...int32) {
	b.change(func() {
		var parts []kmsg.MetadataResponseTopicPartition
		for i, leader := range leaders {
			parts = append(parts, partitionAnswer(int32(i), leader, 0))
		}
		b.topics["t"] = topicAnswer("t", id, 0, parts...)
	})
}

// open makes the Producer, which is closed when the test ends, if not before.
func (b *produceBench) open(cfg ProducerConfig) {
	if cfg.Partitioner == nil {
		cfg.Partitioner = ManualPartitioner
	}
	b.cl = b.client(Config{})
	p, err := b.cl.Producer(cfg)
	require.NoError(b.t, err)
	b.p = p
	b.t.Cleanup(func() { p.Close(context.Background()) })
}

// answer makes the next requests for a partition get these codes.
func (b *produceBench) answer(partition int32, codes ...int16) {
	b.logs.Lock()
	defer b.logs.Unlock()
	b.codes[partition] = codes
}

func (b *produceBench) leaderOf(partition int32) int32 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.topics["t"].Partitions[partition].Leader
}

// produce answers a Produce as a broker does.
func (b *produceBench) produce(node int32, req *kmsg.ProduceRequest) kmsg.Response {
	resp := kmsg.NewPtrProduceResponse()
	for _, t := range req.Topics {
		rt := kmsg.NewProduceResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			rp := kmsg.NewProduceResponseTopicPartition()
			rp.Partition, rp.BaseOffset, rp.LogAppendTime = p.Partition, -1, -1
			leader := b.leaderOf(p.Partition)
			b.logs.Lock()
			if codes := b.codes[p.Partition]; leader != node {
				rp.ErrorCode = 6
			} else if len(codes) > 0 && codes[0] != 0 {
				rp.ErrorCode, b.codes[p.Partition] = codes[0], codes[1:]
			} else {
				b.codes[p.Partition] = codes[min(1, len(codes)):]
				rp.BaseOffset = int64(len(b.written[p.Partition]))
				b.written[p.Partition] = append(b.written[p.Partition], idsIn(b.t, p.Records)...)
			}
			b.logs.Unlock()
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

// record is one for a partition that carries an ID.
func record(partition int32, id uint64) *Record {
	return &Record{Topic: "t", Partition: partition, Value: binary.BigEndian.AppendUint64(nil, id)}
}

// send sends a record and notes its outcome.
func (b *produceBench) send(ctx context.Context, partition int32, id uint64) error {
	return b.p.Send(ctx, record(partition, id), func(o Offset, err error) {
		b.logs.Lock()
		defer b.logs.Unlock()
		b.outcomes = append(b.outcomes, produceOutcome{id, o, err})
	})
}

// sendAll sends records with the IDs from first to last.
func (b *produceBench) sendAll(partition int32, first, last uint64) {
	b.t.Helper()
	for id := first; id <= last; id++ {
		require.NoError(b.t, b.send(b.t.Context(), partition, id))
	}
}

// log returns what is written to a partition.
func (b *produceBench) logOf(partition int32) []uint64 {
	b.logs.Lock()
	defer b.logs.Unlock()
	return append([]uint64(nil), b.written[partition]...)
}

func (b *produceBench) done() []produceOutcome {
	b.logs.Lock()
	defer b.logs.Unlock()
	return append([]produceOutcome(nil), b.outcomes...)
}

// oneOutcome returns the only outcome there is.
func (b *produceBench) oneOutcome() produceOutcome {
	b.t.Helper()
	outcomes := b.done()
	require.Len(b.t, outcomes, 1)
	return outcomes[0]
}

func counting(first, last uint64) (ids []uint64) {
	for id := first; id <= last; id++ {
		ids = append(ids, id)
	}
	return ids
}

// requireWritten checks that the records with these IDs, and no others, have succeeded, in
// order, with ascending offsets.
func (b *produceBench) requireWritten(ids []uint64) {
	b.t.Helper()
	var got []uint64
	for i, o := range b.done() {
		require.NoError(b.t, o.err)
		require.Equal(b.t, int64(i), o.offset.Offset)
		got = append(got, o.id)
	}
	require.Equal(b.t, ids, got)
}

func since(start time.Time) time.Duration { return time.Since(start) }

// requireWrittenFrom is requireWritten for IDs that count up.
func (b *produceBench) requireWrittenFrom(first, last uint64) {
	b.t.Helper()
	b.requireWritten(counting(first, last))
}

// recordsIn returns the records of a batch.
func recordsIn(t require.TestingT, wire []byte) (all []*Record) {
	var s recordbatch.Scanner
	s.Reset(wire)
	var batch recordbatch.Batch
	require.True(t, s.Next(&batch))
	records, err := batch.Open(nil, 1<<30)
	require.NoError(t, err)
	var raw recordbatch.Record
	for records.Next(&raw) {
		rec := new(Record)
		rec.fill(&raw)
		all = append(all, rec)
	}
	require.NoError(t, records.Err())
	return all
}
