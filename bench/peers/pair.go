package main

import (
	"context"
	"fmt"
	"time"

	"github.com/musterkafka/muster/bench/member"
)

const (
	pairPartitions  = 12
	crowdMembers    = 20
	crowdPartitions = 100

	interval = 3 * time.Second // between heartbeats
	settled  = 2 * interval    // after so long a group counts as quiet
)

// A teller takes one figure.
type teller func(name string, d time.Duration)

// pair measures a group of two members whose changes fall phase after a heartbeat of the first.
func pair(ctx context.Context, c member.Client, o member.Options, phase time.Duration, tell teller) error {
	t := newTracker()
	start := time.Now()
	stop, err := c.Start(o, t.events(1))
	if err != nil {
		return err
	}
	defer stop()
	at, err := t.await(ctx, map[int]int{1: pairPartitions}, 0)
	if err != nil {
		return fmt.Errorf("first member: %w", err)
	}
	tell("first", at.Sub(start))
	if err := sleep(ctx, time.Until(at.Add(settled+phase))); err != nil {
		return err
	}

	before := t.partitions(1)
	pauses := t.measurePauses()
	start = time.Now()
	stopSecond, err := c.Start(o, t.events(2))
	if err != nil {
		return err
	}
	at, err = t.await(ctx, map[int]int{1: pairPartitions / 2, 2: pairPartitions / 2}, time.Second)
	if err != nil {
		stopSecond()
		return fmt.Errorf("second member: %w", err)
	}
	tell("join", at.Sub(start))
	kept, moved := pauses(before, t.partitions(1))
	if o.Protocol == member.Eager {
		tell("moved", max(kept, moved)) // all of them are taken back
	} else {
		tell("kept", kept)
		tell("moved", moved)
	}
	if err := sleep(ctx, time.Until(at.Add(settled+phase))); err != nil {
		stopSecond()
		return err
	}
	start = time.Now()
	closed := make(chan time.Duration, 1)
	go func() {
		stopSecond()
		closed <- time.Since(start)
	}()
	at, err = t.await(ctx, map[int]int{1: pairPartitions}, time.Second/2)
	if err != nil {
		return fmt.Errorf("second member leaves: %w", err)
	}
	tell("leave", at.Sub(start))
	select {
	case took := <-closed:
		tell("close", took)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// crowd measures many members that come and go at once.
func crowd(ctx context.Context, c member.Client, o member.Options, tell teller) error {
	t := newTracker()
	t.records = 1 // there are none to wait for
	want := make(map[int]int)
	type started struct {
		stop func()
		err  error
	}
	all := make(chan started, crowdMembers)
	start := time.Now()
	for m := range crowdMembers {
		want[m] = crowdPartitions / crowdMembers
		go func() {
			stop, err := c.Start(o, t.events(m))
			all <- started{stop, err}
		}()
	}
	var stops []func()
	for range crowdMembers {
		s := <-all
		if s.err != nil {
			return s.err
		}
		stops = append(stops, s.stop)
	}
	at, err := t.await(ctx, want, 3*time.Second/2)
	if err == nil {
		tell("crowd", at.Sub(start))
	}
	start = time.Now()
	gone := make(chan struct{}, crowdMembers)
	for _, stop := range stops {
		go func() {
			stop()
			gone <- struct{}{}
		}()
	}
	for range crowdMembers {
		<-gone
	}
	if err != nil {
		return fmt.Errorf("%d members: %w", crowdMembers, err)
	}
	tell("disperse", time.Since(start))
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
