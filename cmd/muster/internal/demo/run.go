// Package demo shows a consumer group at work: members come, go and crash, and
// every record is counted.
package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/musterkafka/muster/client"
)

// Config says what the demo runs on.
type Config struct {
	Brokers        []string      // host:port; none means a broker inside this process
	Records        int           // to write and read; at least 1
	Partitions     int           // of the topic; at least 1
	SessionTimeout time.Duration // of the members; the broker sets a lower bound
	Out            io.Writer

	script []step // nil: story
}

// drainTime is how long after the last record was written the group may take
// to read the rest. It covers the take-over from the crashed member.
const drainTime = 30 * time.Second

func (c Config) validate() error {
	var problems []error
	if c.Records < 1 {
		problems = append(problems, fmt.Errorf("--records is %d, must be at least 1", c.Records))
	}
	if c.Partitions < 1 || c.Partitions > 10_000 {
		problems = append(problems, fmt.Errorf("--partitions is %d, must be 1 to 10000", c.Partitions))
	}
	if c.SessionTimeout < time.Second {
		problems = append(problems, fmt.Errorf("--session-timeout is %v, must be at least 1s", c.SessionTimeout))
	}
	return errors.Join(problems...)
}

// Run shows the demo and returns an error if it could not be finished or if a
// record was lost. When ctx ends, all members leave the group at once and the
// topic is deleted.
func Run(ctx context.Context, cfg Config) error {
	if err := cfg.validate(); err != nil {
		return err
	}
	if cfg.script == nil {
		cfg.script = story()
	}
	if len(cfg.Brokers) == 0 {
		addrs, stop, err := embedded()
		if err != nil {
			return err
		}
		defer stop()
		cfg.Brokers = addrs
	}
	name := "muster-demo-" + rand.Text()[:8]
	b := &board{started: time.Now()}
	s := &stage{cfg: cfg, topic: name, group: name, board: b, ledger: newLedger(cfg.Records)}
	return s.run(ctx)
}

func (s *stage) run(ctx context.Context) (err error) {
	cl, err := client.New(client.Config{Brokers: s.cfg.Brokers, ClientID: "muster-demo", Logger: s.logger("producer", nil)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cl.Close()) }()
	stopView := s.watch()
	err = s.createTopic(ctx, cl)
	if err == nil {
		defer func() { err = errors.Join(err, s.deleteTopic(cl)) }()
		err = s.perform(ctx, cl)
	}
	stopView()
	if s.ledger.totals() == (totals{}) && err != nil {
		return err // nothing was done that could be counted
	}
	t := s.ledger.totals()
	if context.Cause(ctx) != nil {
		fmt.Fprintf(s.cfg.Out, "demo: %d produced, %d consumed, %d not read yet, %d duplicated\n", t.Produced, t.Consumed, t.Lost, t.Duplicated)
		return errors.Join(errors.New("interrupted; all members have left the group"), err)
	}
	fmt.Fprintf(s.cfg.Out, "demo: %d produced, %d consumed, %d lost, %d duplicated\n", t.Produced, t.Consumed, t.Lost, t.Duplicated)
	if err == nil && t.Lost > 0 {
		err = fmt.Errorf("%d records were lost", t.Lost)
	}
	return err
}

// watch draws the board until the returned function is called, which draws it
// a last time.
func (s *stage) watch() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	v := newView(s.cfg.Out)
	wg.Go(func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for context.Cause(ctx) == nil {
			v.draw(s.board, s.ledger.totals())
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
		v.draw(s.board, s.ledger.totals())
	})
	return func() { cancel(); wg.Wait() }
}

// perform plays the script while records are written, and waits until all of
// them have been read. All members are gone when it returns.
func (s *stage) perform(parent context.Context, cl *client.Client) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	var writing sync.WaitGroup
	writing.Go(func() {
		if err := s.write(ctx, cl); err != nil {
			cancel(err)
		}
	})
	cast := &cast{stage: s}
	err := cast.play(ctx, s.cfg.script)
	if err == nil {
		writing.Wait()
		err = s.drain(ctx)
	}
	cancel(err)
	writing.Wait()
	if context.Cause(parent) != nil {
		err = nil // whatever was interrupted by it is no news
	}
	return errors.Join(err, cast.exit(ctx))
}

// write produces the records evenly over the length of the script.
func (s *stage) write(ctx context.Context, cl *client.Client) error {
	p, err := cl.Producer(client.ProducerConfig{})
	if err != nil {
		return err
	}
	var failed error
	var once sync.Once
	const tick = 10 * time.Millisecond
	perTick := max(1, s.cfg.Records/max(1, int(length(s.cfg.script)/tick)))
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for number := 0; number < s.cfg.Records; {
		for range min(perTick, s.cfg.Records-number) {
			n := number
			text := []byte(strconv.Itoa(n))
			err := p.Send(ctx, &client.Record{Topic: s.topic, Key: text, Value: text}, func(_ client.Offset, err error) {
				if err != nil {
					once.Do(func() { failed = err })
					return
				}
				s.ledger.written(n)
			})
			if err != nil {
				return errors.Join(err, p.Close(ctx))
			}
			number++
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), p.Close(ctx))
		}
	}
	return errors.Join(p.Close(ctx), failed)
}

// drain waits until every record that was written has been read.
func (s *stage) drain(ctx context.Context) error {
	s.board.tell("all records are written; waiting until they are read")
	ctx, cancel := context.WithTimeoutCause(ctx, drainTime, fmt.Errorf("not all records were read %v after the last was written", drainTime))
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for s.ledger.totals().Lost > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (s *stage) createTopic(ctx context.Context, cl *client.Client) error {
	_, err := cl.Admin().CreateTopics(ctx, client.NewTopic{Name: s.topic, Partitions: int32(s.cfg.Partitions)})
	return err
}

func (s *stage) deleteTopic(cl *client.Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err := cl.Admin().DeleteTopics(ctx, s.topic)
	return err
}
