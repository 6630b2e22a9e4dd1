package client

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
	"github.com/musterkafka/muster/groupmember"
)

// create makes a topic with one partition.
func (b *bench) create(name string, id byte) {
	b.change(func() { b.topics[name] = topicAnswer(name, [16]byte{id}, 0, partitionAnswer(0, 1, 0)) })
}

func (b *bench) remove(name string) { b.change(func() { delete(b.topics, name) }) }

// asksFor joins again, and returns the topics that the group is asked for.
func (b *bench) asksFor(t *testing.T) []string {
	t.Helper()
	s, err := b.consumer.translator.Encode(t.Context(), nil, -1)
	require.NoError(t, err)
	for _, p := range s.Protocols {
		m, err := assign.ReadSubscription(p.Metadata)
		require.NoError(t, err)
		require.ElementsMatch(t, s.Topics, m.Topics)
	}
	return s.Topics
}

func TestPatternsAreResolvedFromTheMetadata(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.create("pay-1", 11)
		b.create("pay-2", 12)
		b.create("other", 13)
		b.open(ConsumerConfig{Topics: []string{"t", "pay-1"}, Patterns: []string{"pay-.*"}})
		require.Equal(t, []string{"pay-1", "pay-2", "t"}, b.asksFor(t))
		time.Sleep(time.Hour)
		require.Empty(t, b.member.wishes(), "nothing has changed")
	})
}

func TestANewTopicThatMatchesCausesOneRound(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.open(ConsumerConfig{Patterns: []string{"t|pay-.*"}})
		require.Equal(t, []string{"t"}, b.asksFor(t))
		b.create("pay-1", 11) // A13: before anybody has looked again
		time.Sleep(defaultMetadataMaxAge + time.Second)
		require.Equal(t, []string{"there are more topics that match the subscription"}, b.member.wishes())
		time.Sleep(time.Hour)
		require.Len(t, b.member.wishes(), 1, "asked once")
		require.Equal(t, []string{"pay-1", "t"}, b.asksFor(t))
		time.Sleep(time.Hour)
		require.Len(t, b.member.wishes(), 1)
	})
}

// Whoever joins because another member has seen a new topic has seen it then, too.
func TestJoiningAgainLooksForNewTopicsFirst(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.open(ConsumerConfig{Patterns: []string{"t|pay-.*"}})
		b.asksFor(t)
		time.Sleep(time.Minute)
		b.create("pay-1", 11)
		require.Equal(t, []string{"pay-1", "t"}, b.asksFor(t))
		time.Sleep(time.Hour)
		require.Empty(t, b.member.wishes())

		time.Sleep(time.Minute)
		before := b.seen(keyMetadata)
		b.asksFor(t)
		time.Sleep(recentMetadata / 2)
		between := b.seen(keyMetadata)
		require.Equal(t, before+1, between)
		b.asksFor(t)
		require.Equal(t, between, b.seen(keyMetadata), "the second round of two does not wait for another answer")
	})
}

func TestWhatIsKnownWillDoWhenNoBrokerAnswers(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.open(ConsumerConfig{Patterns: []string{"t"}})
		b.asksFor(t)
		time.Sleep(time.Minute)
		release := b.broker(1).Hold(keyMetadata)
		defer release()
		start := time.Now()
		require.Equal(t, []string{"t"}, b.asksFor(t))
		require.Equal(t, recentMetadata, time.Since(start))
	})
}

func TestADeletedTopicThatMatchedDropsOutWithoutARoundOfItsOwn(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.create("pay-1", 11)
		b.open(ConsumerConfig{Patterns: []string{"t|pay-.*"}})
		require.Equal(t, []string{"pay-1", "t"}, b.asksFor(t))
		b.remove("pay-1")
		time.Sleep(time.Hour)
		require.Empty(t, b.member.wishes())
		require.Empty(t, b.log.with("does not exist"))
		require.Equal(t, []string{"t"}, b.asksFor(t))
	})
}

// A40: no storm of rounds or requests, and one line in the log.
func TestPatternsThatMatchNothingAreSaidOnceAndWaitedFor(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.open(ConsumerConfig{Patterns: []string{"pay-.*"}})
		require.Empty(t, b.asksFor(t))
		before := b.seen(keyMetadata)
		time.Sleep(time.Hour)
		require.LessOrEqual(t, b.seen(keyMetadata)-before, 13, "as often as metadata grows old")
		require.Empty(t, b.asksFor(t))
		require.Len(t, b.log.with("no topic matches the patterns"), 1)
		require.Empty(t, b.member.wishes())

		b.create("pay-1", 11)
		time.Sleep(defaultMetadataMaxAge + time.Second)
		require.Len(t, b.member.wishes(), 1)
		require.Equal(t, []string{"pay-1"}, b.asksFor(t))
	})
}

func TestAnAssignedTopicThatMatchesIsNotForeign(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.open(ConsumerConfig{Patterns: []string{"pay-.*"}})
		b.asksFor(t)
		data := assign.AppendAssignment(nil, assign.Partitions{"pay-9": {0}, "x": {0}})
		partitions, foreign, err := b.consumer.translator.Decode(t.Context(), "cooperative-sticky", data)
		require.NoError(t, err)
		require.Equal(t, groupmember.Partitions{"pay-9": {0}}, partitions)
		require.Equal(t, groupmember.Partitions{"x": {0}}, foreign)
	})
}

func TestAClosedConsumerWatchesNothing(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		c := b.open(ConsumerConfig{Topics: []string{"u"}, Patterns: []string{"t"}})
		b.asksFor(t)
		require.NoError(t, c.Close(t.Context()))
		b.cl.meta.mu.Lock()
		defer b.cl.meta.mu.Unlock()
		require.Empty(t, b.cl.meta.patterns)
		require.Empty(t, b.cl.meta.watched)
	})
}

// KIP-881. A broker that is down has not moved.
func TestTheLeaderWantsANewRoundWhenARackChanges(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.racks = map[int32]string{1: "r1", 2: "r2"}
		b.change(func() { b.members = []int32{1, 2} })
		c := b.open(ConsumerConfig{Rack: "r1"})
		_, _, err := c.translator.Plan(t.Context(), groupmember.Plan{Generation: 1, Protocol: "cooperative-sticky", Members: []groupmember.Joined{joined("a", assign.Member{Topics: []string{"t"}})}})
		require.NoError(t, err)
		require.Equal(t, [][]string{{"r1", "r2"}}, c.translator.planned["t"].Racks)

		b.change(func() { b.members = []int32{1} })
		time.Sleep(time.Hour)
		b.change(func() { b.members = []int32{1, 2} })
		time.Sleep(time.Hour)
		require.Empty(t, b.member.wishes())

		b.change(func() { b.racks[2] = "r3" })
		time.Sleep(time.Hour)
		require.Len(t, b.member.wishes(), 1)
	})
}

func TestALeaderWithoutARackDoesNotLookAtRacks(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.racks = map[int32]string{1: "r1"}
		c := b.open(ConsumerConfig{})
		_, _, err := c.translator.Plan(t.Context(), groupmember.Plan{Generation: 1, Protocol: "cooperative-sticky", Members: []groupmember.Joined{joined("a", assign.Member{Topics: []string{"t"}})}})
		require.NoError(t, err)
		b.change(func() { b.racks[1] = "r2" })
		time.Sleep(time.Hour)
		require.Empty(t, b.member.wishes())
	})
}

func TestTheRackIsPartOfTheSubscription(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.open(ConsumerConfig{Rack: "r1"})
		synctest.Wait()
		s, err := b.consumer.translator.Encode(t.Context(), nil, -1)
		require.NoError(t, err)
		m, err := assign.ReadSubscription(s.Protocols[0].Metadata)
		require.NoError(t, err)
		require.Equal(t, "r1", m.Rack)
	})
}
