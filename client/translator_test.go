package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
	"github.com/musterkafka/muster/groupmember"
)

// assignorFunc is an application's assignor.
type assignorFunc struct {
	cooperative bool
	assign      func(assign.Group) (assign.Plan, error)
}

func (assignorFunc) Name() string                                   { return "custom" }
func (a assignorFunc) Cooperative() bool                            { return a.cooperative }
func (a assignorFunc) Assign(g assign.Group) (assign.Plan, error)   { return a.assign(g) }
func (assignorFunc) UserData(_ assign.Partitions, gen int32) []byte { return []byte{byte(gen)} }

// joined is a member of the group as the leader is told of it.
func joined(id string, m assign.Member) groupmember.Joined {
	return groupmember.Joined{ID: id, Metadata: assign.AppendSubscription(nil, m)}
}

// given returns what a plan gives to a member.
func given(t *testing.T, plan []groupmember.Assignment, member string) assign.Partitions {
	t.Helper()
	for _, a := range plan {
		if a.MemberID == member {
			p, err := assign.ReadAssignment(a.Bytes)
			require.NoError(t, err)
			return p
		}
	}
	require.Fail(t, "the plan forgets "+member)
	return nil
}

func TestASubscriptionIsEncodedForEachAssignor(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.open(ConsumerConfig{Topics: []string{"u", "t"}, Assignors: []assign.Assignor{assign.CooperativeSticky(), assignorFunc{cooperative: true}}})
		owned := groupmember.Partitions{"t": {0}}
		s, err := b.consumer.translator.Encode(t.Context(), owned, 7)
		require.NoError(t, err)
		require.Equal(t, []string{"t", "u"}, s.Topics)
		require.Len(t, s.Protocols, 2)
		require.Equal(t, "cooperative-sticky", s.Protocols[0].Name, "in order of preference")
		for i, data := range [][]byte{{0, 0, 0, 7}, {7}} {
			m, err := assign.ReadSubscription(s.Protocols[i].Metadata)
			require.NoError(t, err)
			require.Equal(t, []string{"t", "u"}, m.Topics)
			require.Equal(t, assign.Partitions(owned), m.Owned)
			require.EqualValues(t, 7, m.Generation)
			require.Equal(t, data, m.UserData)
		}
	})
}

// What version 0 cannot hold, kafka-go cannot read; what it lacks, librdkafka crashes without.
func TestASubscriptionIsOfVersion0ForEagerAssignorsOnly(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.open(ConsumerConfig{Topics: []string{"t"}, Assignors: []assign.Assignor{assign.CooperativeSticky(), assign.Range()}})
		s, err := b.consumer.translator.Encode(t.Context(), nil, -1)
		require.NoError(t, err)
		require.Equal(t, []byte{0, 3}, s.Protocols[0].Metadata[:2], "cooperative-sticky")
		require.Equal(t, []byte{0, 0}, s.Protocols[1].Metadata[:2], "range")
	})
}

// An eager member has let go of everything when it joins, so nothing is owned on
// the wire; the leader of a sticky group still learns what it had.
func TestAnEagerMemberSaysInItsUserDataWhatItWasGivenLast(t *testing.T) {
	within(t, []int32{1, 1}, func(t *testing.T, b *bench) {
		b.open(ConsumerConfig{Assignors: []assign.Assignor{assign.Sticky(), assign.Range()}})
		join := func() (sticky, other assign.Member) {
			s, err := b.consumer.translator.Encode(t.Context(), nil, -1)
			require.NoError(t, err)
			sticky, err = assign.ReadSubscription(s.Protocols[0].Metadata)
			require.NoError(t, err)
			other, err = assign.ReadSubscription(s.Protocols[1].Metadata)
			require.NoError(t, err)
			return sticky, other
		}
		first, _ := join()
		require.Nil(t, first.UserData, "never given anything")

		given := assign.Partitions{"t": {1}}
		b.member.owner.Assigned(7, groupmember.Partitions(given), groupmember.Partitions(given))
		for _, lost := range []bool{false, true} {
			b.member.owner.Revoke(t.Context(), groupmember.Partitions(given), lost)
			sticky, other := join()
			require.Equal(t, assign.Sticky().(assign.UserDataEncoder).UserData(given, 7), sticky.UserData)
			require.Empty(t, sticky.Owned)
			require.EqualValues(t, -1, sticky.Generation)
			require.Nil(t, other.UserData)
		}
	})
}

func TestACooperativeMemberClaimsNothingThatItHasLost(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.open(ConsumerConfig{Assignors: []assign.Assignor{assign.CooperativeSticky()}})
		b.member.owner.Assigned(7, groupmember.Partitions{"t": {0}}, groupmember.Partitions{"t": {0}})
		s, err := b.consumer.translator.Encode(t.Context(), nil, -1)
		require.NoError(t, err)
		m, err := assign.ReadSubscription(s.Protocols[0].Metadata)
		require.NoError(t, err)
		require.Empty(t, m.Owned)
		require.Equal(t, []byte{0xff, 0xff, 0xff, 0xff}, m.UserData, "generation -1")
	})
}

// An assignor may come back long after its round is over.
func TestAPlanOfARoundThatIsOverIsForgotten(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		ctx, cancel := context.WithCancelCause(t.Context())
		slow := assignorFunc{assign: func(g assign.Group) (assign.Plan, error) {
			cancel(errTestEnd)
			return assign.Range().Assign(g)
		}}
		c := b.open(ConsumerConfig{Assignors: []assign.Assignor{slow}})
		_, _, err := c.translator.Plan(ctx, groupmember.Plan{Generation: 1, Protocol: "custom", Members: []groupmember.Joined{joined("m", assign.Member{Topics: []string{"t"}})}})
		require.ErrorIs(t, err, errTestEnd)
		require.Nil(t, c.translator.planned)
	})
}

func TestAPlanIsMadeOfFreshMetadataOfAllTopicsOfTheGroup(t *testing.T) {
	within(t, []int32{1, 1, 1, 1}, func(t *testing.T, b *bench) {
		b.open(ConsumerConfig{Assignors: []assign.Assignor{assign.Range()}})
		synctest.Wait()
		b.change(func() {
			b.topics["other"] = topicAnswer("other", idB, 0, partitionAnswer(0, 1, 0), partitionAnswer(1, 1, 0))
		})
		plan, _, err := b.consumer.translator.Plan(t.Context(), groupmember.Plan{Generation: 1, Protocol: "range", Members: []groupmember.Joined{
			joined("a", assign.Member{Topics: []string{"t"}}),
			joined("b", assign.Member{Topics: []string{"t", "other", "missing"}}),
			{ID: "c", Metadata: []byte{1}}, // B24: unreadable
		}})
		require.NoError(t, err)
		require.Len(t, plan, 3)
		require.Equal(t, assign.Partitions{"t": {0, 1}}, given(t, plan, "a"))
		require.Equal(t, assign.Partitions{"t": {2, 3}, "other": {0, 1}}, given(t, plan, "b"))
		require.Empty(t, given(t, plan, "c"))
		require.NotEmpty(t, b.log.with("a member's subscription cannot be read"))
	})
}

// The second round of a cooperative rebalance comes at the heels of the first.
func TestPlansInARowAreMadeOfTheSameMetadata(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		c := b.open(ConsumerConfig{})
		plan := func() (took time.Duration, requests int) {
			start, before := time.Now(), b.seen(keyMetadata)
			_, _, err := c.translator.Plan(t.Context(), groupmember.Plan{Generation: 1, Protocol: "cooperative-sticky", Members: []groupmember.Joined{joined("a", assign.Member{Topics: []string{"t"}})}})
			require.NoError(t, err)
			return time.Since(start), b.seen(keyMetadata) - before
		}
		synctest.Wait()
		time.Sleep(10 * time.Second)
		_, requests := plan()
		require.Equal(t, 1, requests, "ten seconds are too old")
		took, requests := plan()
		require.Zero(t, requests)
		require.Zero(t, took)
	})
}

func TestACooperativePlanWithholdsWhatIsStillOwned(t *testing.T) {
	within(t, []int32{1, 1}, func(t *testing.T, b *bench) {
		custom := assignorFunc{cooperative: true, assign: func(assign.Group) (assign.Plan, error) {
			return assign.Plan{"a": {"t": {0}}, "b": {"t": {1}}}, nil
		}}
		b.open(ConsumerConfig{Assignors: []assign.Assignor{custom}})
		require.True(t, b.member.config.Cooperative)
		plan, _, err := b.consumer.translator.Plan(t.Context(), groupmember.Plan{Generation: 2, Protocol: "custom", Members: []groupmember.Joined{
			joined("a", assign.Member{Topics: []string{"t"}, Owned: assign.Partitions{"t": {0, 1}}, Generation: 1}),
			joined("b", assign.Member{Topics: []string{"t"}, Generation: -1}),
		}})
		require.NoError(t, err)
		require.Equal(t, assign.Partitions{"t": {0}}, given(t, plan, "a"))
		require.Empty(t, given(t, plan, "b"))
	})
}

func TestABadAssignorIsAnError(t *testing.T) {
	for name, bad := range map[string]func(assign.Group) (assign.Plan, error){
		"panics":         func(assign.Group) (assign.Plan, error) { panic("oh") },
		"fails":          func(assign.Group) (assign.Plan, error) { return nil, errors.New("oh") },
		"forgets":        func(assign.Group) (assign.Plan, error) { return assign.Plan{}, nil },
		"gives it twice": func(assign.Group) (assign.Plan, error) { return assign.Plan{"a": {"t": {0}}, "b": {"t": {0}}}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			within(t, []int32{1}, func(t *testing.T, b *bench) {
				b.open(ConsumerConfig{Assignors: []assign.Assignor{assignorFunc{assign: bad}}})
				_, _, err := b.consumer.translator.Plan(t.Context(), groupmember.Plan{Generation: 1, Protocol: "custom", Members: []groupmember.Joined{
					joined("a", assign.Member{Topics: []string{"t"}}), joined("b", assign.Member{Topics: []string{"t"}}),
				}})
				require.ErrorContains(t, err, `assignor "custom"`)
			})
		})
	}
}

func TestAnAssignmentBeyondTheSubscriptionIsForeign(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.open(ConsumerConfig{})
		_, err := b.consumer.translator.Encode(t.Context(), nil, -1)
		require.NoError(t, err)
		data := assign.AppendAssignment(nil, assign.Partitions{"t": {0, 1}, "x": {3}})
		partitions, foreign, err := b.consumer.translator.Decode(t.Context(), "range", data)
		require.NoError(t, err)
		require.Equal(t, groupmember.Partitions{"t": {0, 1}}, partitions)
		require.Equal(t, groupmember.Partitions{"x": {3}}, foreign)
		_, _, err = b.consumer.translator.Decode(t.Context(), "range", []byte{0})
		require.Error(t, err)
	})
}

func TestTheLeaderWantsANewRoundWhenATopicGrows(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		c := b.open(ConsumerConfig{})
		grow := func() {
			b.change(func() {
				topic := b.topics["t"]
				topic.Partitions = append(topic.Partitions, partitionAnswer(int32(len(topic.Partitions)), 1, 0))
				b.topics["t"] = topic
			})
			time.Sleep(6 * time.Minute) // metadata is refreshed by then
			synctest.Wait()
		}
		grow()
		require.Empty(t, b.member.rejoins, "another member leads")

		_, _, err := c.translator.Plan(t.Context(), groupmember.Plan{Generation: 1, Protocol: "cooperative-sticky", Members: []groupmember.Joined{joined("a", assign.Member{Topics: []string{"later", "t"}})}})
		require.NoError(t, err)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		require.Empty(t, b.member.rejoins, "nothing has changed")
		grow()
		grow()
		require.Len(t, b.member.rejoins, 1, "asked once")

		_, _, err = c.translator.Plan(t.Context(), groupmember.Plan{Generation: 2, Protocol: "cooperative-sticky", Members: []groupmember.Joined{joined("a", assign.Member{Topics: []string{"later", "t"}})}})
		require.NoError(t, err)
		b.change(func() { b.topics["later"] = topicAnswer("later", idB, 0, partitionAnswer(0, 1, 0)) })
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		require.Len(t, b.member.rejoins, 2, "a topic that somebody waits for was created")
	})
}

// KIP-814: the group goes on with the plan that it has, and this member watches what it was
// made for, from what it is told at the join on (A12, A13).
func TestALeaderWithoutAPlanToMakeWatchesTheTopics(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		c := b.open(ConsumerConfig{})
		assignments, group, err := c.translator.Plan(t.Context(), groupmember.Plan{Generation: 7, Protocol: "range", Skip: true, Members: []groupmember.Joined{
			joined("a", assign.Member{Topics: []string{"t"}}), joined("b", assign.Member{Topics: []string{"later"}}),
		}})
		require.NoError(t, err, "not even the assignor is asked for")
		require.Empty(t, assignments)
		require.Equal(t, map[string]int32{"t": 1}, group.Partitions)
		require.Equal(t, map[string][]string{"a": {"t"}, "b": {"later"}}, group.Topics)

		b.change(func() { b.topics["later"] = topicAnswer("later", idB, 0, partitionAnswer(0, 1, 0)) })
		time.Sleep(6 * time.Minute) // metadata is refreshed by then
		synctest.Wait()
		require.Len(t, b.member.rejoins, 1, "a topic of another member counts")
	})
}
