package client

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/conn"
)

const (
	// produceFlights is how many requests a broker has at a time, each for
	// other partitions.
	produceFlights = 5
	// produceRequestBytes limits a request, before compression, unless a
	// single batch is larger.
	produceRequestBytes = 4 << 20
)

// produceSender sends to one broker what the batcher has for it. It has one
// goroutine, and while a connection is being made, one for that.
type produceSender struct {
	p         *Producer
	node      int32
	wake      chan struct{}    // room for one; run looks again what is due
	answers   chan conn.Answer // room for all flights
	connected chan produceConn // room for one

	conn     *conn.Conn // nil before the first
	dialing  bool
	failures int       // of dialing, in a row
	failing  time.Time // when the first of them was
	told     bool      // the log has heard of them
	rest     time.Time // no dialing before
	flights  []*produceFlight
	spare    []*produceFlight
	resp     kmsg.ProduceResponse
}

type produceConn struct {
	conn *conn.Conn
	err  error
}

func newProduceSender(p *Producer, node int32) *produceSender {
	return &produceSender{
		p:         p,
		node:      node,
		wake:      make(chan struct{}, 1),
		answers:   make(chan conn.Answer, produceFlights),
		connected: make(chan produceConn, 1),
	}
}

// run sends until the Producer ends.
func (s *produceSender) run() {
	var dialing sync.WaitGroup
	defer dialing.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if next, ok := s.send(&dialing); ok {
			timer.Reset(time.Until(next))
		} else {
			timer.Stop()
		}
		select {
		case <-s.wake:
		case <-timer.C:
		case a := <-s.answers:
			s.take(&a)
		case c := <-s.connected:
			s.connect(c)
		case <-s.p.life.Done():
			return
		}
	}
}

// send sends what is due, and returns when it has to look again; false if something
// will wake it before.
func (s *produceSender) send(tasks *sync.WaitGroup) (next time.Time, ok bool) {
	for len(s.flights) < produceFlights {
		now := time.Now()
		s.p.mu.Lock()
		at, ok := s.p.batcher.dueAt(s.node)
		s.p.mu.Unlock()
		switch {
		case !ok || at.After(now):
			return at, ok
		case s.conn == nil || s.conn.Err() != nil:
			return s.dial(now, tasks)
		}
		s.launch(now)
	}
	return time.Time{}, false
}

// dial gets a connection without making the answers of an old one wait.
func (s *produceSender) dial(now time.Time, tasks *sync.WaitGroup) (next time.Time, ok bool) {
	if s.dialing || s.rest.After(now) {
		return s.rest, !s.dialing
	}
	s.dialing = true
	tasks.Go(func() {
		c, err := s.p.cl.conn(s.p.life, s.node, classProduce, nil)
		s.connected <- produceConn{c, err}
	})
	return time.Time{}, false
}

// connect takes the outcome of dial.
func (s *produceSender) connect(c produceConn) {
	s.dialing = false
	if c.err == nil {
		s.conn, s.failures, s.told = c.conn, 0, false
		return
	}
	if s.failures++; s.failures == 1 {
		s.failing = time.Now()
	}
	s.rest = time.Now().Add(retryBackoff.after(s.failures))
	s.p.mu.Lock()
	s.p.batcher.blame(s.node, c.err)
	s.p.mu.Unlock()
	_, known := errors.AsType[*UnreachableError](c.err) // the Client has told of that
	if !known && !s.told && time.Since(s.failing) >= routine {
		s.told = true
		s.p.cl.log.Warn("cannot produce to a broker, trying on", "broker", s.node, "error", c.err)
	}
	s.p.cl.refresh("a broker to produce to cannot be reached")
}

// launch sends one request with what is due.
func (s *produceSender) launch(now time.Time) {
	f := s.flight()
	s.p.mu.Lock()
	f.batches = s.p.batcher.drain(now, s.node, produceRequestBytes, f.batches)
	s.p.mu.Unlock()
	if len(f.batches) == 0 {
		s.land(f)
		return
	}
	s.flights = append(s.flights, f)
	if err := s.conn.Start(s.p.life, f.pack(s.p.compressor), s.answers); err != nil {
		s.fail(f, err)
	}
}

// flight returns an empty flight.
func (s *produceSender) flight() *produceFlight {
	if n := len(s.spare); n > 0 {
		f := s.spare[n-1]
		s.spare = s.spare[:n-1]
		return f
	}
	return newProduceFlight(&s.p.cfg, s.p.cl.cfg.RequestTimeout/2)
}

// land puts f aside for the next request.
func (s *produceSender) land(f *produceFlight) {
	if i := slices.Index(s.flights, f); i >= 0 {
		s.flights = slices.Delete(s.flights, i, i+1)
	}
	clear(f.batches)
	f.batches = f.batches[:0]
	s.spare = append(s.spare, f)
}

// take applies an answer.
func (s *produceSender) take(a *conn.Answer) {
	i := slices.IndexFunc(s.flights, func(f *produceFlight) bool { return a.Req == kmsg.Request(&f.req) })
	f := s.flights[i]
	s.resp = kmsg.NewProduceResponse()
	if err := a.Into(&s.resp); err != nil {
		s.fail(f, err)
		return
	}
	a.Release()
	now := time.Now()
	var t produceTroubles
	s.p.mu.Lock()
	if s.p.cfg.Acks == AcksNone {
		for _, b := range f.batches {
			s.p.batcher.written(b, -1, -1)
		}
	} else {
		f.read(&s.resp, func(b *produceBatch, answer *kmsg.ProduceResponseTopicPartition) {
			t.judge(now, s.p.batcher, b, answer)
		})
	}
	s.p.unlock()
	s.land(f)
	s.report(&t)
}

// fail takes the batches of f back, whose request has got no answer.
func (s *produceSender) fail(f *produceFlight, err error) {
	now := time.Now()
	t := produceTroubles{refresh: true}
	s.p.mu.Lock()
	for _, b := range f.batches {
		if !conn.Unsent(err) {
			b.doubt()
		}
		t.retry(now, s.p.batcher, b, err)
	}
	s.p.unlock()
	s.land(f)
	s.report(&t)
}

// report has the consequences of failures.
func (s *produceSender) report(t *produceTroubles) {
	if context.Cause(s.p.life) != nil {
		return
	}
	switch {
	case t.news > 0:
		s.p.cl.log.Warn("cannot produce, trying on", "broker", s.node, "partitions", t.news, "error", t.err)
	case t.retried > 0:
		s.p.cl.log.Debug("cannot produce, trying again", "broker", s.node, "partitions", t.retried, "error", t.err)
	}
	if t.shrunk != nil {
		s.p.cl.log.Warn("batches are larger than the topic takes, sending smaller ones: ProducerConfig.MaxBatchBytes is above its max.message.bytes", "topic", t.shrunk.name)
	}
	if t.refresh {
		s.p.cl.refresh("producing failed")
	}
}
