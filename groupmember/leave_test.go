package groupmember_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// A coordinator that answers JoinGroup and SyncGroup never keeps nobody from leaving:
// in whatever state, the member is out after two round trips, and has said so unless the
// coordinator knows nothing of it.
func TestLeaveTakesTwoRoundTripsAtABrokerThatHoldsTheRest(t *testing.T) {
	for _, cooperative := range []bool{false, true} {
		for _, from := range allStates[:len(allStates)-1] {
			if from == groupmember.Yielding && !cooperative || from == groupmember.Releasing && cooperative {
				continue // they do not come there
			}
			for _, again := range []bool{false, true} { // in a round after the first, with partitions if cooperative
				t.Run(fmt.Sprintf("%v/cooperative=%v/again=%v", from, cooperative, again), func(t *testing.T) {
					leaveAtHoldingBroker(t, from, cooperative, again)
				})
			}
		}
	}
}

// The same for a newcomer that has been given its ID (KIP-394).
func TestLeaveOfANewcomerWhoseJoinIsHeld(t *testing.T) {
	w := reach(t, groupmember.Config{Group: "g"}, groupmember.Joining)
	w.answer()
	w.until(groupmember.Joining)
	require.Equal(t, "m-1", w.member.Status().MemberID)
	requireLeaves(t, w)
}

func leaveAtHoldingBroker(t *testing.T, from groupmember.State, cooperative, again bool) {
	cfg := configFor(from)
	cfg.Cooperative = cooperative
	if again {
		requireLeaves(t, reachAgain(t, cfg, from))
		return
	}
	requireLeaves(t, reach(t, cfg, from))
}

func requireLeaves(t *testing.T, w *watch) {
	t.Helper()
	before := w.member.Status()
	begin, said := w.now, false
	w.step(groupmember.Leave{Why: "done"})
	trips := 0
	for !w.exited {
		i := w.answerable()
		if i < 0 {
			require.Empty(t, before.MemberID, w.history(), "only who has no ID to leave with waits for its JoinGroup")
			w.step(groupmember.Abandon{})
			break
		}
		if send, ok := w.open[i].(groupmember.Send); ok {
			trips++
			if leave, ok := send.Req.(*kmsg.LeaveGroupRequest); ok {
				said = leave.Members[0].MemberID == before.MemberID && send.Route == groupmember.RouteControl
			}
		} else if _, find := w.open[i].(groupmember.Find); find {
			trips++
		}
		w.open = append(append(w.open[:i:i], w.open[i+1:]...), w.open[i]) // answer takes the last
		w.answer()
	}
	require.True(t, w.exited)
	require.LessOrEqual(t, trips, 2, w.history())
	require.Equal(t, begin, w.now, "no timer is waited for")
	require.Equal(t, before.MemberID != "", said, w.history(), "who has an ID says that it leaves")
}

// answerable returns the index of a question that this broker and application
// answer, -1 if there is none.
func (w *watch) answerable() int {
	for i, a := range w.open {
		if name := nameOf(a); name != "JoinGroup" && name != "SyncGroup" {
			return i
		}
	}
	return -1
}

// reachAgain is reach in the second round of the member.
func reachAgain(t *testing.T, cfg groupmember.Config, to groupmember.State) *watch {
	switch to {
	case groupmember.Encoding, groupmember.Joining, groupmember.Planning, groupmember.Syncing, groupmember.Decoding:
		w := reach(t, cfg, groupmember.Stable)
		w.step(groupmember.Rejoin{Why: "subscription has changed"})
		w.until(to)
		return w
	case groupmember.Idle, groupmember.Finding, groupmember.Waiting, groupmember.Releasing, groupmember.Yielding, groupmember.Stable,
		groupmember.Parting, groupmember.Leaving, groupmember.Resting, groupmember.Exited:
	}
	return reach(t, cfg, to)
}
