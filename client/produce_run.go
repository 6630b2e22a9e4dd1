package client

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// partitions returns how many partitions the topic has, waiting for that to be
// known.
func (p *Producer) partitions(ctx context.Context, name string) (int32, error) {
	if _, ok := (*p.watched.Load())[name]; ok {
		if t, ok := p.cl.snapshot().topic(name); ok && len(t.partitions) > 0 {
			return int32(len(t.partitions)), nil
		}
	}
	return p.meet(ctx, name)
}

// meet makes the topic one that is watched and described, waiting for it to
// exist.
func (p *Producer) meet(ctx context.Context, name string) (int32, error) {
	if err := p.watch(name); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, p.cfg.DeliveryTimeout, ErrDeliveryTimeout)
	defer cancel()
	defer context.AfterFunc(p.life, cancel)()
	c, err := p.cl.await(ctx, func(c *cluster) bool {
		t, ok := c.topic(name)
		return ok && (len(t.partitions) > 0 || hopeless[t.err])
	})
	t, known := p.cl.snapshot().topic(name)
	if err == nil {
		t, known = c.topic(name)
	}
	switch {
	case err == nil && len(t.partitions) > 0:
		return p.describe(&t), nil
	case p.life.Err() != nil:
		err = context.Cause(p.life)
	case known && t.err != 0 && err != nil:
		err = fmt.Errorf("%w: %w", codeError(t.err), err)
	case known && t.err != 0:
		err = codeError(t.err)
	}
	return 0, &ProduceError{Topic: name, Partition: AnyPartition, Err: err}
}

// hopeless are the codes of a topic for which waiting does not help.
var hopeless = map[int16]bool{
	kerr.InvalidTopicException.Code:    true,
	kerr.TopicAuthorizationFailed.Code: true,
}

// learn asks anew for the partitions of the topic.
func (p *Producer) learn(ctx context.Context, name string) (int32, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.cfg.DeliveryTimeout, ErrDeliveryTimeout)
	defer cancel()
	c, err := p.cl.fresh(ctx, []string{name})
	if err != nil {
		return 0, &ProduceError{Topic: name, Partition: AnyPartition, Err: err}
	}
	t, _ := c.topic(name)
	return p.describe(&t), nil
}

// watch keeps the topic in the metadata until the Producer ends.
func (p *Producer) watch(name string) error {
	release := p.cl.watch([]string{name})
	p.mu.Lock()
	watched := *p.watched.Load()
	_, known := watched[name]
	final := p.final
	if !known && final == nil {
		watched = maps.Clone(watched)
		watched[name] = release
		p.watched.Store(&watched)
	}
	p.mu.Unlock()
	if known || final != nil {
		release()
	}
	if final != nil {
		return &ProduceError{Topic: name, Partition: AnyPartition, Err: final}
	}
	return nil
}

// describe tells the batcher of a topic, and returns how many partitions that
// knows.
func (p *Producer) describe(t *topic) int32 {
	p.mu.Lock()
	defer p.unlock()
	p.batcher.describe(t)
	return int32(len(p.batcher.topics[t.name].queues))
}

// unlock releases the mutex and wakes whoever has to do with what has changed
// while it was held.
func (p *Producer) unlock() {
	var (
		few   [4]chan struct{}
		wakes = few[:0]
		b     = p.batcher
	)
	for _, node := range b.stirred {
		if s := p.senders[node]; s != nil {
			wakes = append(wakes, s.wake)
		} else {
			wakes = append(wakes, p.wake)
		}
	}
	b.stirred = b.stirred[:0]
	if len(b.finished) > 0 {
		wakes = append(wakes, p.finished)
	}
	var progress chan struct{}
	if b.freed {
		progress, p.progress, b.freed = p.progress, nil, false
	}
	p.mu.Unlock()
	for _, wake := range wakes {
		nudge(wake)
	}
	if progress != nil {
		close(progress)
	}
}

// run is the life of the Producer: it watches the cluster and the deadlines,
// and starts a sender for each broker that is needed. At the end it gives up what is left.
func (p *Producer) run() {
	var callbacks, senders sync.WaitGroup
	calls, noMore := context.WithCancel(context.WithoutCancel(p.life))
	callbacks.Go(func() { p.callBack(calls) })
	p.keep(&senders)
	senders.Wait()
	p.giveUp()
	noMore()
	callbacks.Wait()
	for _, release := range *p.watched.Load() {
		release()
	}
}

// keep is run until the Producer ends.
func (p *Producer) keep(senders *sync.WaitGroup) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		changed := p.cl.changed()
		next, leaderless := p.look(senders)
		timer.Reset(time.Until(next))
		if leaderless {
			p.cl.meta.ask("a partition to produce to has no leader", true)
		}
		select {
		case <-changed:
		case <-p.wake:
		case <-timer.C:
		case <-p.life.Done():
			return
		}
	}
}

// look applies what has changed, and returns the next deadline of a batch, or
// one that no later batch can have before.
func (p *Producer) look(senders *sync.WaitGroup) (next time.Time, leaderless bool) {
	c := p.cl.snapshot()
	now := time.Now()
	p.mu.Lock()
	defer p.unlock()
	for name := range p.batcher.topics {
		if t, known := c.topic(name); known {
			p.batcher.describe(&t)
		}
	}
	next, ok := p.batcher.expire(now)
	if !ok {
		next = now.Add(p.cfg.DeliveryTimeout)
	}
	for node, queues := range p.batcher.ready {
		if node >= 0 && len(queues) > 0 && p.senders[node] == nil {
			s := newProduceSender(p, node)
			p.senders[node] = s
			senders.Go(s.run)
		}
	}
	return next, len(p.batcher.ready[-1]) > 0
}

// giveUp fails what is left when nobody sends any more.
func (p *Producer) giveUp() {
	cause := context.Cause(p.life)
	p.mu.Lock()
	defer p.unlock()
	if p.final == nil {
		p.final = cause
	}
	p.lost = p.batcher.abandonAll(cause)
}

// callBack calls the callbacks until there are no more of them after ctx has
// ended.
func (p *Producer) callBack(ctx context.Context) {
	var batches []*produceBatch
	for {
		ended := ctx.Err() != nil
		p.mu.Lock()
		batches = p.batcher.takeFinished(batches)
		p.unlock()
		if len(batches) == 0 {
			if ended {
				return
			}
			select {
			case <-p.finished:
			case <-ctx.Done():
			}
			continue
		}
		for _, batch := range batches {
			p.report(batch)
			batch.call()
		}
		p.mu.Lock()
		for _, batch := range batches {
			p.batcher.retire(batch)
		}
		p.unlock()
		for _, batch := range batches {
			batch.recycle()
		}
		clear(batches)
	}
}

// report tells the log of records that nobody else will hear of.
func (p *Producer) report(batch *produceBatch) {
	if batch.refusal.err != nil && batch.unheard() {
		p.cl.log.Warn("records were not written", "records", len(batch.items), "error", batch.failure(0))
	}
}
