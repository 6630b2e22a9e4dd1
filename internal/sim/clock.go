package sim

import "time"

// epoch is when every simulation begins.
var epoch = time.Unix(1_000_000_000, 0).UTC()

// clock is virtual time with what is to happen. What happens at the same time
// happens in the order in which it was planned.
type clock struct {
	now   time.Time
	queue []plan // a heap: the first is next
	count uint64
	spins int // how much has happened at this time
}

type plan struct {
	at    time.Duration // since epoch
	order uint64
	do    func()
}

func (p *plan) before(other *plan) bool {
	return p.at < other.at || p.at == other.at && p.order < other.order
}

func (c *clock) after(d time.Duration, do func()) { c.at(c.now.Add(d), do) }

func (c *clock) at(t time.Time, do func()) {
	if t.Before(c.now) {
		t = c.now
	}
	c.count++
	one := plan{t.Sub(epoch), c.count, do}
	c.queue = append(c.queue, one)
	i := len(c.queue) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !one.before(&c.queue[parent]) {
			break
		}
		c.queue[i] = c.queue[parent]
		i = parent
	}
	c.queue[i] = one
}

// next lets the next thing happen, or reports that there is none before end.
func (c *clock) next(end time.Time) bool {
	if len(c.queue) == 0 || c.queue[0].at > end.Sub(epoch) {
		return false
	}
	first := c.queue[0]
	last := len(c.queue) - 1
	one := c.queue[last]
	c.queue[last] = plan{}
	c.queue = c.queue[:last]
	if last > 0 {
		c.sink(one)
	}
	if at := epoch.Add(first.at); at.After(c.now) {
		c.spins, c.now = 0, at
	}
	c.spins++
	first.do()
	return true
}

// sink puts one where it belongs, beginning at the top, which is free.
func (c *clock) sink(one plan) {
	i := 0
	for {
		least := 2*i + 1
		if least >= len(c.queue) {
			break
		}
		if right := least + 1; right < len(c.queue) && c.queue[right].before(&c.queue[least]) {
			least = right
		}
		if one.before(&c.queue[least]) {
			break
		}
		c.queue[i] = c.queue[least]
		i = least
	}
	c.queue[i] = one
}
