package client

import (
	"context"
	"fmt"
	"slices"
)

// interest is what the member wants to read, and what it has asked its group
// for. The translator's mutex guards it.
type interest struct {
	*subscription
	since    uint64   // number of the first metadata that has what matches the patterns
	release  func()   // ends the watch over all that
	closed   bool     // it has ended for good
	topics   []string // as in the latest JoinGroup, ascending
	chosen   bool     // there was one
	choosing bool     // they are being chosen anew
	told     bool     // another round was asked for
	nothing  bool     // nothing matches the patterns, and the log says so
}

// grows reports whether c has topics that match, and were not asked for. Topics that
// are gone are no reason for a round of their own: they drop out in the next one, which the leader
// of the group wants anyway, and a broker that has just started does not know of them.
func (i *interest) grows(c *cluster) bool {
	if len(i.patterns) == 0 || !i.chosen || i.choosing || i.told || c.number < i.since {
		return false
	}
	for name, t := range c.topics {
		if _, asked := slices.BinarySearch(i.topics, name); !asked && t.count() > 0 && i.matches(name, t.internal) {
			return true
		}
	}
	return false
}

// subscribe makes s what the member wants to read from its next round on. It
// reports whether that is news.
func (t *translator) subscribe(s *subscription) bool {
	unname := t.cl.watch(s.topics)
	since, unmatch := t.cl.watchPatterns(s)
	release := func() { unname(); unmatch() }
	t.mu.Lock()
	before := t.interest
	news := !before.closed && !s.equal(before.subscription)
	if news {
		t.interest = interest{subscription: s, since: since, release: release, topics: before.topics, chosen: before.chosen, told: true}
		release = before.release
	}
	t.mu.Unlock()
	if release != nil {
		release()
	}
	return news
}

// unsubscribe ends the watch over what the member wants to read, for good.
func (t *translator) unsubscribe() {
	t.mu.Lock()
	t.interest.closed = true
	release := t.interest.release
	t.mu.Unlock()
	release()
}

// named returns the topics that the member wants by their names.
func (t *translator) named() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.interest.subscription.topics
}

// choose returns the topics to ask the group for, and remembers them: a round is
// wanted when there are more. What the metadata shows meanwhile is compared with
// them, not with those before.
func (t *translator) choose(ctx context.Context) ([]string, error) {
	t.mu.Lock()
	t.interest.choosing = true
	s, since := t.interest.subscription, t.interest.since
	t.mu.Unlock()
	c := t.cl.snapshot()
	var err error
	if len(s.patterns) > 0 {
		c, err = t.known(ctx, since)
	}
	topics, matching := s.resolve(c)

	t.mu.Lock()
	i := &t.interest
	i.choosing = false
	if err == nil {
		i.topics, i.chosen, i.told = topics, true, i.subscription != s
		t.seen = nil
	}
	before := i.nothing
	i.nothing = err == nil && len(s.patterns) > 0 && matching == 0
	after := i.nothing
	t.mu.Unlock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("looking for topics that match the patterns: %w", err)
	case after && !before:
		t.log.Warn("no topic matches the patterns, waiting for one", "patterns", s.texts)
	case before && !after:
		t.log.Info("there are topics that match the patterns now", "topics", matching)
	}
	return topics, nil
}

// known returns metadata that has what matches the patterns: of the last second,
// since a member that joins because another one has seen a new topic should know of it too, or each
// member would cause a round of its own; or older, if brokers do not answer.
func (t *translator) known(ctx context.Context, since uint64) (*cluster, error) {
	c := t.cl.snapshot()
	if c.number < since {
		return t.cl.await(ctx, func(c *cluster) bool { return c.number >= since })
	}
	patience, cancel := context.WithTimeoutCause(ctx, recentMetadata, errNoAnswerSoon)
	defer cancel()
	if newer, err := t.cl.recent(patience, nil); err == nil {
		return newer, nil
	}
	return c, context.Cause(ctx)
}

var errNoAnswerSoon = fmt.Errorf("no broker has answered within %v", recentMetadata)

// wants reports whether the topic may be read: it was asked for, or it would be if
// it were known already.
func (t *translator) wants(topic string) bool {
	known, _ := t.cl.snapshot().topic(topic)
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, asked := slices.BinarySearch(t.interest.topics, topic); asked {
		return true
	}
	return t.interest.matches(topic, known.internal)
}
