package demo

import "sync"

// ledger counts every record of the demo. Records are numbered from 0. It may
// be used from many goroutines.
type ledger struct {
	mu       sync.Mutex
	produced []bool // acknowledged by the broker
	reads    []int  // how often each was handed to a member
}

// totals is what a ledger adds up to.
type totals struct {
	Produced   int // acknowledged
	Consumed   int // read at least once
	Lost       int // acknowledged and never read
	Duplicated int // reads beyond the first
}

func newLedger(records int) *ledger {
	return &ledger{produced: make([]bool, records), reads: make([]int, records)}
}

func (l *ledger) written(number int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.produced[number] = true
}

// read counts one delivery; a number that the demo never wrote is ignored.
func (l *ledger) read(number int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if number >= 0 && number < len(l.reads) {
		l.reads[number]++
	}
}

func (l *ledger) totals() totals {
	l.mu.Lock()
	defer l.mu.Unlock()
	var t totals
	for number, reads := range l.reads {
		if l.produced[number] {
			t.Produced++
		}
		switch {
		case reads > 0:
			t.Consumed++
			t.Duplicated += reads - 1
		case l.produced[number]:
			t.Lost++
		}
	}
	return t
}
