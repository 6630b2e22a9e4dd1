package sim

import (
	"time"

	"github.com/musterkafka/muster/groupmember"
)

// question is one that the process answers itself.
type question struct {
	seq        groupmember.Seq
	event      func() groupmember.Event // the answer
	ifCanceled groupmember.Event        // the answer if it is not wanted any more
	canceled   bool
	late       bool              // it has been put off
	until      groupmember.State // in which it is answered then, at the latest after some time
}

// answer answers a question of the member's after a while, or as canceled if it
// is not wanted any more by then.
func (p *process) answer(seq groupmember.Seq, d time.Duration, event func() groupmember.Event, canceled groupmember.Event) {
	p.open = append(p.open, question{seq: seq, event: event, ifCanceled: canceled})
	p.finish(seq, d)
	if w := p.world; w.faulty && d > time.Second && w.random.IntN(2) == 0 {
		w.after(d/2, p.disturb)
	}
}

// disturb has the member lose interest in what it asked its own process.
func (p *process) disturb() {
	switch w := p.world; {
	case p.dead || w.settling:
	case w.random.IntN(2) == 0:
		w.expel(p)
	default:
		p.run(func() { p.leave() })
	}
}

func (p *process) finish(seq groupmember.Seq, d time.Duration) {
	p.world.after(d, func() { p.run(func() { p.finishNow(seq) }) })
}

func (p *process) finishNow(seq groupmember.Seq) {
	w := p.world
	switch q, ok := p.settle(seq); {
	case !ok:
	case !q.canceled:
		p.step(q.event())
	case w.faulty && !q.late && w.random.IntN(4) > 0:
		p.putOff(q)
	case w.random.IntN(2) == 0:
		p.step(q.ifCanceled)
	default:
		p.step(q.event())
	}
}

// seldom are states in which members are seldom or not for long.
var seldom = [...]groupmember.State{
	groupmember.Finding, groupmember.Waiting, groupmember.Releasing, groupmember.Yielding, groupmember.Yielding, groupmember.Parting, groupmember.Resting,
}

// putOff has a question that is not wanted any more answered late: when the member
// is in some other state, or after some time. Who is told to stop may not listen.
func (p *process) putOff(q question) {
	w := p.world
	q.late, q.until = true, groupmember.State(w.random.IntN(states))
	if w.random.IntN(2) == 0 {
		q.until = seldom[w.random.IntN(len(seldom))]
	}
	if q.until == groupmember.Resting {
		p.app.stuckTill = w.now.Add(30 * time.Second)
	}
	p.open = append(p.open, q)
	p.finish(q.seq, w.between(0, 40*time.Second))
}

// moved takes note of the member's state.
func (p *process) moved(to groupmember.State) {
	p.state = to
	for _, q := range p.open {
		if q.late && q.until == to {
			p.finish(q.seq, 0)
		}
	}
}

func (p *process) settle(seq groupmember.Seq) (question, bool) {
	for i, q := range p.open {
		if q.seq == seq {
			p.open = append(p.open[:i], p.open[i+1:]...)
			return q, true
		}
	}
	return question{}, false
}
