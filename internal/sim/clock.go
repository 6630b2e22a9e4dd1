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
	at    time.Time
	order uint64
	do    func()
}

func (p plan) before(other plan) bool {
	if p.at.Equal(other.at) {
		return p.order < other.order
	}
	return p.at.Before(other.at)
}

func (c *clock) after(d time.Duration, do func()) { c.at(c.now.Add(d), do) }

func (c *clock) at(t time.Time, do func()) {
	if t.Before(c.now) {
		t = c.now
	}
	c.count++
	c.queue = append(c.queue, plan{t, c.count, do})
	for i := len(c.queue) - 1; i > 0; {
		parent := (i - 1) / 2
		if !c.queue[i].before(c.queue[parent]) {
			return
		}
		c.queue[i], c.queue[parent] = c.queue[parent], c.queue[i]
		i = parent
	}
}

// next lets the next thing happen, or reports that there is none before end.
func (c *clock) next(end time.Time) bool {
	if len(c.queue) == 0 || c.queue[0].at.After(end) {
		return false
	}
	first := c.queue[0]
	last := len(c.queue) - 1
	c.queue[0] = c.queue[last]
	c.queue[last] = plan{}
	c.queue = c.queue[:last]
	c.sink()
	if first.at.After(c.now) {
		c.spins = 0
	}
	c.spins++
	c.now = first.at
	first.do()
	return true
}

func (c *clock) sink() {
	for i := 0; ; {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(c.queue) && c.queue[child].before(c.queue[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		c.queue[i], c.queue[least] = c.queue[least], c.queue[i]
		i = least
	}
}
