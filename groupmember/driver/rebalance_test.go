package driver

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/groupmember"
)

func TestTheOwnerIsToldWhatHasHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(world)
		g := Start(config, w.ports())
		synctest.Wait()
		require.Same(t, w.explained[0], g.Status().Last)
		require.Equal(t, groupmember.MemberStarted, w.explained[0].Trigger.Kind)

		time.Sleep(time.Second)
		g.Rejoin("subscription has changed")
		synctest.Wait()
		last := g.Status().Last
		require.Equal(t, 2, last.Number)
		require.Equal(t, groupmember.Cause{Kind: groupmember.RejoinRequested, Text: "subscription has changed"}, last.Trigger)
		require.Equal(t, "subscription has changed", last.Reason)
		require.Equal(t, groupmember.Known, last.Group.Members)
		require.Equal(t, groupmember.Unknown, last.Group.Topics, "the translator does not say")

		require.NoError(t, g.Leave(within(t, time.Second), "done", false))
		require.Len(t, w.explained, 3)
		require.Equal(t, groupmember.Left, g.Status().Last.Outcome)
	})
}

func TestPanicInAnAssignorIsExplained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{plan: func(context.Context) ([]groupmember.Assignment, error) { panic("no idea") }}
		g := Start(config, w.ports())
		<-g.Done()
		require.Len(t, w.explained, 3)
		require.Equal(t, []groupmember.Outcome{groupmember.Withdrawn, groupmember.Withdrawn, groupmember.Failed},
			[]groupmember.Outcome{w.explained[0].Outcome, w.explained[1].Outcome, w.explained[2].Outcome})
		require.Contains(t, w.explained[2].String(), "panic: no idea")
	})
}
