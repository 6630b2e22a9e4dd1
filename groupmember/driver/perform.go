package driver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/musterkafka/muster/groupmember"
)

// perform does one action. A question is asked in a goroutine of its own.
func (l *loop) perform(a groupmember.Action) {
	switch a := a.(type) {
	case groupmember.Find:
		l.ask(a.Seq, l.find(a))
	case groupmember.Send:
		l.ask(a.Seq, l.send(a))
	case groupmember.Encode:
		l.ask(a.Seq, l.encode(a))
	case groupmember.Plan:
		l.ask(a.Seq, l.plan(a))
	case groupmember.Decode:
		l.ask(a.Seq, l.decode(a))
	case groupmember.Resolve:
		l.ask(a.Seq, l.resolve(a))
	case groupmember.Revoke:
		l.ask(a.Seq, l.revoke(a))
	case groupmember.Cancel:
		if cancel := l.cancels[a.Seq]; cancel != nil {
			cancel(errNotWanted)
		}
	case groupmember.Assigned:
		l.ports.Owner.Assigned(a.Generation, a.Added, a.Owned)
	case groupmember.Suspended:
		l.log(slog.LevelWarn, "group member suspended: it must assume that its partitions are lost")
		l.ports.Owner.Suspended()
	case groupmember.Resumed:
		l.log(slog.LevelInfo, "group member resumed")
		l.ports.Owner.Resumed()
	case groupmember.Committed:
		l.reply(a.Ticket, reply{results: a.Results, failure: a.Failure})
	case groupmember.LookedUp:
		l.reply(a.Ticket, reply{results: a.Results, failure: a.Failure})
	case groupmember.Warned:
		l.log(slog.LevelWarn, a.Text)
	case groupmember.Rebalanced:
		l.logRebalance(a.Rebalance)
		l.ports.Owner.Rebalanced(a.Rebalance)
	case groupmember.Moved:
		l.log(slog.LevelDebug, "group member moved", "from", a.From.String(), "to", a.To.String(), "why", a.Why)
	case groupmember.Exit:
		l.exit = &a
	}
}

// ask has f answered elsewhere and brings its event back to the loop.
func (l *loop) ask(seq groupmember.Seq, f func(context.Context) groupmember.Event) {
	ctx, cancel := context.WithCancelCause(l.work)
	l.cancels[seq] = cancel
	l.questions.Go(func() {
		defer cancel(nil)
		ev := f(ctx)
		select {
		case l.answers <- answer{seq, ev}:
		case <-l.work.Done():
		}
	})
}

func (l *loop) reply(ticket groupmember.Ticket, r reply) {
	if to := l.replies[ticket]; to != nil {
		to <- r // has room
		delete(l.replies, ticket)
	}
}

func (l *loop) find(a groupmember.Find) func(context.Context) groupmember.Event {
	return func(ctx context.Context) groupmember.Event {
		code, err := l.ports.Coordinator.Find(ctx, a.Forget)
		return groupmember.Found{Seq: a.Seq, Code: code, Failure: failureOf(err, groupmember.Unreachable)}
	}
}

func (l *loop) send(a groupmember.Send) func(context.Context) groupmember.Event {
	return func(ctx context.Context) groupmember.Event {
		resp, err := l.ports.Coordinator.Request(ctx, a.Route, a.Req)
		if err != nil {
			return groupmember.Replied{Seq: a.Seq, Failure: failureOf(err, groupmember.Unreachable)}
		}
		return groupmember.Replied{Seq: a.Seq, Resp: resp}
	}
}

func (l *loop) encode(a groupmember.Encode) func(context.Context) groupmember.Event {
	return func(ctx context.Context) groupmember.Event {
		ev := groupmember.Encoded{Seq: a.Seq}
		ev.Failure = guarded(func() (err error) {
			ev.Subscription, err = l.ports.Translator.Encode(ctx, a.Owned, a.Generation)
			return err
		})
		return ev
	}
}

func (l *loop) plan(a groupmember.Plan) func(context.Context) groupmember.Event {
	return func(ctx context.Context) groupmember.Event {
		ev := groupmember.Planned{Seq: a.Seq}
		ev.Failure = guarded(func() (err error) {
			ev.Assignments, ev.Group, err = l.ports.Translator.Plan(ctx, a)
			if err == nil && ev.Assignments == nil && !a.Skip {
				err = errors.New("the assignor returned no plan")
			}
			return err
		})
		return ev
	}
}

func (l *loop) decode(a groupmember.Decode) func(context.Context) groupmember.Event {
	return func(ctx context.Context) groupmember.Event {
		ev := groupmember.Decoded{Seq: a.Seq}
		ev.Failure = guarded(func() (err error) {
			ev.Partitions, ev.Foreign, err = l.ports.Translator.Decode(ctx, a.Protocol, a.Assignment)
			return err
		})
		return ev
	}
}

func (l *loop) resolve(a groupmember.Resolve) func(context.Context) groupmember.Event {
	return func(ctx context.Context) groupmember.Event {
		ev := groupmember.Decoded{Seq: a.Seq}
		ev.Failure = guarded(func() (err error) {
			ev.Partitions, err = l.ports.Translator.Resolve(ctx, a.Topics)
			return err
		})
		return ev
	}
}

// revoke calls Owner.Revoke once the one before it has returned.
func (l *loop) revoke(a groupmember.Revoke) func(context.Context) groupmember.Event {
	before, returned := l.revoking, make(chan struct{})
	l.revoking = returned
	return func(ctx context.Context) groupmember.Event {
		defer close(returned)
		if before != nil {
			<-before
		}
		l.ports.Owner.Revoke(ctx, a.Partitions, a.Lost)
		return groupmember.Released{Seq: a.Seq}
	}
}

// guarded makes a failure of f's error or panic: f may run code of the
// application.
func guarded(f func() error) (failure groupmember.Failure) {
	defer func() {
		if r := recover(); r != nil {
			failure = groupmember.Failure{Kind: groupmember.Rejected, Text: fmt.Sprintf("panic: %v", r)}
		}
	}()
	return failureOf(f(), groupmember.Rejected)
}
