package client

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/conn"
	"github.com/musterkafka/muster/internal/recordbatch"
)

// produceVersionTopicID is the first version of Produce with topic IDs in place
// of names (KIP-516); the highest that this client sends.
const produceVersionTopicID = 13

// produceFlight is one Produce request and the batches in it. It is used again and
// again.
type produceFlight struct {
	req     kmsg.ProduceRequest
	capped  [2]kmsg.Request                       // req in what versions it can be sent: without topic IDs, with them
	batches []*produceBatch                       // by topic and partition
	answers []*kmsg.ProduceResponseTopicPartition // as batches; used by read alone
}

func newProduceFlight(cfg *ProducerConfig, timeout time.Duration) *produceFlight {
	f := &produceFlight{req: kmsg.NewProduceRequest()}
	f.req.Acks = cfg.Acks.wire()
	f.req.TimeoutMillis = millis(timeout)
	f.capped = [2]kmsg.Request{
		conn.AtMost(&f.req, produceVersionTopicID-1),
		conn.AtMost(&f.req, produceVersionTopicID),
	}
	return f
}

// pack completes the batches and returns the request with them.
func (f *produceFlight) pack(compressor *recordbatch.Compressor) kmsg.Request {
	slices.SortFunc(f.batches, func(a, b *produceBatch) int {
		return cmp.Or(strings.Compare(a.queue.topic.name, b.queue.topic.name), cmp.Compare(a.queue.partition, b.queue.partition))
	})
	f.req.Topics = f.req.Topics[:0]
	ids := 1
	for _, b := range f.batches {
		if b.wire == nil {
			b.wire = b.builder.Finish(compressor)
		}
		p := kmsg.NewProduceRequestTopicPartition()
		p.Partition, p.Records = b.queue.partition, b.wire
		t := f.topic(b.queue.topic.name, b.id)
		t.Partitions = append(t.Partitions, p)
		if b.id == [16]byte{} {
			ids = 0
		}
	}
	return f.capped[ids]
}

// topic returns the entry of a topic, which is the last one or a new one.
func (f *produceFlight) topic(name string, id [16]byte) *kmsg.ProduceRequestTopic {
	n := len(f.req.Topics)
	if n > 0 && f.req.Topics[n-1].Topic == name {
		return &f.req.Topics[n-1]
	}
	if n < cap(f.req.Topics) {
		f.req.Topics = f.req.Topics[:n+1]
	} else {
		f.req.Topics = append(f.req.Topics, kmsg.NewProduceRequestTopic())
	}
	t := &f.req.Topics[n]
	t.Topic, t.TopicID, t.Partitions = name, id, t.Partitions[:0]
	return t
}

var errNotInProduceAnswer = errors.New("the broker's answer does not name the partition")

// read calls outcome once for each batch of f with what resp says of it; nil if it
// says nothing. The batches are looked up first, since an outcome may end a batch's time.
func (f *produceFlight) read(resp *kmsg.ProduceResponse, outcome func(*produceBatch, *kmsg.ProduceResponseTopicPartition)) {
	f.answers = slices.Grow(f.answers[:0], len(f.batches))[:len(f.batches)]
	clear(f.answers)
	at := 0 // answers come in the order of the request, as a rule
	for i := range resp.Topics {
		t := &resp.Topics[i]
		for j := range t.Partitions {
			k := f.find(at, resp.Version, t, t.Partitions[j].Partition)
			if k == len(f.batches) || f.answers[k] != nil {
				continue // not asked for, or named twice
			}
			f.answers[k] = &t.Partitions[j]
			at = k + 1
		}
	}
	for i, answer := range f.answers {
		outcome(f.batches[i], answer)
	}
	clear(f.answers)
}

// find returns the index of the batch that an answer means, len(f.batches) if
// there is none. It looks from the index at on first.
func (f *produceFlight) find(at int, version int16, t *kmsg.ProduceResponseTopic, partition int32) int {
	n := len(f.batches)
	for i := range n {
		k := (at + i) % n
		b := f.batches[k]
		if b.queue.partition != partition {
			continue
		}
		if version >= produceVersionTopicID && b.id == t.TopicID || version < produceVersionTopicID && b.queue.topic.name == t.Topic {
			return k
		}
	}
	return n
}

// produceTroubles gathers what went wrong in one request.
type produceTroubles struct {
	refresh bool          // the metadata may be wrong
	retried int           // partitions
	news    int           // those of them that the log is to hear of
	err     error         // of the first that is news, or else of the first; with its partition
	shrunk  *produceTopic // one whose batches turned out to be too large; nil if there is none
}

func (t *produceTroubles) retry(now time.Time, b *batcher, batch *produceBatch, err error) {
	topic, partition := batch.queue.topic.name, batch.queue.partition
	news := b.retry(now, batch, err)
	if t.err == nil || news && t.news == 0 {
		t.err = fmt.Errorf("topic %q partition %d: %w", topic, partition, err)
	}
	t.retried++
	if news {
		t.news++
	}
}

// judge gives the batch to b with what a broker says of it; nil if it says nothing.
func (t *produceTroubles) judge(now time.Time, b *batcher, batch *produceBatch, answer *kmsg.ProduceResponseTopicPartition) {
	if answer == nil {
		batch.doubt()
		t.retry(now, b, batch, errNotInProduceAnswer)
		return
	}
	if produceAppended[answer.ErrorCode] {
		batch.doubt()
	}
	remedy := remedyFor(produceRemedies, answer.ErrorCode)
	switch remedy {
	case remedyNone:
		b.written(batch, answer.BaseOffset, answer.LogAppendTime)
	case remedyRetry, remedyRefresh:
		t.refresh = t.refresh || remedy == remedyRefresh
		t.retry(now, b, batch, codeError(answer.ErrorCode))
	case remedyReset, remedyTell:
		if produceSplits[answer.ErrorCode] && len(batch.items) > 1 {
			t.shrink(now, b, batch)
			return
		}
		b.refuse(batch, refusalOf(answer))
	}
}

// shrink sends the records of a batch that is too large in smaller ones.
func (t *produceTroubles) shrink(now time.Time, b *batcher, batch *produceBatch) {
	topic := batch.queue.topic
	news, err := b.split(now, batch)
	switch {
	case err != nil:
		b.refuse(batch, produceRefusal{err: err})
	case news:
		t.shrunk = topic
	}
}

func refusalOf(answer *kmsg.ProduceResponseTopicPartition) produceRefusal {
	refusal := produceRefusal{err: codeError(answer.ErrorCode), message: deref(answer.ErrorMessage)}
	for _, r := range answer.ErrorRecords {
		if refusal.records == nil {
			refusal.records = make(map[int]string)
		}
		refusal.records[int(r.RelativeOffset)] = deref(r.ErrorMessage)
	}
	return refusal
}
