package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/musterkafka/muster/groupmember"
)

// owner is the Consumer as the member sees it (driver.Owner).
type owner struct{ c *Consumer }

// Assigned implements driver.Owner.
func (o owner) Assigned(generation int32, added, owned groupmember.Partitions) {
	c := o.c
	c.translator.assigned(generation, owned)
	if f := c.cfg.Trace.Assigned; f != nil {
		f(generation, added, owned)
	}
	c.mu.Lock()
	c.suspended = false
	c.owned.add(added)
	c.mu.Unlock()
	nudge(c.wake)
	c.alert()
}

// Suspended implements driver.Owner.
func (o owner) Suspended() { o.suspend(true) }

// Resumed implements driver.Owner.
func (o owner) Resumed() { o.suspend(false) }

// Rebalanced implements driver.Owner.
func (o owner) Rebalanced(r *groupmember.Rebalance) {
	o.c.mu.Lock()
	o.c.rebalance = r
	o.c.mu.Unlock()
	if f := o.c.cfg.Trace.Rebalanced; f != nil {
		f(r)
	}
}

func (o owner) suspend(suspended bool) {
	o.c.mu.Lock()
	o.c.suspended = suspended
	o.c.mu.Unlock()
	o.c.alert()
}

// Revoke implements driver.Owner. From its first step on nothing more of the
// partitions is handed out; then the body of the loop may finish what it has in
// hand, and what is done is committed.
func (o owner) Revoke(ctx context.Context, partitions groupmember.Partitions, lost bool) {
	c := o.c
	<-c.started
	c.mu.Lock()
	going := c.owned.find(partitions)
	for _, p := range going {
		p.going = true
	}
	c.buffer.drop(func(p *ownedPartition) bool { return p.going })
	if lost {
		c.owned.remove(partitions)
	}
	leased := c.leased(going)
	c.mu.Unlock()
	c.alert()
	nudge(c.wake)

	if leased != nil {
		c.awaitBody(ctx, leased)
	}
	if !lost {
		c.commitBeforeRevoke(ctx, going)
	}
	c.mu.Lock()
	c.owned.remove(partitions)
	lost = lost || c.suspended // they may have gone while the body or the commit took its time
	c.mu.Unlock()
	nudge(c.wake)
	if f := c.cfg.Trace.Revoked; f != nil && len(going) > 0 { // else it was told when they were taken back
		f(asPartitions(going), lost)
	}
}

// leased returns a channel that is closed when the application has let go of
// whichever of the partitions it has in hand; nil if it has none of them.
func (c *Consumer) leased(parts []*ownedPartition) <-chan struct{} {
	for _, p := range parts {
		if c.lease.owned != nil && c.lease.owned.key == p.key { // perhaps of before it started over
			return c.lease.wait()
		}
	}
	return nil
}

// awaitBody waits until the body of the loop is done with what it has in hand, or
// ctx ends. Once Close has begun, which may be in the middle of this, it leaves a part of the
// time to commit and leave.
func (c *Consumer) awaitBody(ctx context.Context, leased <-chan struct{}) {
	select {
	case <-leased:
		return
	case <-ctx.Done():
		return
	case <-c.closeBegun:
	}
	patience := time.NewTimer(time.Until(c.closing) / 4 * 3)
	defer patience.Stop()
	select {
	case <-leased:
	case <-ctx.Done():
	case <-patience.C:
		c.log.Warn("closing without waiting any longer for the body of the loop; its record is not done")
	}
}

// commitBeforeRevoke commits what is done of partitions that are about to be
// given up.
func (c *Consumer) commitBeforeRevoke(ctx context.Context, going []*ownedPartition) {
	err := c.commit(ctx, going)
	if err == nil {
		return
	}
	err = fmt.Errorf("before partitions are given up: %w", err)
	c.trouble(err)
	c.log.Warn("what was done since the last commit will be done again by others", "error", err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing.IsZero() {
		c.unsaved = errors.Join(c.unsaved, err)
	}
}

// trouble tells the trace of an error that the Consumer goes on with.
func (c *Consumer) trouble(err error) {
	if f := c.cfg.Trace.Error; f != nil {
		f(err)
	}
}
