package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// cast is the members on stage and those that crashed. It belongs to one
// goroutine.
type cast struct {
	stage *stage
	here  []*player
	dead  []*player
}

// play performs the steps, each once everybody who has joined was given
// partitions: brokers may let a new group wait for more members, and begin to
// wait anew with each that comes. It ends early when ctx does, or when a member
// cannot go on.
func (c *cast) play(ctx context.Context, steps []step) error {
	for _, st := range steps {
		select {
		case <-time.After(st.After):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := c.settle(ctx); err != nil {
			return err
		}
		if err := c.perform(ctx, st); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until everybody has been given partitions, once at least.
func (c *cast) settle(ctx context.Context) error {
	for _, p := range c.here {
		select {
		case <-p.owns:
		case <-p.ended:
			return fmt.Errorf("%s has stopped reading", p.name)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (c *cast) perform(ctx context.Context, st step) error {
	c.stage.board.tell("%s %s", st.Member, st.Act)
	switch st.Act {
	case join:
		p, err := c.stage.enter(ctx, st.Member)
		if err != nil {
			return err
		}
		c.here = append(c.here, p)
		return nil
	case leave:
		p, err := c.take(st.Member)
		if err != nil {
			return err
		}
		return c.stage.leave(ctx, p)
	case crash:
		p, err := c.take(st.Member)
		if err != nil {
			return err
		}
		c.stage.crash(p)
		c.dead = append(c.dead, p)
	}
	return nil
}

func (c *cast) take(name string) (*player, error) {
	for i, p := range c.here {
		if p.name == name {
			c.here = append(c.here[:i], c.here[i+1:]...)
			return p, nil
		}
	}
	return nil, fmt.Errorf("the script names %s, who is not here", name)
}

// exit makes everybody leave, side by side, and buries the dead. An error that
// ended a member's reading is among what it returns.
func (c *cast) exit(ctx context.Context) error {
	var wg sync.WaitGroup
	errs := make([]error, len(c.here))
	for i, p := range c.here {
		wg.Go(func() { errs[i] = errors.Join(c.stage.leave(ctx, p), p.err) })
	}
	for _, p := range c.dead {
		wg.Go(func() { bury(p) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
