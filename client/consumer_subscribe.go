package client

import (
	"cmp"
	"fmt"
)

// Subscribe replaces ConsumerConfig.Topics and ConsumerConfig.Patterns: the group is told in
// a rebalance that begins at once, or as soon as one that is under way is over.
// Subscribe does not wait for it. Partitions of topics that stay are kept as in any other
// rebalance, with what was read of them. Those of other topics are read until the
// rebalance takes them back, and what is done of them is committed then.
//
// The error names every problem of topics and patterns, and nothing has changed then; it is
// ErrConsumerClosed, or why the member has ended, if the Consumer can read nothing
// any more.
func (c *Consumer) Subscribe(topics, patterns []string) error {
	wanted, err := newSubscription(topics, patterns, c.cfg.InternalTopics)
	if err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	if err := c.ended(); err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	if c.translator.subscribe(wanted) {
		c.group.Rejoin("the subscription has changed")
	}
	nudge(c.wake) // named topics may be there, or not
	return nil
}

// Rejoin asks for a rebalance of the group (KIP-568), for example because what a
// user's own Assignor goes by has changed. It does not wait; calls before it begins are one. The
// broker and its logs are given why, up to 255 bytes: it must hold no user data. The group
// may find that nothing has changed and keep its generation, unless this member
// leads it. It returns ErrConsumerClosed, or why the member has ended, if it has.
func (c *Consumer) Rejoin(why string) error {
	if err := c.ended(); err != nil {
		return fmt.Errorf("rejoin: %w", err)
	}
	c.group.Rejoin(cmp.Or(why, "the application has asked for it"))
	return nil
}

// ended returns why the member can do nothing any more, nil while it can.
func (c *Consumer) ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.final == nil && !c.closing.IsZero() {
		return ErrConsumerClosed
	}
	return c.final
}
