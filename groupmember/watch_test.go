package groupmember_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// watch steps a member and fails the test when a step breaks a promise. It
// knows what the member was asked and told, not how it works.
type watch struct {
	t      testing.TB
	seed   uint64
	cfg    groupmember.Config
	member *groupmember.Member
	now    time.Time
	past   []any // the history: times, events, actions

	open       []groupmember.Action // questions, without those that were canceled
	closed     []groupmember.Action // questions that were answered or canceled
	revoking   map[groupmember.Seq][]int32
	last       groupmember.Seq
	state      groupmember.State
	owned      map[int32]bool // of the one topic
	suspended  bool
	exited     bool
	tickets    map[groupmember.Ticket]bool // asked and not answered
	sent       map[int32]int64             // highest offset in any OffsetCommit
	generation int32                       // given out by the JoinGroup answers
	joins      int                         // JoinGroups at this instant, since the last wish or Stable
	joinedAt   time.Time
	outcome    string // of the last ticket answered
	moves      map[[2]groupmember.State]bool
	account    account
}

func newWatch(t testing.TB, cfg groupmember.Config, seed uint64) *watch {
	member, err := groupmember.New(cfg)
	require.NoError(t, err)
	return &watch{
		t: t, seed: seed, cfg: cfg, member: member, now: epoch,
		owned: map[int32]bool{}, tickets: map[groupmember.Ticket]bool{}, sent: map[int32]int64{}, revoking: map[groupmember.Seq][]int32{},
		moves: map[[2]groupmember.State]bool{}, account: newAccount(),
	}
}

func (w *watch) history() string {
	lines := []string{fmt.Sprintf("seed %d", w.seed)}
	for _, one := range w.past {
		switch one := one.(type) {
		case time.Time:
			lines = append(lines, "at "+one.Sub(epoch).String())
		case groupmember.Event:
			lines = append(lines, "  "+groupmember.DescribeEvent(one))
		case groupmember.Action:
			lines = append(lines, "    "+groupmember.DescribeAction(one))
		}
	}
	return strings.Join(lines, "\n")
}

// holds fails the test, with the history, unless what is promised holds.
func (w *watch) holds(ok bool, promise string, args ...any) {
	if !ok {
		require.FailNow(w.t, fmt.Sprintf(promise, args...), w.history())
	}
}

func (w *watch) step(ev groupmember.Event) {
	w.past = append(w.past, w.now, ev)
	w.hear(ev)
	for _, a := range w.member.Step(w.now, ev, nil) {
		w.past = append(w.past, a)
		w.holds(!w.exited, "nothing follows an Exit")
		w.see(a)
	}
	w.after()
}

// hear notes what the member is told.
func (w *watch) hear(ev groupmember.Event) {
	switch ev := ev.(type) {
	case groupmember.Commit:
		w.tickets[ev.Ticket] = true
	case groupmember.LookUp:
		w.tickets[ev.Ticket] = true
	case groupmember.Rejoin, groupmember.Asked:
		w.joins = 0
	case groupmember.Released:
		w.release(ev.Seq)
	case groupmember.Found, groupmember.Replied, groupmember.Encoded, groupmember.Planned, groupmember.Decoded, groupmember.Start,
		groupmember.Withdraw, groupmember.Leave, groupmember.Abandon, groupmember.Elapsed:
	}
}

// release takes the partitions of a Revoke from the application.
func (w *watch) release(seq groupmember.Seq) {
	for _, id := range w.revoking[seq] {
		delete(w.owned, id)
		w.account.revoked[id] = true
	}
	delete(w.revoking, seq)
}

// see checks one action.
func (w *watch) see(a groupmember.Action) {
	switch a := a.(type) {
	case groupmember.Find:
		w.ask(a, a.Seq)
	case groupmember.Send:
		w.ask(a, a.Seq)
		w.request(a)
	case groupmember.Encode:
		w.ask(a, a.Seq)
		w.holds(w.cfg.Cooperative || len(a.Owned) == 0, "an eager member joins with empty hands")
	case groupmember.Plan:
		w.ask(a, a.Seq)
	case groupmember.Decode:
		w.ask(a, a.Seq)
	case groupmember.Resolve:
		w.holds(false, "the classic protocol has no topic IDs to resolve")
	case groupmember.Revoke:
		w.ask(a, a.Seq)
		w.revoke(a)
	case groupmember.Cancel:
		w.cancel(a.Seq)
	case groupmember.Assigned:
		w.assigned(a)
	case groupmember.Suspended:
		w.holds(!w.suspended && len(w.owned) > 0, "only who owns something is suspended, and once")
		w.suspended = true
	case groupmember.Resumed:
		w.holds(w.suspended, "only who is suspended resumes")
		w.suspended = false
	case groupmember.Committed:
		w.answered(a.Ticket, a.Results, a.Failure)
	case groupmember.LookedUp:
		w.answered(a.Ticket, a.Results, a.Failure)
	case groupmember.Warned:
	case groupmember.Rebalanced:
		w.explained(a.Rebalance)
	case groupmember.Moved:
		w.moved(a)
	case groupmember.Exit:
		w.exited = true
		w.holds(len(w.tickets) == 0, "all tickets are answered before the Exit")
		w.holds(len(w.owned) == 0 || w.suspended || w.allReleasing(), "nobody owns anything after the Exit")
		w.holds(len(w.account.before) == 0 && len(w.account.revoked) == 0 && len(w.account.lost) == 0, "all is explained before the Exit")
	}
}

func (w *watch) answered(ticket groupmember.Ticket, results []groupmember.OffsetResult, failure groupmember.Failure) {
	w.holds(w.tickets[ticket], "every ticket is answered once")
	delete(w.tickets, ticket)
	switch {
	case failure.Failed():
		w.outcome = "failed"
	case len(results) > 0 && results[0].Code != 0:
		w.outcome = kerr.TypedErrorForCode(results[0].Code).Message
	default:
		w.outcome = "ok"
	}
}

func (w *watch) allReleasing() bool {
	n := 0
	for _, ids := range w.revoking {
		n += len(ids)
	}
	return n == len(w.owned)
}

func (w *watch) ask(a groupmember.Action, seq groupmember.Seq) {
	w.holds(seq == w.last+1, "questions are numbered in a row")
	w.last = seq
	w.open = append(w.open, a)
	kind := kindOf(a)
	n := 0
	for _, other := range w.open {
		if kindOf(other) == kind {
			n++
		}
	}
	w.holds(n == 1 || kind == "OffsetFetch", "one %s at a time", kind)
}

// kindOf groups the questions of which only one may be open.
func kindOf(a groupmember.Action) string {
	send, ok := a.(groupmember.Send)
	if !ok {
		return fmt.Sprintf("%T", a)
	}
	switch name := kmsg.NameForKey(send.Req.Key()); name {
	case "JoinGroup", "SyncGroup", "LeaveGroup":
		return "request of the round"
	case "OffsetCommit", "TxnOffsetCommit":
		return "commit"
	default:
		return name
	}
}

func (w *watch) request(a groupmember.Send) {
	switch req := a.Req.(type) {
	case *kmsg.JoinGroupRequest:
		if !w.joinedAt.Equal(w.now) {
			w.joinedAt, w.joins = w.now, 0
		}
		w.joins++
		w.holds(w.joins <= 10, "no join storms")
		w.holds(w.cfg.Cooperative || len(w.owned) == 0, "an eager member owns nothing while it joins")
		w.holds(a.Route == groupmember.RouteGroup, "what may be held goes over the group route")
	case *kmsg.SyncGroupRequest:
		w.holds(req.Generation == w.generation || req.Generation >= 0, "SyncGroup is of a generation")
	case *kmsg.HeartbeatRequest:
		w.holds(req.MemberID != "", "only who has an ID heartbeats")
		w.holds(req.Generation >= 0 || w.state == groupmember.Joining, "a heartbeat is of a generation, or beside a JoinGroup")
		held := w.state == groupmember.Joining || w.state == groupmember.Syncing
		w.holds(held == (a.Route == groupmember.RouteControl), "a heartbeat does not wait behind a held request")
	case *kmsg.LeaveGroupRequest:
		w.holds(req.MemberID != "", "a member leaves with its ID")
		w.holds(len(w.owned) == 0, "a member that leaves owns nothing")
	default:
		w.holds(a.Route == groupmember.RouteControl, "%T is not held", req)
		w.offsets(a.Req)
	}
}

// offsets checks that commits never go back: the history only ever asks for
// higher ones.
func (w *watch) offsets(req kmsg.Request) {
	wire := groupmember.OffsetsIn(req)
	if wire == nil {
		return
	}
	w.holds(!w.suspended, "nothing is committed while suspended")
	w.holds(w.now.Before(w.member.Trusted()), "nothing is committed past the liveness deadline")
	for _, o := range wire {
		w.holds(o.Next >= w.sent[o.Partition], "offsets of %d do not go back", o.Partition)
		w.sent[o.Partition] = o.Next
	}
}

func (w *watch) revoke(a groupmember.Revoke) {
	ids := a.Partitions["orders"]
	w.holds(len(ids) > 0, "a Revoke takes something")
	for _, id := range ids {
		w.holds(w.owned[id], "only what is owned is taken")
	}
	if a.Lost {
		w.suspended = false
		w.holds(len(ids) == len(w.owned), "a loss takes everything")
		maps.Copy(w.account.lost, w.owned)
		w.owned = map[int32]bool{}
		return
	}
	w.revoking[a.Seq] = ids
}

func (w *watch) cancel(seq groupmember.Seq) {
	i := slices.IndexFunc(w.open, func(a groupmember.Action) bool { return seqOf(a) == seq })
	w.holds(i >= 0, "only an open question is canceled")
	w.closed = append(w.closed, w.open[i])
	w.open = slices.Delete(w.open, i, i+1)
	delete(w.revoking, seq)
}

func seqOf(a groupmember.Action) groupmember.Seq {
	switch a := a.(type) {
	case groupmember.Find:
		return a.Seq
	case groupmember.Send:
		return a.Seq
	case groupmember.Encode:
		return a.Seq
	case groupmember.Plan:
		return a.Seq
	case groupmember.Decode:
		return a.Seq
	case groupmember.Resolve:
		return a.Seq
	case groupmember.Revoke:
		return a.Seq
	case groupmember.Cancel, groupmember.Assigned, groupmember.Suspended, groupmember.Resumed, groupmember.Committed,
		groupmember.LookedUp, groupmember.Warned, groupmember.Rebalanced, groupmember.Moved, groupmember.Exit:
	}
	return 0
}

func (w *watch) assigned(a groupmember.Assigned) {
	w.account.generation = a.Generation
	for _, id := range a.Added["orders"] {
		w.holds(!w.owned[id], "only what is new is added")
		w.owned[id] = true
	}
	w.holds(len(w.owned) == len(a.Owned["orders"]), "the application has what is assigned, and nothing else")
	for _, id := range a.Owned["orders"] {
		w.holds(w.owned[id], "the application has what is assigned")
	}
}

func (w *watch) moved(a groupmember.Moved) {
	w.holds(a.From == w.state, "moves follow one another")
	w.state = a.To
	if a.To == groupmember.Stable {
		w.joins = 0
	}
	w.moves[[2]groupmember.State{a.From, a.To}] = true
	w.holds(slices.Contains(a.From.Next(), a.To), "%v to %v is a legal move", a.From, a.To)
}

// after checks what must hold between steps.
func (w *watch) after() {
	for range 4 { // what is due now is done now
		at := w.member.Deadline()
		if at.IsZero() || at.After(w.now) {
			break
		}
		for _, a := range w.member.Step(w.now, groupmember.Elapsed{}, nil) {
			w.past = append(w.past, a)
			w.see(a)
		}
	}
	at := w.member.Deadline()
	w.holds(at.IsZero() || at.After(w.now), "no timer spins")
	w.holds(w.exited || w.state == groupmember.Idle || w.state == groupmember.Resting || len(w.open) > 0 || !at.IsZero(), "a member never stands still")
	w.holds(!w.exited || at.IsZero(), "an exited member has no timer")
	status := w.member.Status()
	w.holds(status.State == w.state, "the status tells the state")
	w.holds(status.State != groupmember.Stable || len(status.Owned["orders"]) == len(w.owned), "a stable member owns what it was assigned")
}

// elapse lets time pass to the next deadline.
func (w *watch) elapse() {
	at := w.member.Deadline()
	if at.IsZero() {
		return
	}
	w.now = at
	w.step(groupmember.Elapsed{})
}
