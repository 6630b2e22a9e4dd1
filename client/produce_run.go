package client

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// knownTopic is a topic that is watched, and described to the batcher.
type knownTopic struct {
	partitions atomic.Int32 // that the batcher has queues for
	release    func()       // of the watch
}

// longestTopicName is the limit of Kafka. Brokers refuse longer names, and what is far
// longer does not fit into a request.
const longestTopicName = 249

// partitions returns how many partitions the topic has, waiting for it to exist
// if it is not known yet.
func (p *Producer) partitions(ctx context.Context, name string) (int32, error) {
	if known := (*p.topics.Load())[name]; known != nil {
		return known.partitions.Load(), nil
	}
	if name == "" || len(name) > longestTopicName {
		return 0, &ProduceError{
			Topic: name[:min(len(name), longestTopicName)], Partition: AnyPartition,
			Err: fmt.Errorf("%w: a name has 1 to %d characters, this one has %d", kerr.InvalidTopicException, longestTopicName, len(name)),
		}
	}
	release := p.cl.watch([]string{name})
	if err := p.await(ctx, name); err != nil {
		release()
		return 0, &ProduceError{Topic: name, Partition: AnyPartition, Err: err}
	}
	return p.meet(name, release), nil
}

// await waits until the watched topic has partitions.
func (p *Producer) await(ctx context.Context, name string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(p.life, func() { cancel(context.Cause(p.life)) })()
	ctx, stop := context.WithTimeoutCause(ctx, p.cfg.DeliveryTimeout, ErrDeliveryTimeout)
	defer stop()
	var t topic // as it was looked at last
	_, err := p.cl.await(ctx, func(c *cluster) bool {
		t, _ = c.topic(name)
		return len(t.partitions) > 0 || hopeless[t.err]
	})
	switch {
	case err == nil && len(t.partitions) > 0:
		return nil
	case err == nil:
		return codeError(t.err)
	case t.err != 0 && context.Cause(p.life) == nil:
		return fmt.Errorf("%w: %w", codeError(t.err), err)
	}
	return err
}

// meet describes a watched topic to the batcher, and returns how many partitions
// it has. From then on the watch is the Producer's.
func (p *Producer) meet(name string, release func()) int32 {
	p.mu.Lock()
	topics := *p.topics.Load()
	known := topics[name]
	late := known != nil || p.final != nil
	if known == nil {
		known = &knownTopic{release: release}
	}
	p.describe(name, known)
	if !late {
		topics = maps.Clone(topics)
		topics[name] = known
		p.topics.Store(&topics)
	}
	p.unlock()
	if late {
		release()
	}
	return known.partitions.Load()
}

// describe tells the batcher what the newest metadata says of a topic. It is called with
// the mutex held, so that the newest is also the last.
func (p *Producer) describe(name string, known *knownTopic) {
	if t, ok := p.cl.snapshot().topic(name); ok {
		p.batcher.describe(&t)
		known.partitions.Store(int32(len(t.partitions)))
	}
}

// hopeless are the codes of a topic for which waiting does not help.
var hopeless = map[int16]bool{
	kerr.InvalidTopicException.Code:    true,
	kerr.TopicAuthorizationFailed.Code: true,
}

// learn asks anew for the partitions of a known topic.
func (p *Producer) learn(ctx context.Context, name string) (int32, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.cfg.DeliveryTimeout, ErrDeliveryTimeout)
	defer cancel()
	release := p.cl.watch([]string{name})
	if _, err := p.cl.fresh(ctx, []string{name}); err != nil {
		release()
		return 0, &ProduceError{Topic: name, Partition: AnyPartition, Err: err}
	}
	return p.meet(name, release), nil
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
	defer close(p.ended)
	var callbacks, senders sync.WaitGroup
	calls, noMore := context.WithCancel(context.WithoutCancel(p.life))
	callbacks.Go(func() { p.callBack(calls) })
	p.keep(&senders)
	senders.Wait()
	p.giveUp()
	noMore()
	callbacks.Wait()
	for _, known := range *p.topics.Load() {
		known.release()
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
	now := time.Now()
	p.mu.Lock()
	defer p.unlock()
	for name, known := range *p.topics.Load() {
		p.describe(name, known)
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
		p.refuse(cause)
	}
	p.lost = p.batcher.abandonAll(cause)
}

// callBack calls the callbacks until there are no more of them after ctx has
// ended.
func (p *Producer) callBack(ctx context.Context) {
	var (
		batches []*produceBatch
		silent  unheard
	)
	defer func() { silent.tell(p.cl.log) }()
	for {
		ended := context.Cause(ctx) != nil
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
			silent.note(p.cl.log, batch)
			p.calling.Store(true)
			batch.call()
			p.calling.Store(false)
		}
		p.mu.Lock()
		for _, batch := range batches {
			p.batcher.retire(batch)
		}
		p.unlock()
		clear(batches)
	}
}

// unheardPause is how often the log hears of records that failed and have no callback.
const unheardPause = 10 * time.Second

// unheard gathers the failures that nobody else will hear of. It belongs to the
// goroutine of the callbacks.
type unheard struct {
	records int       // since the log has heard of any
	told    time.Time // when that was
	err     error     // of the last one
}

// note tells the log of a batch, unless it has just heard of another one.
func (u *unheard) note(log *slog.Logger, batch *produceBatch) {
	if batch.refusal.err == nil {
		return
	}
	n := batch.unheard()
	if n == 0 {
		return
	}
	u.records, u.err = u.records+n, batch.failure(0)
	if time.Since(u.told) >= unheardPause {
		u.tell(log)
	}
}

// tell tells the log of what it has not heard yet.
func (u *unheard) tell(log *slog.Logger) {
	if u.records > 0 {
		log.Warn("records were not written", "records", u.records, "error", u.err)
		*u = unheard{told: time.Now()}
	}
}
