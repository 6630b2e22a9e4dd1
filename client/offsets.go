package client

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// What ListOffsets calls the two ends of a partition.
const (
	latestTimestamp   = -1
	earliestTimestamp = -2
)

// lookUp asks where the group has got to in parts. It gives up with the
// Consumer; a partition that is taken back meanwhile is not touched by the
// answer.
func (c *Consumer) lookUp(parts []*ownedPartition) {
	results, err := c.group.LookUp(c.life, asPartitions(parts))
	if context.Cause(c.life) != nil {
		return
	}
	found := make(map[partitionKey]groupmember.OffsetResult, len(results))
	for _, r := range results {
		found[partitionKey{r.Offset.Topic, r.Offset.Partition}] = r
	}
	var t troubles
	c.mu.Lock()
	for _, p := range parts {
		if !c.owned.owns(p) || p.going {
			continue
		}
		r, ok := found[p.key]
		switch {
		case err != nil:
			t.retry(p, err)
		case !ok:
			t.retry(p, errNotInAnswer)
		case r.Code == kerr.IllegalGeneration.Code:
			p.failed(time.Now()) // it is lost, and we are about to be told
		case r.Code != 0:
			c.treat(&t, p, remedyFor(lookUpRemedies, r.Code), -1, codeError(r.Code))
		case r.Offset.Next < 0:
			p.restart(c.cfg.Reset)
		default:
			p.startAt(mark{r.Offset.Next, r.Offset.LeaderEpoch}, true)
		}
	}
	c.mu.Unlock()
	c.conclude("cannot look up the committed offset, trying on", &t)
}

// listOffsets asks node, the leader of parts, for the end of each at which it is to start.
func (c *Consumer) listOffsets(node int32, parts []*ownedPartition) {
	c.mu.Lock()
	req := listOffsetsRequest(parts)
	c.mu.Unlock()
	resp, err := c.cl.requestNode(c.life, node, req)
	if context.Cause(c.life) != nil {
		return
	}
	found := make(map[partitionKey]kmsg.ListOffsetsResponseTopicPartition)
	if err == nil {
		for _, t := range resp.(*kmsg.ListOffsetsResponse).Topics {
			for _, p := range t.Partitions {
				found[partitionKey{t.Topic, p.Partition}] = p
			}
		}
	}
	var t troubles
	c.mu.Lock()
	for _, p := range parts {
		if !c.owned.owns(p) || p.going || p.stage != stageReset {
			continue
		}
		r, ok := found[p.key]
		remedy := remedyFor(listOffsetsRemedies, r.ErrorCode)
		switch {
		case err != nil:
			t.refresh = true // the leader may be another one by now
			t.retry(p, err)
		case !ok:
			t.retry(p, errNotInAnswer)
		case remedy == remedyNone && r.Offset < 0:
			t.retry(p, fmt.Errorf("broker %d names no %v offset", node, p.reset))
		case remedy == remedyNone:
			p.startAt(mark{r.Offset, r.LeaderEpoch}, false)
		default:
			c.treat(&t, p, remedy, -1, codeError(r.ErrorCode))
		}
	}
	c.mu.Unlock()
	c.conclude("cannot find where to start, trying on", &t)
}

// listOffsetsRequest is called with the mutex held.
func listOffsetsRequest(parts []*ownedPartition) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	for _, p := range parts { // in the order of topics
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != p.key.topic {
			t := kmsg.NewListOffsetsRequestTopic()
			t.Topic = p.key.topic
			req.Topics = append(req.Topics, t)
		}
		q := kmsg.NewListOffsetsRequestTopicPartition()
		q.Partition = p.key.partition
		q.CurrentLeaderEpoch = p.leaderEpoch // KIP-320
		q.Timestamp = earliestTimestamp
		if p.reset == ResetLatest {
			q.Timestamp = latestTimestamp
		}
		t := &req.Topics[len(req.Topics)-1]
		t.Partitions = append(t.Partitions, q)
	}
	return req
}

// troubles is what went wrong in one answer, to be said once the mutex is free.
type troubles struct {
	again   bool // there is a new time at which to ask for something
	refresh bool
	alert   bool
	news    []trouble // what was not told yet
}

type trouble struct {
	key partitionKey
	err error
}

// any reports whether there is something to conclude.
func (t *troubles) any() bool { return t.again || t.refresh || t.alert || len(t.news) > 0 }

// retry has p asked about again after a while.
func (t *troubles) retry(p *ownedPartition, err error) {
	t.again = true
	p.failed(time.Now())
	if p.said.first(err) {
		t.news = append(t.news, trouble{p.key, err})
	}
}

// treat does what r says about an error of p. It is called with the mutex held.
func (c *Consumer) treat(t *troubles, p *ownedPartition, r remedy, offset int64, err error) {
	switch r {
	case remedyRetry:
		t.retry(p, err)
	case remedyRefresh:
		t.refresh = true
		t.retry(p, err)
	case remedyReset:
		c.reset(t, p, offset, err)
	case remedyTell:
		t.alert = true
		c.tell(p, offset, -1, err)
	case remedyNone:
		p.answered()
	}
}

// reset starts p over, since the leader has refused offset. What has arrived of p is
// for the application all the same, and comes first: it could not be had again.
func (c *Consumer) reset(t *troubles, p *ownedPartition, offset int64, err error) {
	now := time.Now()
	t.again = true
	if p.done.next < offset {
		p.failed(now)
		return
	}
	if p.resets == 0 {
		t.news = append(t.news, trouble{p.key, fmt.Errorf("offset %d is not there any more, going on at the %v one: %w", offset, c.cfg.Reset, err)})
	}
	q := c.startOver(p)
	q.resets, q.retryAt = p.resets+1, now.Add(retryBackoff.after(p.resets))
}

// startOver makes p look for an end of the partition, and what was read of it
// so far count for nothing: offsets may begin anew. It returns what takes p's place.
func (c *Consumer) startOver(p *ownedPartition) *ownedPartition {
	c.buffer.drop(func(q *ownedPartition) bool { return q == p })
	q := c.owned.replace(p)
	q.restart(c.cfg.Reset)
	return q
}

// conclude does and says what is left to do after an answer.
func (c *Consumer) conclude(what string, t *troubles) {
	if t.refresh {
		c.cl.refresh("a partition is not where it was")
	}
	if len(t.news) > 0 {
		first := t.news[0]
		c.log.Warn(what, "topic", first.key.topic, "partition", first.key.partition, "error", first.err, "partitions", len(t.news))
	}
	for _, n := range t.news {
		c.trouble(fmt.Errorf("topic %q partition %d: %w", n.key.topic, n.key.partition, n.err))
	}
	if t.alert {
		c.alert()
	}
	nudge(c.wake)
}

var errNotInAnswer = fmt.Errorf("the broker's answer does not name the partition")
