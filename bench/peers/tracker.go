package main

import (
	"context"
	"sync"
	"time"

	"github.com/musterkafka/muster/bench/member"
)

// tracker follows what the members of one group own, and the records that they read.
type tracker struct {
	mu      sync.Mutex
	owned   map[int]map[int32]bool // by member
	records int
	want    map[int]int   // how many partitions which member should have; nil if nobody waits
	since   time.Time     // when want came true; zero if it is not
	changed chan struct{} // closed when since changes

	pauses bool // are being measured
	last   map[int32]time.Time
	pause  map[int32]time.Duration
}

func newTracker() *tracker {
	return &tracker{
		owned:   make(map[int]map[int32]bool),
		changed: make(chan struct{}),
		last:    make(map[int32]time.Time),
		pause:   make(map[int32]time.Duration),
	}
}

// events are those of member m.
func (t *tracker) events(m int) member.Events {
	return member.Events{
		Assigned: func(parts []int32) {
			t.edit(m, func(owned map[int32]bool) {
				for _, p := range parts {
					owned[p] = true
				}
			})
		},
		Revoked: func(parts []int32) {
			t.edit(m, func(owned map[int32]bool) {
				for _, p := range parts {
					delete(owned, p)
				}
			})
		},
		Cleared: func() { t.edit(m, func(owned map[int32]bool) { clear(owned) }) },
		Record:  t.record,
	}
}

func (t *tracker) edit(m int, change func(map[int32]bool)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.owned[m] == nil {
		t.owned[m] = make(map[int32]bool)
	}
	change(t.owned[m])
	t.look()
}

// look sees whether what is wanted is true. It is called with the mutex held.
func (t *tracker) look() {
	switch met := t.met(); {
	case met == !t.since.IsZero():
		return
	case met:
		t.since = time.Now()
	default:
		t.since = time.Time{}
	}
	close(t.changed)
	t.changed = make(chan struct{})
}

// met reports whether every member has as many partitions as wanted, none of them twice, and
// something was read.
func (t *tracker) met() bool {
	if t.want == nil || t.records == 0 {
		return false
	}
	seen := make(map[int32]bool)
	for m, n := range t.want {
		if len(t.owned[m]) != n {
			return false
		}
		for p := range t.owned[m] {
			if seen[p] {
				return false
			}
			seen[p] = true
		}
	}
	return true
}

func (t *tracker) record(p int32) {
	now := time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.records++; t.records == 1 {
		t.look()
	}
	if last, ok := t.last[p]; ok && t.pauses {
		t.pause[p] = max(t.pause[p], now.Sub(last))
	}
	t.last[p] = now
}

// await waits until every member has had as many partitions as want says for hold, and returns
// when that began.
func (t *tracker) await(ctx context.Context, want map[int]int, hold time.Duration) (time.Time, error) {
	t.mu.Lock()
	t.want, t.since = want, time.Time{}
	t.look()
	t.mu.Unlock()
	for {
		t.mu.Lock()
		since, changed := t.since, t.changed
		t.mu.Unlock()
		var over <-chan time.Time
		if !since.IsZero() {
			over = time.After(time.Until(since.Add(hold)))
		}
		select {
		case <-over:
			return since, nil
		case <-changed:
		case <-ctx.Done():
			return time.Time{}, context.Cause(ctx)
		}
	}
}

// partitions returns what member m has.
func (t *tracker) partitions(m int) map[int32]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	owned := make(map[int32]bool, len(t.owned[m]))
	for p := range t.owned[m] {
		owned[p] = true
	}
	return owned
}

// measurePauses begins to measure pauses, or ends it and returns the longest of the partitions that were both in before and
// in after, and the longest of all others.
func (t *tracker) measurePauses() (end func(before, after map[int32]bool) (kept, moved time.Duration)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pauses = true
	clear(t.pause)
	return func(before, after map[int32]bool) (kept, moved time.Duration) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.pauses = false
		for p, d := range t.pause {
			if before[p] && after[p] {
				kept = max(kept, d)
			} else {
				moved = max(moved, d)
			}
		}
		return kept, moved
	}
}
