package client

import (
	"math"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/conn"
)

// fetchRequest is the Fetch request of one fetcher, used again and again, and
// what was asked with it.
type fetchRequest struct {
	req    kmsg.FetchRequest
	capped [2]kmsg.Request // req in what versions it can be sent: without topic IDs, with them
	ids    bool            // the ID of every topic is known
	asked  map[partitionKey]askedPartition
	byName map[string]int   // where in req.Topics
	byID   map[[16]byte]int // and those whose ID is known
}

// askedPartition is what a Fetch asked of one partition. The answer is void if
// owned is of an old assignment by then, or has another next offset.
type askedPartition struct {
	owned    *ownedPartition
	question uint64
	offset   int64
}

func newFetchRequest(cfg *ConsumerConfig) *fetchRequest {
	r := &fetchRequest{
		req:    kmsg.NewFetchRequest(),
		asked:  make(map[partitionKey]askedPartition),
		byName: make(map[string]int),
		byID:   make(map[[16]byte]int),
	}
	r.req.MaxWaitMillis = millis(cfg.FetchMaxWait)
	r.req.MinBytes = atMostInt32(cfg.FetchMinBytes)
	r.req.SessionEpoch = -1 // a full fetch, which opens no session (KIP-227)
	r.capped = [2]kmsg.Request{
		conn.AtMost(&r.req, fetchVersionTopicID-1),
		conn.AtMost(&r.req, fetchVersionMax),
	}
	return r
}

// reset makes r ask for nothing yet, and for at most maxBytes.
func (r *fetchRequest) reset(maxBytes int) {
	r.req.MaxBytes = atMostInt32(maxBytes)
	r.req.Topics = r.req.Topics[:0]
	r.ids = true
	clear(r.asked)
	clear(r.byName)
	clear(r.byID)
}

// add asks for p from its next offset on.
func (r *fetchRequest) add(p *ownedPartition, maxBytes int) {
	t := r.topic(p)
	q := kmsg.NewFetchRequestTopicPartition()
	q.Partition = p.key.partition
	q.CurrentLeaderEpoch = p.leaderEpoch // KIP-320
	q.FetchOffset = p.fetched
	q.PartitionMaxBytes = atMostInt32(maxBytes)
	t.Partitions = append(t.Partitions, q)
	r.asked[p.key] = askedPartition{owned: p, question: p.ask(), offset: p.fetched}
}

// topic returns the entry of p's topic. The broker goes through partitions in the
// order of the request until the answer is full, so topics come in the order of
// their first partition.
func (r *fetchRequest) topic(p *ownedPartition) *kmsg.FetchRequestTopic {
	if i, ok := r.byName[p.key.topic]; ok {
		return &r.req.Topics[i]
	}
	n := len(r.req.Topics)
	r.byName[p.key.topic] = n
	if n < cap(r.req.Topics) {
		r.req.Topics = r.req.Topics[:n+1]
	} else {
		r.req.Topics = append(r.req.Topics, kmsg.NewFetchRequestTopic())
	}
	t := &r.req.Topics[n]
	t.Topic, t.TopicID, t.Partitions = p.key.topic, p.topicID, t.Partitions[:0]
	if p.topicID != [16]byte{} {
		r.byID[p.topicID] = n
	} else {
		r.ids = false
	}
	return t
}

// request returns what to send.
func (r *fetchRequest) request() kmsg.Request {
	if r.ids {
		return r.capped[1]
	}
	return r.capped[0]
}

// name returns the topic that an answer means; "" if it was not asked for.
func (r *fetchRequest) name(id [16]byte, name string) string {
	i, ok := r.byName[name]
	if name == "" {
		i, ok = r.byID[id]
	}
	if !ok {
		return ""
	}
	return r.req.Topics[i].Topic
}

func millis(d time.Duration) int32 { return int32(min(d.Milliseconds(), math.MaxInt32)) }

func atMostInt32(n int) int32 { return int32(min(n, math.MaxInt32)) }
