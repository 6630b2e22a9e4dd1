package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/musterkafka/muster/bench/member"
)

const (
	casePair  = "pair"
	caseCrowd = "crowd"
	casePace  = "pace" // not a measurement: writes records
)

// task is what one process does.
type task struct {
	Case     string
	Client   string
	Protocol member.Protocol
	Broker   string
	Groups   []group // at the same time
}

// group is one that is measured.
type group struct {
	Topic, Name string
	Run         int
	Phase       time.Duration // of its changes, after a heartbeat
}

// figure is one measured time.
type figure struct {
	Client   string
	Protocol member.Protocol
	Name     string // of what was measured; of the case if it failed
	Run      int
	Millis   float64
	Error    string `json:",omitempty"`
}

// apart is how long after one another the groups of a task start, so that they do not
// disturb each other.
const apart = 750 * time.Millisecond

// patience is how long a task may take before it counts as hung.
const patience = 2 * time.Minute

// work does a task in this process and writes its figures to standard output.
func work(ctx context.Context, encoded string) error {
	var t task
	if err := json.Unmarshal([]byte(encoded), &t); err != nil {
		return fmt.Errorf("-child: %w", err)
	}
	if t.Case == casePace {
		return pace(ctx, t)
	}
	all := clients()
	i := slices.IndexFunc(all, func(c member.Client) bool { return c.Name == t.Client })
	if i < 0 {
		return fmt.Errorf("-child: no client %q", t.Client)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("it has not come about in time"))
	defer cancel()
	var mu sync.Mutex
	out := json.NewEncoder(os.Stdout)
	var running sync.WaitGroup
	for n, g := range t.Groups {
		tell := func(f figure) {
			f.Client, f.Protocol, f.Run = t.Client, t.Protocol, g.Run
			mu.Lock()
			defer mu.Unlock()
			_ = out.Encode(f) // who does not read it misses it
		}
		running.Go(func() {
			time.Sleep(time.Duration(n) * apart)
			err := t.measure(ctx, all[i], g, func(name string, d time.Duration) { tell(figure{Name: name, Millis: d.Seconds() * 1000}) })
			if err != nil {
				tell(figure{Name: t.Case, Error: err.Error()})
			}
		})
	}
	running.Wait()
	return nil
}

func (t task) measure(ctx context.Context, c member.Client, g group, tell teller) error {
	o := member.Options{Broker: t.Broker, Topic: g.Topic, Group: g.Name, Protocol: t.Protocol}
	if t.Case == caseCrowd {
		return crowd(ctx, c, o, tell)
	}
	return pair(ctx, c, o, g.Phase, tell)
}
