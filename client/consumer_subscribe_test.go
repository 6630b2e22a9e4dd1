package client

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/musterkafka/muster/assign"
	"github.com/musterkafka/muster/groupmember"
)

func TestTheApplicationCanAskForARebalance(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		c := b.open(ConsumerConfig{})
		require.NoError(t, c.Rejoin("weights have changed"))
		require.NoError(t, c.Rejoin(""))
		require.Equal(t, []string{"weights have changed", "the application has asked for it"}, b.member.wishes())
	})
}

func TestANewSubscriptionIsAskedForInTheNextRound(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.create("pay-1", 11)
		c := b.open(ConsumerConfig{})
		require.Equal(t, []string{"t"}, b.asksFor(t))

		require.NoError(t, c.Subscribe([]string{"t", "u"}, nil))
		require.Equal(t, []string{"the subscription has changed"}, b.member.wishes())
		require.Equal(t, []string{"t", "u"}, b.asksFor(t))

		require.NoError(t, c.Subscribe([]string{"t"}, []string{"pay-.*"}))
		require.Equal(t, []string{"pay-1", "t"}, b.asksFor(t))
		require.Len(t, b.member.wishes(), 2)

		require.NoError(t, c.Subscribe([]string{"t"}, []string{"pay-.*"}))
		time.Sleep(time.Hour)
		require.Len(t, b.member.wishes(), 2, "nothing has changed")
	})
}

func TestASubscriptionThatCannotBeChangesNothing(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		c := b.open(ConsumerConfig{})
		require.ErrorContains(t, c.Subscribe([]string{"a b"}, []string{"("}), "subscribe: Topics[0]")
		require.ErrorContains(t, c.Subscribe(nil, nil), "neither Topics nor Patterns has an entry")
		require.Empty(t, b.member.wishes())
		require.Equal(t, []string{"t"}, b.asksFor(t))
	})
}

// While the group is told, the member may still be asked what an answer to the old
// subscription means.
func TestAnAssignmentIsReadBySubscriptionThatItAnswers(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		c := b.open(ConsumerConfig{})
		b.asksFor(t)
		require.NoError(t, c.Subscribe([]string{"u"}, nil))
		data := assign.AppendAssignment(nil, assign.Partitions{"t": {0}, "x": {0}})
		partitions, foreign, err := c.translator.Decode(t.Context(), "cooperative-sticky", data)
		require.NoError(t, err)
		require.Equal(t, groupmember.Partitions{"t": {0}}, partitions)
		require.Equal(t, groupmember.Partitions{"x": {0}}, foreign)
	})
}

// What is dropped stays claimed until it is given back, or another member would
// read it at the same time.
func TestADroppedTopicIsWithheldFromOthersUntilItIsGivenBack(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.create("u", 11)
		c := b.open(ConsumerConfig{})
		require.NoError(t, c.Subscribe([]string{"u"}, nil))
		s, err := c.translator.Encode(t.Context(), groupmember.Partitions{"t": {0}}, 1)
		require.NoError(t, err)
		plan, _, err := c.translator.Plan(t.Context(), groupmember.Plan{Generation: 2, Protocol: "cooperative-sticky", Members: []groupmember.Joined{
			{ID: "a", Metadata: s.Protocols[0].Metadata},
			joined("b", assign.Member{Topics: []string{"t"}, Generation: -1}),
		}})
		require.NoError(t, err)
		require.Equal(t, assign.Partitions{"u": {0}}, given(t, plan, "a"))
		require.Empty(t, given(t, plan, "b"))
	})
}

func TestWhatIsNotWantedAnyMoreIsNotWarnedOf(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		c := b.open(ConsumerConfig{Topics: []string{"t", "gone"}})
		time.Sleep(time.Minute)
		require.Len(t, b.log.with("does not exist"), 1)
		require.NoError(t, c.Subscribe([]string{"t"}, nil))
		time.Sleep(time.Minute)
		require.NoError(t, c.Subscribe([]string{"t", "gone"}, nil))
		time.Sleep(time.Minute)
		require.Len(t, b.log.with("does not exist"), 2, "it is wanted again")
	})
}

func TestAMemberThatHasEndedCannotSubscribe(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		c := b.open(ConsumerConfig{})
		b.member.mu.Lock()
		b.member.failure = kerr.FencedInstanceID
		b.member.mu.Unlock()
		close(b.member.done)
		synctest.Wait()
		require.ErrorIs(t, c.Subscribe([]string{"u"}, nil), kerr.FencedInstanceID)
		require.ErrorIs(t, c.Rejoin("x"), kerr.FencedInstanceID)
		b.member.done = make(chan struct{})
		require.NoError(t, c.Close(t.Context()))
		require.False(t, c.translator.subscribe(&subscription{topics: []string{"u"}}), "it is too late")
		require.Empty(t, b.cl.meta.watched)
	})
}

func TestAMemberLeavesOrRemainsAsItsConfigSays(t *testing.T) {
	for _, test := range []struct {
		at       AtClose
		instance string
		remains  bool
	}{
		{LeaveUnlessStatic, "", false},
		{LeaveUnlessStatic, "i", true},
		{LeaveGroup, "", false},
		{LeaveGroup, "i", false},
		{RemainInGroup, "", true},
		{RemainInGroup, "i", true},
	} {
		within(t, []int32{1}, func(t *testing.T, b *bench) {
			c := b.open(ConsumerConfig{AtClose: test.at, InstanceID: test.instance})
			require.NoError(t, c.Close(t.Context()))
			require.Equal(t, test.remains, b.member.remained)
		})
	}
}

// A group of one, with the real member.
func TestAConsumerReadsWhatItSubscribesTo(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.answerGroup()
		b.write(0, 3)
		c, err := b.client(Config{}).Consumer(ConsumerConfig{Group: "billing", Topics: []string{"missing"}, CommitInterval: -1})
		require.NoError(t, err)
		defer func() { require.NoError(t, c.Close(t.Context())) }()
		require.Empty(t, soon(t, c, 1))
		require.NoError(t, c.Subscribe([]string{"t"}, nil))
		require.Len(t, read(t, c, 2), 2)

		require.NoError(t, c.Subscribe([]string{"missing"}, nil))
		time.Sleep(time.Minute)
		require.Empty(t, soon(t, c, 1))
		require.NoError(t, c.Subscribe(nil, []string{"[t-z]"}))
		require.Equal(t, []int64{1, 2}, offsets(read(t, c, 2)), "what was done was committed when the topic was dropped")
	})
}
