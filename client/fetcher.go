package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/musterkafka/muster/conn"
	"github.com/musterkafka/muster/internal/recordbatch"
)

// fetchDepth is how many answers of one broker there are at a time: one that the
// application reads, and the next one, on its way or waiting. More would only take
// memory, and the caches of the processor.
const fetchDepth = 2

// fetcher reads from one broker for one Consumer: one Fetch after the other over
// a connection of its own, each for everything that the broker leads. It has
// one goroutine, which ends when there is nothing to read there any more, or with the Consumer.
type fetcher struct {
	c       *Consumer
	node    int32
	wake    chan struct{}    // room for one; run looks again whether to fetch
	answers chan conn.Answer // room for one
	request *fetchRequest
	answer  fetchAnswer
	scanner recordbatch.Scanner

	// Guarded by the Consumer's mutex.
	parts    []*ownedPartition // led by node, in the order of asking
	rounds   uint64            // answers taken
	frames   int               // answers that are not read to their end
	buffered int               // their bytes
	share    int               // of BufferBytes
}

func (f *fetcher) nudge() {
	if f != nil {
		nudge(f.wake)
	}
}

// assignFetchers gives every broker's fetcher the partitions that the broker leads,
// and starts one where there is none. It returns all of them. It is called with the
// mutex held.
func (c *Consumer) assignFetchers(tasks *sync.WaitGroup, led map[int32][]*ownedPartition) []*fetcher {
	for node := range led {
		if c.fetchers[node] == nil {
			f := &fetcher{
				c:       c,
				node:    node,
				wake:    make(chan struct{}, 1),
				answers: make(chan conn.Answer, 1),
				request: newFetchRequest(&c.cfg),
				scanner: recordbatch.Scanner{SkipCRC: c.cfg.SkipCRC},
			}
			c.fetchers[node] = f
			tasks.Go(f.run)
		}
	}
	fetchers := make([]*fetcher, 0, len(c.fetchers))
	for node, f := range c.fetchers {
		f.parts = led[node]
		f.order()
		f.share = c.cfg.BufferBytes / len(c.fetchers)
		fetchers = append(fetchers, f)
	}
	return fetchers
}

// run fetches as long as there is somebody to fetch for.
func (f *fetcher) run() {
	failures := 0
	var told said
	for {
		f.c.mu.Lock()
		state := f.prepare(time.Now())
		f.c.mu.Unlock()
		switch state {
		case fetchNever:
			return
		case fetchLater:
			select {
			case <-f.wake:
			case <-f.c.life.Done():
				return
			}
			continue
		case fetchNow:
		}
		pause, err := f.fetch()
		if context.Cause(f.c.life) != nil || context.Cause(f.c.cl.life) != nil {
			return
		}
		if failures++; err == nil {
			failures = 0
			told.well()
		} else {
			f.report(err, told.first(err))
		}
		if pause = max(pause, retryBackoff.after(failures)); pause > 0 {
			if sleep(f.c.life, pause) != nil {
				return
			}
		}
	}
}

type fetchState uint8

const (
	fetchNow   fetchState = iota // the request is ready
	fetchLater                   // when something has changed
	fetchNever                   // the fetcher has been dismissed
)

// prepare makes the request for what is due, if there is room for the answer. It is
// called with the mutex held.
func (f *fetcher) prepare(now time.Time) fetchState {
	if len(f.parts) == 0 {
		delete(f.c.fetchers, f.node)
		return fetchNever
	}
	maxBytes := max(1, min(f.c.cfg.FetchMaxBytes, f.share/fetchDepth))
	if f.frames >= fetchDepth || f.frames > 0 && f.buffered+maxBytes > f.share {
		return fetchLater
	}
	f.request.reset(maxBytes)
	for _, p := range f.parts {
		if p.stage == stageFetch && p.due(now) {
			f.request.add(p, f.c.cfg.FetchMaxPartitionBytes)
		}
	}
	if len(f.request.asked) == 0 {
		return fetchLater
	}
	return fetchNow
}

// fetch sends the request and takes the answer. It returns how long the broker
// wants to be left alone (KIP-219).
func (f *fetcher) fetch() (pause time.Duration, err error) {
	a, err := f.ask()
	if err == nil {
		err = f.answer.read(a.Body(), a.Version, f.request.name)
	}
	if err == nil && f.answer.code != 0 {
		err = fmt.Errorf("fetch from broker %d: %w", f.node, codeError(f.answer.code))
	}
	if err != nil {
		a.Release()
		f.giveUp()
		return 0, err
	}
	version := a.Version
	f.take(a)
	if version < fetchVersionThrottle {
		return 0, nil // the broker has waited itself
	}
	return time.Duration(f.answer.throttleMillis) * time.Millisecond, nil
}

func (f *fetcher) ask() (conn.Answer, error) {
	connection, err := f.c.cl.conn(f.c.life, f.node, classFetch, f.c)
	if err != nil {
		return conn.Answer{}, err
	}
	if err := connection.Start(f.c.life, f.request.request(), f.answers); err != nil {
		return conn.Answer{}, err
	}
	select {
	case a := <-f.answers:
		return a, a.Err
	case <-f.c.life.Done():
		return conn.Answer{}, context.Cause(f.c.life)
	}
}

// current reports whether an answer to asked still means something. It is called
// with the mutex held.
func (c *Consumer) current(asked askedPartition) bool {
	p := asked.owned
	return c.owned.owns(p) && !p.going && p.question == asked.question
}

// giveUp takes note that there was no usable answer. Positions stay as they are:
// an answer that did not come says nothing of them. The partitions are asked for again, here or
// where the metadata says by then.
func (f *fetcher) giveUp() {
	f.c.mu.Lock()
	for _, asked := range f.request.asked {
		if f.c.current(asked) {
			asked.owned.busy = false
		}
	}
	f.c.mu.Unlock()
}

// report tells of a failed fetch if it is news, and has its consequences looked at.
func (f *fetcher) report(err error, news bool) {
	if news {
		f.c.trouble(err)
	}
	if _, known := errors.AsType[*UnreachableError](err); news && !known { // the Client has told of that
		f.c.log.Warn("cannot fetch from a broker, trying on", "broker", f.node, "error", err)
	}
	f.c.cl.refresh("a fetch failed")
	nudge(f.c.wake)
}

// take puts what has arrived into the buffer and moves the positions.
func (f *fetcher) take(a conn.Answer) {
	for i := range f.answer.partitions {
		f.measure(&f.answer.partitions[i])
	}
	var t troubles
	frame := &fetchFrame{answer: a, fetcher: f, size: len(a.Body()), chunks: 1}
	f.c.mu.Lock()
	f.rounds++
	f.frames++
	f.buffered += frame.size
	for i := range f.answer.partitions {
		p := &f.answer.partitions[i]
		asked, ok := f.request.asked[p.key]
		if !ok {
			continue // not asked for, or named twice
		}
		delete(f.request.asked, p.key)
		if f.c.current(asked) {
			f.takePartition(&t, frame, asked, p)
		}
	}
	for _, asked := range f.request.asked {
		if f.c.current(asked) {
			t.retry(asked.owned, errNotInAnswer)
		}
	}
	arrived := frame.chunks > 1
	frame.unref() // of this function
	f.order()
	f.c.mu.Unlock()
	if arrived {
		nudge(f.c.arrived)
	}
	if t.any() {
		f.c.conclude("cannot read a partition, trying on", &t)
	}
}

// measure finds the whole and sound batches in p and the offset behind them. It
// is here that checksums are looked at: no position moves by a batch that is
// damaged.
func (f *fetcher) measure(p *fetchedPartition) {
	f.scanner.Reset(p.records)
	var b recordbatch.Batch
	for f.scanner.Next(&b) {
		p.next = b.LastOffset + 1
	}
	rest := f.scanner.Rest()
	p.records = p.records[:len(p.records)-len(rest)]
	p.cut = len(rest)
	if p.damage = f.scanner.Err(); p.damage != nil {
		p.resume = endOf(rest, p.highWatermark)
	}
}

// endOf returns the offset behind the damaged batch at the head of records, if
// what it says of its end can be true; -1 if not.
func endOf(records []byte, highWatermark int64) int64 {
	scanner := recordbatch.Scanner{SkipCRC: true}
	scanner.Reset(records)
	var b recordbatch.Batch
	if !scanner.Next(&b) || b.LastOffset >= highWatermark {
		return -1
	}
	return b.LastOffset + 1
}

// takePartition is take for one partition.
func (f *fetcher) takePartition(t *troubles, frame *fetchFrame, asked askedPartition, got *fetchedPartition) {
	p := asked.owned
	if p.fetched != asked.offset {
		p.busy = false // thrown away meanwhile; rest says when to ask again
		return
	}
	if got.code != 0 {
		f.c.treat(t, p, remedyFor(fetchRemedies, got.code), asked.offset, codeError(got.code))
		return
	}
	p.highWatermark, p.resets = got.highWatermark, 0
	progress := p.fetch(got.next)
	if progress {
		p.served = f.rounds
		frame.chunks++
		f.c.buffer.push(&chunk{owned: p, frame: frame, records: got.records})
	}
	switch {
	case got.damage != nil:
		t.alert = true
		f.c.tell(p, p.fetched, max(got.resume, p.fetched+1), got.damage)
	case progress || len(got.records) == 0 && got.cut == 0:
		p.answered()
	case got.next < 0 && f.parts[0] == p:
		t.alert = true
		f.c.tell(p, p.fetched, -1, fmt.Errorf("the next batch does not fit the %d bytes of an answer: raise FetchMaxPartitionBytes and FetchMaxBytes", got.cut))
	case got.next < 0:
		p.answered() // a batch that was cut off; it comes whole once the partition is asked for first
	default:
		t.retry(p, errors.New("the broker sends only what is before the offset asked for"))
	}
}

// order puts partitions first that have not sent anything for the longest time: a
// broker fills its answer in the order of the request, so all get their turn
// even if there is never room for all (KIP-74).
func (f *fetcher) order() {
	slices.SortStableFunc(f.parts, func(a, b *ownedPartition) int { return cmp.Compare(a.served, b.served) })
}
