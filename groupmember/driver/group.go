package driver

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/musterkafka/muster/groupmember"
)

// Group is a member that runs. All of its methods may be called from any
// goroutine, but none that takes a context from within [Owner.Assigned],
// [Owner.Suspended] or [Owner.Resumed].
//
// It has one goroutine, the loop, which alone steps the member, and one for
// each of the member's questions that is open. All are gone when Done is
// closed.
type Group struct {
	name     string
	instance string // "" for a dynamic member
	ports    Ports

	inbox  chan input    // to the loop; it takes until exited is closed
	nudge  chan struct{} // says that wishes have come; room for one
	exited chan struct{} // the member has exited: final is set
	done   chan struct{} // all goroutines are gone
	loop   sync.WaitGroup

	tickets atomic.Uint64
	trusted atomic.Pointer[time.Time]
	heard   atomic.Bool // the application asked not long ago

	mu     sync.Mutex
	wishes wishes

	final outcome // written before exited is closed, read after
}

// wishes are what callers want without waiting for it. Those of one kind are
// the same wish.
type wishes struct {
	asked  bool
	rejoin string
}

// input is an event of a caller, and where its answer goes.
type input struct {
	event  groupmember.Event // nil asks for the status only
	ticket groupmember.Ticket
	reply  chan<- reply // room for one; nil if there is no answer
}

// reply answers an input.
type reply struct {
	results []groupmember.OffsetResult
	failure groupmember.Failure
	status  groupmember.Status
}

// outcome is how the member ended.
type outcome struct {
	failure groupmember.Failure
	status  groupmember.Status
}

// Start makes a member and runs it until Leave, or until it cannot go on. It
// does not wait for anything. A config that is not valid gives a Group that is
// done at once, and Err says why. Ports may be called before Start has returned.
func Start(cfg groupmember.Config, ports Ports) *Group {
	g := &Group{
		name:     cfg.Group,
		instance: cfg.InstanceID,
		ports:    ports,
		inbox:    make(chan input),
		nudge:    make(chan struct{}, 1),
		exited:   make(chan struct{}),
		done:     make(chan struct{}),
	}
	member, err := groupmember.New(cfg)
	if err != nil {
		g.final.failure = failureOf(err, groupmember.Rejected)
		close(g.exited)
		close(g.done)
		return g
	}
	if cfg.PollInterval == 0 {
		g.heard.Store(true) // nobody listens
	}
	if ports.History != nil {
		ports.History.Begin(time.Now(), cfg)
	}
	g.loop.Go(func() {
		defer close(g.done)
		run(g, member, hearing(cfg.PollInterval))
	})
	return g
}

// hearing is how often a sign of life is passed on.
func hearing(interval time.Duration) time.Duration {
	return min(time.Second, interval/10)
}

// Commit commits offsets and waits for the outcome of each. What the member
// does not own is not committed: it has the code ILLEGAL_GENERATION, or the
// kind Forfeited if that is all. What may go away is tried again until ctx
// ends; a commit that was given up may still be carried out, but never after
// a later one. Its errors are *Error, or ctx's cause.
func (g *Group) Commit(ctx context.Context, offsets []groupmember.Offset) ([]groupmember.OffsetResult, error) {
	ticket := groupmember.Ticket(g.tickets.Add(1))
	return g.ask(ctx, "commit offsets", ticket, groupmember.Commit{Ticket: ticket, Offsets: offsets})
}

// CommitInTransaction is Commit as part of a producer's transaction (KIP-447), to
// which the group's offsets must have been added before. What the broker says of the
// transaction or its producer is in the codes of the results, and ends nothing here. When ctx ends,
// nothing more is sent; what is under way may still be carried out, so the transaction
// must be aborted and the producer's epoch raised. A broker before Kafka 2.5 is not asked: the
// kind is Unsupported.
func (g *Group) CommitInTransaction(ctx context.Context, producer groupmember.Producer, offsets []groupmember.Offset) ([]groupmember.OffsetResult, error) {
	const doing = "commit offsets in a transaction"
	ticket := groupmember.Ticket(g.tickets.Add(1))
	results, err := g.ask(ctx, doing, ticket, groupmember.Commit{Ticket: ticket, Offsets: offsets, Producer: &producer})
	if err != nil && context.Cause(ctx) != nil {
		_ = g.put(context.WithoutCancel(ctx), input{event: groupmember.Withdraw{Ticket: ticket}}) // or it has exited by itself
	}
	return results, err
}

// LookUp returns the committed offsets of partitions, stable ones only
// (KIP-447). What may go away is tried again until ctx ends or the partition
// is taken back, which gives the code ILLEGAL_GENERATION. Its errors are
// *Error, or ctx's cause.
func (g *Group) LookUp(ctx context.Context, partitions groupmember.Partitions) ([]groupmember.OffsetResult, error) {
	ticket := groupmember.Ticket(g.tickets.Add(1))
	return g.ask(ctx, "look up committed offsets", ticket, groupmember.LookUp{Ticket: ticket, Partitions: partitions})
}

func (g *Group) ask(ctx context.Context, doing string, ticket groupmember.Ticket, ev groupmember.Event) ([]groupmember.OffsetResult, error) {
	answer := make(chan reply, 1)
	if err := g.put(ctx, input{event: ev, ticket: ticket, reply: answer}); err != nil {
		return nil, g.wrap(doing, err)
	}
	select {
	case a := <-answer:
		if a.failure.Failed() {
			return nil, g.failed(doing, a.failure, nil)
		}
		return a.results, nil
	case <-ctx.Done():
		return nil, g.wrap(doing, context.Cause(ctx))
	}
}

var errExited = &Error{Failure: groupmember.Failure{Kind: groupmember.Closed, Unsent: true, Text: "the member has left the group"}}

// put hands an input to the loop, which answers all that it took before it
// ends.
func (g *Group) put(ctx context.Context, in input) error {
	select {
	case g.inbox <- in:
		return nil
	case <-g.exited:
		return errExited
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g *Group) wrap(doing string, err error) error {
	return g.failed(doing, failureOf(err, groupmember.Canceled), err)
}

func (g *Group) failed(doing string, failure groupmember.Failure, cause error) *Error {
	return &Error{Failure: failure, Op: doing, Group: g.name, Instance: g.instance, cause: cause}
}

// Rejoin asks for a new round, because of why, which is sent to the broker
// (KIP-800) and must not hold user data. It never waits; wishes that come
// before the first is looked at are one. After the end it does nothing.
func (g *Group) Rejoin(why string) {
	g.mu.Lock()
	if g.wishes.rejoin == "" {
		g.wishes.rejoin = why
	}
	g.mu.Unlock()
	g.poke()
}

// Asked says that the application asked for records (KIP-62). It is cheap
// enough for every poll, and without effect if the config has no PollInterval.
func (g *Group) Asked() {
	if g.heard.Load() || g.heard.Swap(true) {
		return
	}
	g.mu.Lock()
	g.wishes.asked = true
	g.mu.Unlock()
	g.poke()
}

func (g *Group) poke() {
	select {
	case g.nudge <- struct{}{}:
	default: // the loop has one to look at already
	}
}

// take returns the wishes that have come since the last call.
func (g *Group) take() wishes {
	g.mu.Lock()
	defer g.mu.Unlock()
	w := g.wishes
	g.wishes = wishes{}
	return w
}

// Trusted returns until when the member may assume its membership without
// another word from the coordinator; zero while it has none. It is an atomic
// load.
func (g *Group) Trusted() time.Time {
	if at := g.trusted.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// abandoned is how long Leave waits for ports to return after its context has
// ended.
const abandoned = time.Second

// Leave gives the partitions back, leaves the group because of why (KIP-800)
// and ends everything; with remain the group is not told (KIP-1092). When ctx
// ends, the rest is given up, and the error says so. It returns once all
// goroutines are gone, and at most a second after ctx has ended: a port that
// has not come back by then is left behind, and Done stays open. A second
// Leave waits like the first.
func (g *Group) Leave(ctx context.Context, why string, remain bool) error {
	if g.put(context.WithoutCancel(ctx), input{event: groupmember.Leave{Why: why, Remain: remain}}) != nil {
		return g.gone(ctx, nil)
	}
	select {
	case <-g.done:
		return g.Err()
	case <-ctx.Done():
		_ = g.put(context.WithoutCancel(ctx), input{event: groupmember.Abandon{}}) // or it has exited by itself
		return g.gone(ctx, context.Cause(ctx))
	}
}

// gone waits for the goroutines after the member has exited. cause is why the
// caller did not wait for that, if so.
func (g *Group) gone(ctx context.Context, cause error) error {
	last := time.NewTimer(abandoned)
	defer last.Stop()
	select {
	case <-g.done:
	case <-last.C:
		text := "an assignor, or another piece of the application's code, has not returned; its goroutine is left behind"
		return g.failed("leave", groupmember.Failure{Kind: groupmember.TimedOut, Text: text}, cause)
	}
	if cause == nil || !g.final.failure.Failed() {
		return nil
	}
	return g.failed("leave", g.final.failure, cause)
}

// Done is closed when the member has ended and all goroutines are gone.
func (g *Group) Done() <-chan struct{} { return g.done }

// Err returns why the member ended: nil before Done is closed and after a
// Leave that succeeded, else an *Error.
func (g *Group) Err() error {
	select {
	case <-g.done:
	default:
		return nil
	}
	if !g.final.failure.Failed() {
		return nil
	}
	return g.failed("group membership", g.final.failure, nil)
}

// Status returns a copy of what the member knows of itself, for debugging and
// tests. After the end it is that of the end.
func (g *Group) Status() groupmember.Status {
	answer := make(chan reply, 1)
	err := g.put(context.Background(), input{reply: answer})
	if errors.Is(err, errExited) {
		return g.final.status
	}
	return (<-answer).status
}
