package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/groupmember/driver"
)

// Commit commits everything that is done, now, and returns when the group's
// coordinator has it or ctx has ended. In the body of a loop the current record is
// not done yet; see Done. The error names the partitions that could not be
// committed.
func (c *Consumer) Commit(ctx context.Context) error {
	c.mu.Lock()
	final := c.final
	all := c.owned.all()
	c.mu.Unlock()
	if final != nil {
		return fmt.Errorf("commit: %w", final)
	}
	return c.commit(ctx, all)
}

// commit commits what is done of parts. Commits may overlap: the member keeps
// them in order.
func (c *Consumer) commit(ctx context.Context, parts []*ownedPartition) error {
	offsets := c.uncommitted(parts)
	if len(offsets) == 0 {
		return nil
	}
	results, err := c.group.Commit(ctx, offsets)
	if err != nil {
		return fmt.Errorf("commit of %s: %w", groupmember.DescribePartitions(partitionsOf(offsets)), err)
	}
	var problems []error
	var accepted []groupmember.Offset
	byKey := make(map[partitionKey]*ownedPartition, len(parts))
	for _, p := range parts { // not c.owned: a later assignment knows nothing of this
		byKey[p.key] = p
	}
	c.mu.Lock()
	for _, r := range results {
		key := partitionKey{r.Offset.Topic, r.Offset.Partition}
		if r.Code != 0 {
			problems = append(problems, fmt.Errorf("commit offset %d of topic %q partition %d: %w",
				r.Offset.Next, key.topic, key.partition, codeError(r.Code)))
			continue
		}
		accepted = append(accepted, r.Offset)
		if p := byKey[key]; p != nil {
			p.commit(r.Offset.Next)
		}
	}
	c.mu.Unlock()
	if f := c.cfg.Trace.Committed; f != nil && len(accepted) > 0 {
		f(accepted)
	}
	return errors.Join(problems...)
}

func partitionsOf(offsets []groupmember.Offset) groupmember.Partitions {
	set := make(groupmember.Partitions)
	for _, o := range offsets { // in order
		set[o.Topic] = append(set[o.Topic], o.Partition)
	}
	return set
}

// uncommitted returns what is done of parts and not committed, as far as they
// are still owned.
func (c *Consumer) uncommitted(parts []*ownedPartition) []groupmember.Offset {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lease.settle()
	var offsets []groupmember.Offset
	for _, p := range parts {
		if p.stage != stageFetch || !c.owned.owns(p) {
			continue
		}
		if m, ok := p.uncommitted(); ok {
			offsets = append(offsets, groupmember.Offset{
				Topic: p.key.topic, Partition: p.key.partition, Next: m.next, LeaderEpoch: m.epoch,
			})
		}
	}
	return offsets
}

// commitTicks says when to commit what is done: every CommitInterval, or never.
func (c *Consumer) commitTicks() (ticks <-chan time.Time, stop func()) {
	if c.cfg.CommitInterval < 0 {
		return nil, func() {}
	}
	ticker := time.NewTicker(c.cfg.CommitInterval)
	return ticker.C, ticker.Stop
}

// commitDone commits everything that is done, and tells of a failure that was not
// told before.
func (c *Consumer) commitDone(told *said) {
	c.mu.Lock()
	all := c.owned.all()
	c.mu.Unlock()
	err := c.commit(c.life, all)
	switch {
	case err == nil:
		told.well()
	case context.Cause(c.life) == nil && told.first(err):
		c.trouble(err)
		if !c.over(err) {
			c.log.Warn("cannot commit, trying on", "error", err)
		}
	}
}

// over reports whether err says that the partitions, or the member, are not there
// any more: the log has that from the member itself, and it is not tried again.
func (c *Consumer) over(err error) bool {
	failure, ok := errors.AsType[*driver.Error](err)
	return ok && (failure.Kind == groupmember.Forfeited || failure.Kind == groupmember.Closed)
}
