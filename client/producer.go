package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/musterkafka/muster/internal/recordbatch"
)

// Offset says where a record was written.
type Offset struct {
	Topic     string
	Partition int32
	Offset    int64     // -1 if the broker does not say, as with AcksNone
	Timestamp time.Time // the record's, or the broker's if the topic is set up so (LogAppendTime)
}

// Producer writes records. Its methods may be called from many goroutines. It must
// be closed.
//
// The records of one partition are written in the order in which they were sent,
// by one batch at a time, each tried again until it is written, refused, or its delivery timeout has
// passed. Without idempotence a record may be written twice: when a broker has
// written it and the answer was lost.
//
// It has one goroutine for callbacks, one for each broker that it writes to, and one more. All are
// gone when Close returns.
type Producer struct {
	cl         *Client
	cfg        ProducerConfig
	compressor *recordbatch.Compressor

	life     context.Context // ends with the Producer or its Client; its cause says which
	end      context.CancelCauseFunc
	wg       sync.WaitGroup
	ended    chan struct{} // closed when run ends, the last of the goroutines
	wake     chan struct{} // room for one; run looks again
	finished chan struct{} // room for one; there are callbacks to call
	closed   chan struct{} // closed when Close has done its work
	closeErr error         // set before closed is closed

	topics  atomic.Pointer[map[string]*knownTopic] // by name; replaced, never changed
	calling atomic.Bool                            // a callback runs

	mu       sync.Mutex // guards what the goroutines share
	batcher  *batcher
	senders  map[int32]*produceSender // by node
	progress chan struct{}            // closed when there is room, or callbacks have returned; nil if nobody waits
	final    error                    // why records are refused; nil while they are not
	closing  bool
	lost     int // records that were given up at the end
}

// Producer returns a Producer of cfg without any I/O. The error names every
// problem of cfg. A Producer that is not needed any more must be closed.
func (cl *Client) Producer(cfg ProducerConfig) (*Producer, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	compressor, err := recordbatch.NewCompressor(cfg.Compression)
	if err != nil {
		return nil, err
	}
	p := &Producer{
		cl:         cl,
		cfg:        cfg,
		compressor: compressor,
		ended:      make(chan struct{}),
		wake:       make(chan struct{}, 1),
		finished:   make(chan struct{}, 1),
		closed:     make(chan struct{}),
		batcher:    newBatcher(&cfg, rand.Uint64()),
		senders:    make(map[int32]*produceSender),
	}
	p.topics.Store(&map[string]*knownTopic{})
	p.life, p.end = context.WithCancelCause(cl.life)
	p.wg.Go(p.run)
	return p, nil
}

// Produce sends rec and waits until it is written. If ctx ends first it returns
// its cause, and the record is still on its way. An error is a *ProduceError, or says
// why the record was not taken, as with Send.
func (p *Producer) Produce(ctx context.Context, rec *Record) (Offset, error) {
	type outcome struct {
		offset Offset
		err    error
	}
	outcomes := make(chan outcome, 1)
	err := p.Send(ctx, rec, func(offset Offset, err error) { outcomes <- outcome{offset, err} })
	if err != nil {
		return Offset{Topic: rec.Topic, Partition: AnyPartition, Offset: -1}, err
	}
	select {
	case o := <-outcomes:
		return o.offset, o.err
	default:
	}
	select {
	case o := <-outcomes:
		return o.offset, o.err
	case <-ctx.Done():
		err := fmt.Errorf("%w while the record was on its way", context.Cause(ctx))
		return Offset{Topic: rec.Topic, Partition: AnyPartition, Offset: -1}, &ProduceError{Topic: rec.Topic, Partition: AnyPartition, MaybeWritten: true, Err: err}
	}
}

// Send takes a copy of rec to be written, and calls done with the outcome. It does
// not wait for that, but for the topic to be known, and while BufferBytes is full;
// until then ctx can end it. If Send returns an error the record was not taken
// and done is not called; otherwise done is called exactly once, in the order in which the records
// of a partition were sent. The error given to done is a *ProduceError.
//
// All callbacks are called by one goroutine. They hold up one another, so they must return soon, and they must
// not wait for this Producer: in Produce, Flush or Close never. Send in a callback fails at once while the
// buffer is full, since room may have to wait for the callback to return. A nil done is not called; failures then are only logged.
func (p *Producer) Send(ctx context.Context, rec *Record, done func(Offset, error)) error {
	partition, err := p.choose(ctx, rec)
	if err != nil {
		return err
	}
	for {
		room, err := p.add(rec, partition, done)
		if err != nil || room == nil {
			return err
		}
		if p.calling.Load() && insideCallback() {
			return &ProduceError{Topic: rec.Topic, Partition: partition, Err: errSendInCallback}
		}
		select {
		case <-room:
		case <-ctx.Done():
			return &ProduceError{Topic: rec.Topic, Partition: partition, Err: fmt.Errorf("%w (%d bytes): %w", errBufferFull, p.cfg.BufferBytes, context.Cause(ctx))}
		}
	}
}

// choose returns the partition of rec, whose topic is described to the batcher then.
func (p *Producer) choose(ctx context.Context, rec *Record) (int32, error) {
	partitions, err := p.partitions(ctx, rec.Topic)
	if err != nil {
		return AnyPartition, err
	}
	partition := p.cfg.Partitioner(rec, partitions)
	if partition >= partitions { // it may be a new one
		if partitions, err = p.learn(ctx, rec.Topic); err != nil {
			return AnyPartition, err
		}
	}
	if partition < AnyPartition || partition >= partitions {
		return AnyPartition, &ProduceError{
			Topic: rec.Topic, Partition: partition,
			Err: fmt.Errorf("there is no such partition, the topic has %d: check Record.Partition, or the Partitioner", partitions),
		}
	}
	return partition, nil
}

// add gives rec to the batcher. If that is full it returns a channel that is closed
// when there may be room.
func (p *Producer) add(rec *Record, partition int32, done func(Offset, error)) (room <-chan struct{}, err error) {
	now := time.Now()
	p.mu.Lock()
	if p.final != nil {
		err = &ProduceError{Topic: rec.Topic, Partition: partition, Err: p.final}
	} else if err = p.batcher.add(now, rec.Topic, partition, rec, done); err == errBufferFull { //nolint:errorlint // it is never wrapped
		room, err = p.awaitProgress(), nil
	}
	p.unlock()
	return room, err
}

// refuse makes every Send fail from now on, those that wait for room too. It is called
// with the mutex held.
func (p *Producer) refuse(why error) {
	p.final = why
	p.batcher.freed = true
}

// awaitProgress returns a channel that is closed at the next progress. It is
// called with the mutex held.
func (p *Producer) awaitProgress() <-chan struct{} {
	if p.progress == nil {
		p.progress = make(chan struct{})
	}
	return p.progress
}

// Flush sends what lingers and waits until every record that was sent before the
// call has its outcome, and its callback has returned. The outcome may be a failure: Flush fails only if ctx
// ends first, with its cause.
func (p *Producer) Flush(ctx context.Context) error {
	p.mu.Lock()
	number := p.batcher.cut()
	p.unlock()
	for {
		p.mu.Lock()
		done := p.batcher.done(number)
		var progress <-chan struct{}
		if !done {
			progress = p.awaitProgress()
		}
		p.unlock()
		if done {
			return nil
		}
		select {
		case <-progress:
		case <-ctx.Done():
			return fmt.Errorf("flush producer: %w", context.Cause(ctx))
		}
	}
}

// Close refuses further records, waits for those it has as Flush does, and frees
// everything. It has until CloseTimeout has passed or until ctx's deadline,
// whichever comes first; a ctx that has already ended shortens nothing, so that a
// program which is told to stop still writes what it has. What is not written by then
// fails with ErrProducerClosed, its callbacks are called, and Close returns an error that says how
// many records those were. Further calls wait for the first one. A callback that does not
// return within a second after all this is not waited for any longer.
func (p *Producer) Close(ctx context.Context) error {
	p.mu.Lock()
	first := !p.closing
	p.closing = true
	if p.final == nil {
		p.refuse(ErrProducerClosed)
	}
	p.unlock()
	if first {
		p.closeErr = p.shutDown(closeDeadline(ctx, time.Now(), p.cfg.CloseTimeout))
		close(p.closed)
	}
	select {
	case <-p.closed:
		return p.closeErr
	default:
	}
	select {
	case <-p.closed:
		return p.closeErr
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// callbackGrace is how long Close waits for the callbacks of what was not written in
// time.
const callbackGrace = time.Second

var (
	errProducerCloseTimeout = errors.New("the time to close has passed")
	errSendInCallback       = errors.New("the buffer is full, and a callback cannot wait for room, which may have to wait for the callback: raise BufferBytes, or send from another goroutine")
	errCallbackStuck        = errors.New("close producer: a callback has not returned: does it wait for the Producer, in Produce, Flush or Close?")
)

func (p *Producer) shutDown(deadline time.Time) error {
	ctx, cancel := context.WithDeadlineCause(context.Background(), deadline, errProducerCloseTimeout)
	defer cancel()
	cause := p.Flush(ctx)
	p.end(ErrProducerClosed)
	select {
	case <-p.ended:
		p.wg.Wait()
	case <-time.After(callbackGrace):
		return errCallbackStuck
	}
	p.mu.Lock()
	lost := p.lost
	p.mu.Unlock()
	if lost == 0 {
		return nil
	}
	if cause == nil {
		cause = context.Cause(p.life)
	}
	return fmt.Errorf("close producer: %d records were not written: %w", lost, cause)
}
