package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/groupmember/driver"
	"github.com/musterkafka/muster/internal/recordbatch"
)

// Consumer is a member of a consumer group and reads what is assigned to it.
// Its methods may be called from many goroutines at once, but there can be only
// one loop over Records or Batches at a time.
type Consumer struct {
	cl           *Client
	cfg          ConsumerConfig
	log          *slog.Logger
	group        group // see started
	translator   *translator
	decompressor recordbatch.Decompressor

	life context.Context // ends in Close, when the member is gone
	end  context.CancelCauseFunc
	wg   sync.WaitGroup // of run, which starts whatever there is but the member: see docs/architecture.md

	wake    chan struct{} // room for one; run looks at everything again
	arrived chan struct{} // room for one; the loop looks at everything again

	started    chan struct{} // closed when group is set: the member may call Revoke before
	closeBegun chan struct{} // closed when Close has begun; closing is not written any more
	closed     chan struct{} // closed when Close is done; closeErr is written before
	closeErr   error

	mu        sync.Mutex // guards what follows; never held while anything is waited for
	owned     assignment
	fetchers  map[int32]*fetcher
	buffer    buffer
	lease     lease
	looping   bool
	waiting   bool      // the loop waits for records
	suspended bool      // the member must assume its loss
	closing   time.Time // until when Close may wait; zero before Close
	failures  []error   // what the loop yields next, one about each topic at most
	final     error     // what every loop yields from now on
	topics    topicNotices
	unsaved   error // of the last commit before partitions were given up
	rebalance *Rebalance
}

// group is what a Consumer needs of its member: a *driver.Group.
type group interface {
	Commit(ctx context.Context, offsets []groupmember.Offset) ([]groupmember.OffsetResult, error)
	LookUp(ctx context.Context, partitions groupmember.Partitions) ([]groupmember.OffsetResult, error)
	Rejoin(why string)
	Asked()
	Trusted() time.Time
	Leave(ctx context.Context, why string, remain bool) error
	Done() <-chan struct{}
	Err() error
}

// Consumer makes a member of a group, which begins to join at once. It does not
// wait for anything: what goes wrong later is yielded by the loop. The error names every
// problem of cfg. The Consumer must be closed.
func (cl *Client) Consumer(cfg ConsumerConfig) (*Consumer, error) {
	return cl.consumer(cfg, func(member groupmember.Config, ports driver.Ports) group {
		return driver.Start(member, ports)
	})
}

func (cl *Client) consumer(cfg ConsumerConfig, start func(groupmember.Config, driver.Ports) group) (*Consumer, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if context.Cause(cl.life) != nil {
		return nil, context.Cause(cl.life)
	}
	wanted, err := newSubscription(cfg.Topics, cfg.Patterns, cfg.InternalTopics)
	if err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	c := &Consumer{
		cl:         cl,
		cfg:        cfg,
		log:        cl.log.With("group", cfg.Group),
		wake:       make(chan struct{}, 1),
		arrived:    make(chan struct{}, 1),
		started:    make(chan struct{}),
		closeBegun: make(chan struct{}),
		closed:     make(chan struct{}),
		fetchers:   make(map[int32]*fetcher),
	}
	c.life, c.end = context.WithCancelCause(context.Background())
	c.translator = &translator{cl: cl, cfg: &c.cfg, log: c.log, last: claim{generation: -1}}
	c.translator.subscribe(wanted)
	c.group = start(cfg.member(), driver.Ports{
		Coordinator: cl.coordinator(cfg.Group, c),
		Translator:  c.translator,
		Owner:       owner{c},
		Log:         cl.log, // it names the group itself
		Trace:       c.cfg.Trace.Member,
		History:     c.history(),
	})
	close(c.started)
	c.wg.Go(c.run)
	return c, nil
}

// member is the part of the configuration that the group member needs.
func (c *ConsumerConfig) member() groupmember.Config {
	return groupmember.Config{
		Group:             c.Group,
		InstanceID:        c.InstanceID,
		SessionTimeout:    c.Classic.SessionTimeout,
		RebalanceTimeout:  c.Classic.RebalanceTimeout,
		HeartbeatInterval: c.Classic.HeartbeatInterval,
		PollInterval:      c.Classic.RebalanceTimeout,
		Seed:              rand.Uint64(),
		Cooperative:       c.cooperative(),
	}
}

// cooperative reports whether the member keeps what it owns during a rebalance:
// all its assignors must be made for that (KIP-429).
func (c *ConsumerConfig) cooperative() bool {
	cooperative := len(c.Assignors) > 0
	for _, a := range c.Assignors {
		cooperative = cooperative && a != nil && a.Cooperative()
	}
	return cooperative
}

// LastRebalance explains the last rebalance of the group that this member has been
// through; nil if there was none yet. It is not written to again.
func (c *Consumer) LastRebalance() *Rebalance {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rebalance
}

// Done says that rec and all before it in its partition are done, without
// asking for the next record. It is for a loop that is about to be left, and for
// records of a Batch. For a partition that was taken back since rec was read it does nothing.
func (c *Consumer) Done(rec *Record) {
	p := rec.from
	if p == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.owned.owns(p) {
		return
	}
	if c.lease.owned == p && rec.Offset >= c.lease.first {
		c.lease.raise(rec.Offset + 1)
		return
	}
	p.finish(mark{rec.Offset + 1, rec.LeaderEpoch})
}

// Skip makes the next loop go on behind what e says cannot be read: the damaged
// batch, as far as its end is known, else one record. What is skipped counts as
// done. It returns an error that wraps ErrNotOwned if the partition was taken back
// since, ErrBusy if a record or batch of it is being worked on, and another one if e is not about
// records.
func (c *Consumer) Skip(e *PartitionError) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.owned.owns(e.owned):
		return fmt.Errorf("skip in topic %q partition %d: %w", e.Topic, e.Partition, ErrNotOwned)
	case c.lease.owned == e.owned:
		return fmt.Errorf("skip in topic %q partition %d: %w", e.Topic, e.Partition, ErrBusy)
	case e.resume < 0:
		return fmt.Errorf("skip in topic %q partition %d: there is nothing to skip: %w", e.Topic, e.Partition, e.Err)
	}
	c.buffer.drop(func(p *ownedPartition) bool { return p == e.owned })
	e.owned.telling = false // if it has come again meanwhile, it is dropped
	e.owned.skipTo(e.resume)
	nudge(c.wake)
	return nil
}

// Close commits what is done, leaves the group unless ConsumerConfig.AtClose says
// otherwise, and frees everything. It has until
// CloseTimeout has passed or until ctx's deadline, whichever comes first; a ctx that has
// already ended shortens nothing, so that a program that is told to stop still leaves its group at
// once. A loop that is running ends; if its body is at work, Close waits for it for most of that time. Further
// calls wait for the first one.
//
// The error says what could not be committed, or that the group could not be
// left in time, which makes its other members wait for the session timeout.
func (c *Consumer) Close(ctx context.Context) error {
	c.mu.Lock()
	first := c.closing.IsZero()
	if first {
		c.closing = closeDeadline(ctx, time.Now(), c.cfg.CloseTimeout)
		c.lease.look.Store(true)
	}
	c.mu.Unlock()
	if first {
		close(c.closeBegun)
		c.closeErr = c.shutDown()
		close(c.closed)
	}
	select {
	case <-c.closed:
		return c.closeErr
	default:
	}
	select {
	case <-c.closed:
		return c.closeErr
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// closeDeadline returns until when Close may work.
func closeDeadline(ctx context.Context, now time.Time, timeout time.Duration) time.Time {
	limit := now.Add(timeout)
	if deadline, ok := ctx.Deadline(); ok && context.Cause(ctx) == nil && deadline.Before(limit) {
		return deadline
	}
	return limit
}

func (c *Consumer) shutDown() error {
	nudge(c.arrived)
	ctx, cancel := context.WithDeadlineCause(context.Background(), c.closing, errCloseTimeout)
	defer cancel()
	err := c.group.Leave(ctx, "consumer closed", c.cfg.AtClose.remains(c.cfg.InstanceID))
	c.mu.Lock()
	c.final = ErrConsumerClosed
	c.lease.look.Store(true)
	unsaved := c.unsaved
	c.mu.Unlock()
	nudge(c.arrived)
	c.end(ErrConsumerClosed)
	c.wg.Wait()
	c.cl.drop(c) // when nobody is left who could make another connection
	c.translator.follow()
	c.translator.unsubscribe()
	if err != nil {
		err = fmt.Errorf("close consumer: %w", err)
	}
	return errors.Join(unsaved, err)
}

var errCloseTimeout = errors.New("the time for closing is over")

// trusted reports whether the member may hand out records at this moment. Without
// a membership it may not. The wall clock must say so too: on a machine that has slept
// the monotonic clock has stood still, and the coordinator's has not.
func (c *Consumer) trusted() bool {
	now, until := time.Now(), c.group.Trusted()
	return now.Before(until) && now.Round(0).Before(until.Round(0))
}

// nudge makes the owner of a channel with room for one look again.
func nudge(channel chan struct{}) {
	select {
	case channel <- struct{}{}:
	default: // it will look anyway
	}
}
