package driver

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/groupmember"
)

// notes is a Recorder that keeps what it is given in words.
type notes struct {
	world *world
	lines []string
}

func (n *notes) Begin(_ time.Time, cfg groupmember.Config) {
	n.lines = append(n.lines, "group "+cfg.Group)
}

func (n *notes) Step(_ time.Time, ev groupmember.Event, actions []groupmember.Action) {
	n.lines = append(n.lines, groupmember.DescribeEvent(ev))
	for _, a := range actions {
		n.lines = append(n.lines, groupmember.DescribeAction(a))
		if _, ok := a.(groupmember.Assigned); ok {
			n.lines = append(n.lines, n.world.owner()...) // what was performed before
		}
	}
}

// What a Recorder is given is all that the member was told and answered, in that
// order, and each step before it has an effect.
func TestRecorderIsGivenEveryStepBeforeItsActions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var traced []string
		w := new(world)
		n := &notes{world: w}
		ports := w.ports()
		ports.History = n
		ports.Trace = &Trace{
			Event:  func(ev groupmember.Event) { traced = append(traced, groupmember.DescribeEvent(ev)) },
			Action: func(a groupmember.Action) { traced = append(traced, groupmember.DescribeAction(a)) },
		}
		g := Start(config, ports)
		time.Sleep(10 * time.Second)
		require.NoError(t, g.Leave(within(t, time.Second), "done", false))
		require.Equal(t, append([]string{"group g"}, traced...), n.lines)
		require.Contains(t, w.owner(), "assigned")
	})
}

func TestRecorderHearsNothingOfAMemberThatCannotBe(t *testing.T) {
	w := new(world)
	n := &notes{world: w}
	ports := w.ports()
	ports.History = n
	require.Error(t, Start(groupmember.Config{}, ports).Err())
	require.Empty(t, n.lines)
}
