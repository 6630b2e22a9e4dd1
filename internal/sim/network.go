package sim

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/internal/sim/coordinator"
)

// link is one connection of a process to a broker. What is sent on it arrives in
// order, and the broker serves one request after the other.
type link struct {
	process *process
	broker  *broker
	route   groupmember.Route

	closed bool // the process knows that it is broken
	broken bool // nothing comes back
	silent bool // and nothing says so but requests that time out, which held ones do not
	up     time.Time
	down   time.Time
	open   []*call // sent and not answered, as the process sees it
	queue  []*call // arrived and not answered; the first is being served
}

// call is one request on its way.
type call struct {
	id   coordinator.Call
	link *link
	seq  groupmember.Seq
	req  kmsg.Request
	sent time.Time
	lost bool // it will not arrive
	by   answerer
}

// answerer is who answered a call.
type answerer uint8

const (
	outsider  answerer = iota // anybody whose answer does not prolong the membership
	blindfold                 // a broker that loads the group and accepts heartbeats unseen
	knowing                   // the coordinator, who found that the member is one
)

// delay is the time a message takes.
func (w *world) delay() time.Duration {
	d := time.Duration(1+w.random.IntN(4)) * time.Millisecond
	if w.faulty && w.random.IntN(20) == 0 {
		d += time.Duration(w.random.IntN(1500)) * time.Millisecond
	}
	return d
}

// request sends what the member wants to send to the coordinator it has found.
func (p *process) request(seq groupmember.Seq, route groupmember.Route, req kmsg.Request) {
	w, b := p.world, p.coordinator
	l := p.link(b, route)
	if l == nil {
		if b == nil || !b.up || p.cutOff {
			p.answerLater(time.Duration(1+w.random.IntN(500))*time.Millisecond, groupmember.Replied{
				Seq: seq, Failure: groupmember.Failure{Kind: groupmember.Unreachable, Unsent: true, Text: "connection refused"},
			})
			return
		}
		l = &link{process: p, broker: b, route: route, up: w.now.Add(w.delay())}
		p.links = append(p.links, l)
	}
	w.calls++
	c := &call{id: coordinator.Call(w.calls), link: l, seq: seq, req: req, sent: w.now, lost: l.broken}
	l.open = append(l.open, c)
	if l.silent && !mayBeHeld(c.req) {
		w.after(requestTimeout, func() { l.close("timed out") })
	}
	l.up = later(l.up, w.now).Add(w.delay())
	w.at(l.up, func() { w.arrive(c) })
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func (p *process) link(b *broker, route groupmember.Route) *link {
	for _, l := range p.links {
		if l.broker == b && l.route == route {
			return l
		}
	}
	return nil
}

// arrive brings a request to its broker.
func (w *world) arrive(c *call) {
	l := c.link
	if c.lost || !l.broker.up {
		return
	}
	if join, ok := c.req.(*kmsg.JoinGroupRequest); ok && l.broken && join.MemberID != "" {
		l.process.misled = w.now // it is taken for a new one
	}
	l.queue = append(l.queue, c)
	if len(l.queue) == 1 {
		w.serve(c)
	}
}

// reply sends the response to a call back and serves the next one.
func (w *world) reply(c *call, resp kmsg.Response) {
	l := c.link
	l.queue = l.queue[1:]
	if !l.broken {
		l.down = later(l.down, w.now).Add(w.delay())
		read := w.plan.era.response(resp)
		w.at(l.down, func() { l.process.hear(c, read) })
	}
	if len(l.queue) > 0 {
		w.serve(l.queue[0])
	}
}

// hear brings a response to the process.
func (p *process) hear(c *call, resp kmsg.Response) {
	if c.link.broken || !c.link.forget(c) {
		return
	}
	p.deliver(groupmember.Replied{Seq: c.seq, Resp: resp}, c)
}

func (l *link) forget(c *call) bool {
	for i, other := range l.open {
		if other == c {
			l.open = append(l.open[:i], l.open[i+1:]...)
			return true
		}
	}
	return false
}

// breakLink cuts a connection. Of what is on its way to the broker a first part
// may still arrive, but no commit: it could be overtaken by one on the next
// connection, and no client can do anything about that. The process notices after
// a while.
func (w *world) breakLink(l *link, notice time.Duration) {
	if l.broken {
		return
	}
	l.broken = true
	if len(l.queue) > 1 {
		l.queue = l.queue[:1] // the broker does not read on while it holds one
	}
	lost := w.random.IntN(2) == 0
	for _, c := range l.open {
		if len(l.queue) > 0 && c.id <= l.queue[0].id {
			continue
		}
		k := kindOf(c.req)
		lost = lost || k == commitCall || k == txnCall || w.random.IntN(3) == 0
		c.lost = lost
	}
	if notice == never {
		l.silent = true
		if slices.ContainsFunc(l.open, func(c *call) bool { return !mayBeHeld(c.req) }) {
			w.after(requestTimeout, func() { l.close("timed out") })
		}
		return
	}
	w.after(notice, func() { l.close("connection reset") })
}

// never is how long it takes to notice that a connection is broken if nothing
// is heard of it: packets are dropped on the way.
const never = time.Duration(-1)

// requestTimeout is how long a request that no broker holds may take.
const requestTimeout = 8 * time.Second

// close lets the process know that the connection is broken: what is open on
// it has failed.
func (l *link) close(why string) {
	if l.closed {
		return
	}
	l.closed = true
	p := l.process
	for i, other := range p.links {
		if other == l {
			p.links = append(p.links[:i], p.links[i+1:]...)
			break
		}
	}
	kind := groupmember.Unreachable
	if p.world.random.IntN(4) == 0 {
		kind = groupmember.TimedOut
	}
	for _, c := range l.open {
		p.deliver(groupmember.Replied{Seq: c.seq, Failure: groupmember.Failure{Kind: kind, Text: why}}, nil)
	}
	l.open = nil
}

// cancel gives a request up. A connection on which the broker may hold it is
// closed, so that nothing waits behind it.
func (p *process) cancel(seq groupmember.Seq) bool {
	for _, l := range p.links {
		for _, c := range l.open {
			if c.seq != seq {
				continue
			}
			l.forget(c)
			p.answerLater(0, groupmember.Replied{Seq: seq, Failure: groupmember.Failure{Kind: groupmember.Canceled, Text: "given up"}})
			if l.route == groupmember.RouteGroup && mayBeHeld(c.req) {
				p.world.breakLink(l, 0)
				p.world.after(0, func() { l.close("given up") })
				c.lost = c.lost || p.world.random.IntN(2) == 0 && len(l.queue) == 0
			}
			return true
		}
	}
	return false
}

func mayBeHeld(req kmsg.Request) bool {
	switch req.(type) {
	case *kmsg.JoinGroupRequest, *kmsg.SyncGroupRequest:
		return true
	}
	return false
}
