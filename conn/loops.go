package conn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// writeLoop writes what is in the queue until the connection ends, and watches
// the deadline of the oldest unanswered call.
func (c *Conn) writeLoop() error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var armed time.Time // when timer fires; zero if it has

	for {
		now := time.Now()
		if late, waited, ok := c.queue.overdue(now); ok {
			return fmt.Errorf("no answer to %s for %v: is the broker stopped or overloaded, or the network cut? (%w)",
				kmsg.NameForKey(late.req.Key()), waited.Round(time.Millisecond), os.ErrDeadlineExceeded)
		}
		call, ok, alarm := c.queue.next(now)
		if ok {
			if err := c.write(call); err != nil {
				return err
			}
			continue
		}
		// A timer that fires too early only makes us look again, so it is
		// left alone unless it would be late.
		if !alarm.IsZero() && (armed.IsZero() || alarm.Before(armed)) {
			timer.Reset(alarm.Sub(now))
			armed = alarm
		}
		select {
		case <-c.wake:
		case <-timer.C:
			armed = time.Time{}
		case <-c.life.Done():
			return nil // somebody else knows why
		}
	}
}

// write sends one request. A request without an answer is done when it is out.
func (c *Conn) write(call call) error {
	setCorrelation(call.frame.data, call.id)
	size := len(call.frame.data)
	begin := time.Now()
	c.nc.SetWriteDeadline(begin.Add(c.cfg.RequestTimeout))
	n, err := c.nc.Write(call.frame.data)
	call.frame.release()
	now := time.Now()
	c.cfg.Trace.writeDone(c, &call, n, now.Sub(begin), err)
	if err != nil {
		err = fmt.Errorf("cannot write %s after %d of %d bytes: %w", kmsg.NameForKey(call.req.Key()), n, size, err)
		switch {
		case call.silent:
			c.die(err)
			c.answer(call, Answer{Err: c.errorOf(call.req, n > 0, context.Cause(c.life))})
		case n == 0:
			c.queue.unsent(call.id)
		}
		return err
	}
	if call.silent {
		c.answer(call, Answer{})
		return nil
	}
	c.queue.wrote(call.id, now)
	return nil
}

// readLoop reads answers until the connection ends and hands each to the call
// that it belongs to.
func (c *Conn) readLoop() error {
	for first := true; ; first = false {
		f, err := c.frames.next()
		if err != nil {
			return c.explainRead(err, first)
		}
		now := time.Now()
		call, ok, hurry := c.queue.answered(now)
		if !ok {
			f.release()
			return errors.New("the broker sent an answer that nobody asked for")
		}
		if hurry {
			c.nudge()
		}
		id, body, err := splitHeader(f.data, call.flexible)
		if err == nil && id != call.id {
			err = fmt.Errorf("answer has correlation ID %d, expected %d for %s", id, call.id, kmsg.NameForKey(call.req.Key()))
		}
		c.cfg.Trace.readDone(c, &call, len(f.data)+sizeBytes, now, err)
		if err != nil {
			f.release()
			c.die(err)
			c.answer(call, Answer{Err: c.errorOf(call.req, true, context.Cause(c.life))})
			return err
		}
		c.answer(call, Answer{frame: f, body: body})
	}
}

// explainRead says what a failed read means. Hanging up at the first request is
// how a listener that expects SASL rejects a client that does not: it answers
// ApiVersions to everybody, and nothing else.
func (c *Conn) explainRead(err error, first bool) error {
	_, network := errors.AsType[*net.OpError](err)
	switch {
	case context.Cause(c.life) != nil:
		return context.Cause(c.life)
	case first && c.queue.awaits() && (network || errors.Is(err, io.EOF)):
		return fmt.Errorf("the broker closed the connection instead of answering its first request: does the listener expect SASL? (%w)", err)
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the broker closed the connection (%w)", err)
	}
	return fmt.Errorf("cannot read an answer: %w", err)
}
