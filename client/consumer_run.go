package client

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// run keeps everything that is owned moving: it looks up where to start, asks
// leaders for offsets, sees to it that every leader has a fetcher, and has what is
// done committed, one commit at a time. It ends with life, and with it all that it has started.
func (c *Consumer) run() {
	var tasks sync.WaitGroup
	defer tasks.Wait()
	tasks.Go(c.awaitBootstrap)
	life := time.NewTicker(c.pollCheck())
	defer life.Stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	ticks, stop := c.commitTicks()
	defer stop()
	due, committed := ticks, make(chan struct{}, 1)
	var told said // of commits, which are made one at a time
	member := c.group.Done()
	var signs uint64
	for {
		changed := c.cl.changed()
		timer.Reset(c.dispatch(&tasks))
		select {
		case <-c.life.Done():
			return
		case <-changed:
		case <-c.wake:
		case <-timer.C:
		case <-life.C:
			signs = c.showLife(signs)
		case <-due:
			due = nil
			tasks.Go(func() {
				c.commitDone(&told)
				committed <- struct{}{}
			})
		case <-committed:
			due = ticks
		case <-member:
			member, ticks, due = nil, nil, nil // nobody is there to commit to
			c.finalise(c.group.Err())
		case <-c.cl.life.Done():
			c.finalise(context.Cause(c.cl.life))
			<-c.life.Done() // there is nothing that could be asked any more
			return
		}
	}
}

// idle is how long run sleeps when nothing is to happen at a known time.
const idle = time.Hour

// dispatch starts what is due and returns when to come back.
func (c *Consumer) dispatch(tasks *sync.WaitGroup) time.Duration {
	cluster := c.cl.snapshot()
	now := time.Now()
	names := c.translator.named()
	c.mu.Lock()
	recreated := c.owned.route(cluster)
	for _, p := range recreated {
		c.startOver(p)
	}
	w := c.owned.plan(now)
	for _, p := range w.refused {
		c.tell(p, -1, -1, ErrNoOffset)
	}
	fetchers := c.assignFetchers(tasks, w.fetch)
	notices := c.topics.update(cluster, names)
	c.mu.Unlock()

	for _, f := range fetchers {
		f.nudge()
	}
	c.announce(recreated, notices)
	c.translator.changed(cluster, c.group.Rejoin)
	if w.leaderless {
		c.cl.refresh("a partition that is read has no leader")
	}
	if len(w.refused) > 0 {
		c.alert()
	}
	if len(w.lookUp) > 0 {
		tasks.Go(func() { c.lookUp(w.lookUp) })
	}
	for node, parts := range w.reset {
		tasks.Go(func() { c.listOffsets(node, parts) })
	}
	if w.next.IsZero() {
		return idle
	}
	return time.Until(w.next)
}

// tell leaves an error about p for the application, behind what has arrived of
// p before. It is called with the mutex held.
func (c *Consumer) tell(p *ownedPartition, offset, resume int64, err error) {
	p.tell()
	c.buffer.push(&chunk{owned: p, err: partitionError(p, offset, resume, err)})
}

// announce says what has become of topics.
func (c *Consumer) announce(recreated []*ownedPartition, notices []topicNotice) {
	for _, p := range recreated {
		c.log.Warn("topic was deleted and created again; reading it from the "+c.cfg.Reset.String()+" offset",
			"topic", p.key.topic, "partition", p.key.partition)
	}
	for _, n := range notices {
		switch {
		case n.err == nil:
			c.log.Info("topic can be read now", "topic", n.topic)
		case errors.Is(n.err, kerr.UnknownTopicOrPartition):
			c.log.Warn("topic does not exist, waiting for it", "topic", n.topic)
		default:
			c.fail(&TopicError{Topic: n.topic, Err: n.err})
		}
	}
}

// fail makes the loop end with err; the next loop goes on. While there is no loop
// only the newest about each topic is kept.
func (c *Consumer) fail(err error) {
	c.trouble(err)
	topic := topicOf(err)
	c.mu.Lock()
	c.failures = slices.DeleteFunc(c.failures, func(before error) bool { return topicOf(before) == topic })
	c.failures = append(c.failures, err)
	c.mu.Unlock()
	c.alert()
}

// topicOf returns the topic that err is about; "" if it is about none.
func topicOf(err error) string {
	if e, ok := errors.AsType[*TopicError](err); ok {
		return e.Topic
	}
	return ""
}

// finalise makes every loop end with err from now on, if it is one.
func (c *Consumer) finalise(err error) {
	if err == nil {
		return
	}
	c.mu.Lock()
	if c.final == nil && c.closing.IsZero() {
		c.final = err
	}
	c.mu.Unlock()
	c.alert()
}

// awaitBootstrap tells the loop that no broker answers, as often as the bootstrap
// timeout passes, until one does.
func (c *Consumer) awaitBootstrap() {
	for {
		_, err := c.cl.await(c.life, func(*cluster) bool { return true })
		if err == nil || context.Cause(c.life) != nil || context.Cause(c.cl.life) != nil {
			return
		}
		c.fail(err)
	}
}

// pollCheck is how often to see whether the application shows signs of life: a
// few times in the time that it may work on one record.
func (c *Consumer) pollCheck() time.Duration {
	timeout := c.cfg.Classic.RebalanceTimeout
	if timeout == 0 {
		timeout = defaultRebalanceTimeout
	}
	return max(timeout/8, time.Millisecond)
}

// showLife tells the member that the application is alive if it waits for records
// or has taken any since it was last looked at (KIP-62). Within a batch only this
// tells, so that handing out a record costs nothing.
func (c *Consumer) showLife(before uint64) uint64 {
	c.mu.Lock()
	signs, waiting := uint64(c.lease.next.Load()), c.waiting
	c.mu.Unlock()
	if waiting || signs != before {
		c.group.Asked()
	}
	return signs
}
