package client

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"go.uber.org/goleak"

	"github.com/musterkafka/muster/assign"
	"github.com/musterkafka/muster/groupmember"
)

// closeCase is one way into a state of the member, in which the Consumer is closed.
type closeCase struct {
	name     string
	state    groupmember.State
	visit    int // of the state, counted from trigger on
	cfg      ConsumerConfig
	settles  bool              // first it joins, reads four records and is done with three
	trigger  func(cl *closing) // brings it into the state
	requests []int16           // by key: what the broker must see after Close
	trips    int               // that this takes
}

func always(code *kerr.Error) int32 { return int32(code.Code) }

func rebalance(cl *closing)  { cl.heartbeat.Store(always(kerr.RebalanceInProgress)) }
func stopAsking(cl *closing) {} // no loop asks for records any more
func sayNothing(cl *closing) {}
func loseGroup(cl *closing)  { cl.find.Store(always(kerr.CoordinatorNotAvailable)) }
func takeAway(cl *closing)   { rebalance(cl); cl.taken.Store(true) }
func loadGroup(cl *closing)  { cl.join.Store(always(kerr.CoordinatorLoadInProgress)) }
func refuseJoin(cl *closing) { cl.join.Store(always(kerr.GroupAuthorizationFailed)) }
func moveAway(cl *closing) {
	rebalance(cl)
	cl.join.Store(always(kerr.NotCoordinator))
	loseGroup(cl)
}

var (
	eager     = ConsumerConfig{Assignors: []assign.Assignor{assign.Range()}}
	impatient = ConsumerConfig{Classic: ClassicConfig{RebalanceTimeout: time.Minute}}

	leaves  = []int16{keyLeaveGroup}
	commits = []int16{keyOffsetCommit, keyLeaveGroup}
)

// closeCases are all states but Idle, which a Consumer leaves as it is made.
var closeCases = []closeCase{
	{name: "no coordinator yet", state: groupmember.Finding, visit: 1, trigger: loseGroup},
	{name: "coordinator moved", state: groupmember.Finding, visit: 1, settles: true, trigger: moveAway, requests: commits, trips: 3},
	{name: "group is loaded", state: groupmember.Waiting, visit: 1, trigger: loadGroup, requests: leaves, trips: 1},
	{name: "eager member rejoins", cfg: eager, state: groupmember.Releasing, visit: 1, settles: true, trigger: rebalance, requests: commits, trips: 2},
	{name: "newcomer without an ID", state: groupmember.Encoding, visit: 1, trigger: sayNothing, trips: 2}, // it may just get one
	{name: "newcomer", state: groupmember.Encoding, visit: 2, trigger: sayNothing, requests: leaves, trips: 1},
	{name: "rejoins", state: groupmember.Encoding, visit: 1, settles: true, trigger: rebalance, requests: commits, trips: 2},
	{name: "JoinGroup held", state: groupmember.Joining, visit: 2, trigger: sayNothing, requests: leaves, trips: 1},
	{name: "JoinGroup held again", state: groupmember.Joining, visit: 1, settles: true, trigger: rebalance, requests: commits, trips: 2},
	{name: "leader", state: groupmember.Planning, visit: 1, trigger: sayNothing, requests: leaves, trips: 1},
	{name: "SyncGroup held", state: groupmember.Syncing, visit: 1, trigger: sayNothing, requests: leaves, trips: 1},
	{name: "SyncGroup held again", state: groupmember.Syncing, visit: 1, settles: true, trigger: rebalance, requests: commits, trips: 2},
	{name: "assigned", state: groupmember.Decoding, visit: 1, trigger: sayNothing, requests: leaves, trips: 2}, // behind a look-up of offsets
	{name: "assigned away", state: groupmember.Yielding, visit: 1, settles: true, trigger: takeAway, requests: commits, trips: 2},
	{name: "settled", state: groupmember.Stable, visit: 1, trigger: sayNothing, requests: leaves, trips: 2},                                             // behind a look-up of offsets
	{name: "not asking, parting", cfg: impatient, state: groupmember.Parting, visit: 1, settles: true, trigger: stopAsking, requests: leaves, trips: 1}, // what it has is lost
	{name: "not asking, leaving", cfg: impatient, state: groupmember.Leaving, visit: 1, settles: true, trigger: stopAsking, requests: leaves, trips: 1},
	{name: "not asking, resting", cfg: impatient, state: groupmember.Resting, visit: 1, settles: true, trigger: stopAsking},
	{name: "refused", state: groupmember.Exited, visit: 1, trigger: refuseJoin},
}

// reach brings a Consumer into the state of the case.
func (cc *closeCase) reach(t *testing.T) *closing {
	cl := newClosing(t)
	if cc.settles {
		cl.start(cc.cfg)
		require.Len(t, read(t, cl.c, 4), 4)
	}
	cl.stopAt(cc.state, cc.visit)
	cc.trigger(cl)
	if !cc.settles {
		cl.start(cc.cfg)
	}
	select {
	case <-cl.reached:
	case <-time.After(time.Hour):
		require.FailNow(t, "the member does not get there")
	}
	return cl
}

// close closes the Consumer in the state and returns how long that took.
func (cl *closing) close(ctx context.Context) (took time.Duration, err error) {
	start := time.Now()
	closed := make(chan error)
	go func() { closed <- cl.c.Close(ctx) }()
	synctest.Wait() // Close has begun
	close(cl.goOn)
	err = <-closed
	return time.Since(start), err
}

func everyClose(t *testing.T, test func(t *testing.T, cc closeCase)) {
	for _, cc := range closeCases {
		t.Run(cc.state.String()+", "+cc.name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			synctest.Test(t, func(t *testing.T) { test(t, cc) })
		})
	}
}

func TestEveryStateHasItsClose(t *testing.T) {
	seen := make(map[groupmember.State]bool)
	for _, cc := range closeCases {
		seen[cc.state] = true
	}
	for state := groupmember.Finding; state <= groupmember.Exited; state++ {
		require.True(t, seen[state], state.String())
	}
}

// A broker may hold JoinGroup and SyncGroup for as long as a rebalance takes. What is done is
// committed all the same, and the group is left.
func TestCloseTakesTwoRoundTripsWhateverIsHeld(t *testing.T) {
	everyClose(t, func(t *testing.T, cc closeCase) {
		cl := cc.reach(t)
		cl.holding.Store(true)
		cl.find.Store(0)
		took, err := cl.close(t.Context())
		if cc.state != groupmember.Exited {
			require.NoError(t, err)
		}
		require.LessOrEqual(t, took, time.Duration(cc.trips)*roundTrip)
		for _, key := range cc.requests {
			require.Equal(t, 1, cl.seen(key), "requests with key %d", key)
		}
	})
}

func TestCloseOnASilentBrokerIsOverAtCloseTimeout(t *testing.T) {
	everyClose(t, func(t *testing.T, cc closeCase) {
		cl := cc.reach(t)
		cl.silent.Store(true)
		took, err := cl.close(t.Context())
		switch {
		case cc.trips == 0:
			require.Zero(t, took, "there is nothing to tell")
		case len(cc.requests) > 0:
			require.Equal(t, defaultCloseTimeout, took)
			require.ErrorIs(t, err, errCloseTimeout)
		}
	})
}

// Ctrl-C ends contexts first and closes then.
func TestCloseInAnyStateDoesNotMindAContextThatHasEnded(t *testing.T) {
	everyClose(t, func(t *testing.T, cc closeCase) {
		cl := cc.reach(t)
		cl.holding.Store(true)
		cl.find.Store(0)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errTestEnd)
		took, err := cl.close(ctx)
		if cc.state != groupmember.Exited {
			require.NoError(t, err)
		}
		require.LessOrEqual(t, took, time.Duration(cc.trips)*roundTrip)
		for _, key := range cc.requests {
			require.Equal(t, 1, cl.seen(key), "requests with key %d", key)
		}
	})
}

func TestCloseIsOverAtItsContextsDeadline(t *testing.T) {
	everyClose(t, func(t *testing.T, cc closeCase) {
		cl := cc.reach(t)
		cl.silent.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		took, err := cl.close(ctx)
		if len(cc.requests) > 0 {
			require.Equal(t, time.Second, took)
			require.Error(t, err)
		}
	})
}
