package driver

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/musterkafka/muster/groupmember"
)

var (
	errNotWanted = errors.New("the group member does not want the answer any more")
	errEnded     = errors.New("the group member has ended")
)

// answer is an event that closes the question seq.
type answer struct {
	seq   groupmember.Seq
	event groupmember.Event
}

// loop steps the member. It owns all of its fields; nothing else touches them.
type loop struct {
	group   *Group
	member  *groupmember.Member
	ports   Ports
	hearing time.Duration

	work      context.Context // ends with the member
	questions sync.WaitGroup
	answers   chan answer
	cancels   map[groupmember.Seq]context.CancelCauseFunc // of the open questions
	replies   map[groupmember.Ticket]chan<- reply
	revoking  <-chan struct{} // closed when the last Owner.Revoke has returned

	timer *time.Timer
	deaf  time.Time // until when signs of life are not passed on; zero if they are
	out   []groupmember.Action
	exit  *groupmember.Exit
}

// run drives member until it exits, and returns when every port call has come
// back.
func run(g *Group, member *groupmember.Member, hearing time.Duration) {
	work, cancel := context.WithCancelCause(context.Background())
	l := &loop{
		group: g, member: member, ports: g.ports, hearing: hearing,
		work:    work,
		answers: make(chan answer),
		cancels: make(map[groupmember.Seq]context.CancelCauseFunc),
		replies: make(map[groupmember.Ticket]chan<- reply),
		timer:   time.NewTimer(0),
	}
	defer l.questions.Wait()
	defer cancel(errEnded)
	defer l.timer.Stop()

	l.step(groupmember.Start{})
	for l.exit == nil {
		l.turn()
	}
	g.final = outcome{failure: l.exit.Failure, status: member.Status()}
	l.logEnd()
	close(g.exited)
}

// logEnd tells of an end that nobody asked for, or that was cut short.
func (l *loop) logEnd() {
	failure := l.exit.Failure
	if !failure.Failed() {
		return
	}
	level := slog.LevelError
	if failure.Kind == groupmember.Canceled {
		level = slog.LevelWarn
	}
	attributes := []any{"error", l.group.failed("group membership", failure, nil)}
	if last := l.group.final.status.Last; last != nil && endsMember(last.Outcome) {
		attributes = append(attributes, describe(last)...)
	}
	l.log(level, "group member ended", attributes...)
}

// turn waits for the next thing to happen and steps the member with it.
func (l *loop) turn() {
	l.setTimer()
	select {
	case a := <-l.answers:
		delete(l.cancels, a.seq)
		l.step(a.event)
	case in := <-l.group.inbox:
		l.accept(in)
	case <-l.group.nudge:
		l.grant(l.group.take())
	case <-l.timer.C:
		if !l.deaf.IsZero() && !time.Now().Before(l.deaf) {
			l.deaf = time.Time{}
			l.group.heard.Store(false)
		}
		l.step(groupmember.Elapsed{})
	}
}

func (l *loop) setTimer() {
	at := l.member.Deadline()
	if at.IsZero() || !l.deaf.IsZero() && l.deaf.Before(at) {
		at = l.deaf
	}
	if at.IsZero() {
		l.timer.Stop()
		return
	}
	l.timer.Reset(time.Until(at))
}

// accept takes a caller's input.
func (l *loop) accept(in input) {
	if in.event == nil {
		in.reply <- reply{status: l.member.Status()}
		return
	}
	if in.reply != nil {
		l.replies[in.ticket] = in.reply
	}
	l.step(in.event)
}

func (l *loop) grant(w wishes) {
	if w.asked {
		l.deaf = time.Now().Add(l.hearing)
		l.step(groupmember.Asked{})
	}
	if w.rejoin != "" && l.exit == nil {
		l.step(groupmember.Rejoin{Why: w.rejoin})
	}
}

// step gives the member one event and does what it answers.
func (l *loop) step(ev groupmember.Event) {
	if t := l.ports.Trace; t != nil && t.Event != nil {
		t.Event(ev)
	}
	now := time.Now()
	l.out = l.member.Step(now, ev, l.out[:0])
	if h := l.ports.History; h != nil {
		h.Step(now, ev, l.out)
	}
	l.publish(l.member.Trusted())
	for _, a := range l.out {
		if t := l.ports.Trace; t != nil && t.Action != nil {
			t.Action(a)
		}
		l.perform(a)
	}
	clear(l.out)
}

// publish makes the liveness deadline visible, before anything is handed out
// under it.
func (l *loop) publish(at time.Time) {
	if was := l.group.trusted.Load(); was == nil || !was.Equal(at) {
		l.group.trusted.Store(&at)
	}
}

// log writes a line with who this is about.
func (l *loop) log(level slog.Level, text string, attributes ...any) {
	if l.ports.Log == nil || !l.ports.Log.Enabled(l.work, level) {
		return
	}
	status := l.member.Status()
	who := []any{"group", l.group.name, "member", status.MemberID, "generation", status.Generation}
	l.ports.Log.Log(l.work, level, text, append(who, attributes...)...)
}
