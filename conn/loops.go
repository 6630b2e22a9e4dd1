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

// writeAll writes what is in the queue, and puts the pen down when there is
// nothing to write at the moment.
func (c *Conn) writeAll() {
	for {
		if err := c.writeQueued(); err != nil {
			c.die(err)
		}
		<-c.pen
		// A nudge that came before this moment has seen the pen taken.
		select {
		case <-c.wake:
		default:
			return
		}
		select {
		case c.pen <- struct{}{}:
		default:
			c.nudge() // whoever has it now may have looked at wake before us
			return
		}
	}
}

// writeQueued writes until the queue is empty or on hold, sees to the deadline of the oldest
// unanswered call, and has itself called again when that passes.
func (c *Conn) writeQueued() error {
	for {
		now := time.Now()
		if late, waited, ok := c.queue.overdue(now); ok {
			return fmt.Errorf("no answer to %s for %v: is the broker stopped or overloaded, or the network cut? (%w)",
				kmsg.NameForKey(late.req.Key()), waited.Round(time.Millisecond), os.ErrDeadlineExceeded)
		}
		call, ok, alarm := c.queue.next(now)
		if !ok {
			c.arm(now, alarm)
			return nil
		}
		if err := c.write(call); err != nil {
			return err
		}
	}
}

// arm sets the timer. One that fires too early only makes the write loop look
// again, so it is left alone unless it would be late.
func (c *Conn) arm(now, alarm time.Time) {
	if alarm.IsZero() || c.armed.After(now) && !alarm.Before(c.armed) {
		return
	}
	c.armed = alarm
	if c.timer == nil {
		c.timer = time.AfterFunc(alarm.Sub(now), c.nudge)
		return
	}
	c.timer.Reset(alarm.Sub(now))
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
