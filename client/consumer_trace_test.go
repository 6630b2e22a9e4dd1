package client

import (
	"errors"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/groupmember/driver"
)

// told collects what a ConsumerTrace is told of errors.
type told struct {
	mu   sync.Mutex
	errs []error
}

func (l *told) trace() *ConsumerTrace {
	return &ConsumerTrace{Error: func(err error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.errs = append(l.errs, err)
	}}
}

// since returns what was told after the first n errors.
func (l *told) since(n int) []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.errs[n:])
}

func TestTheLastRebalanceIsExplained(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		var heard []*Rebalance
		c := b.open(ConsumerConfig{Trace: &ConsumerTrace{Rebalanced: func(r *Rebalance) { heard = append(heard, r) }}})
		require.Nil(t, c.LastRebalance())
		first, second := &Rebalance{Number: 1}, &Rebalance{Number: 2}
		b.member.owner.Rebalanced(first)
		require.Same(t, first, c.LastRebalance())
		b.member.owner.Rebalanced(second)
		require.Same(t, second, c.LastRebalance())
		require.Equal(t, []*Rebalance{first, second}, heard)
	})
}

func TestAnOutageOfABrokerIsToldOnceAndAnotherOneAgain(t *testing.T) {
	within(t, []int32{2}, func(t *testing.T, b *bench) {
		var l told
		c := b.open(ConsumerConfig{CommitInterval: -1, Trace: l.trace()})
		b.write(0, 1)
		b.member.assign(all(1))
		require.Len(t, read(t, c, 1), 1)
		for range 2 {
			before := len(l.since(0))
			b.broker(2).Refuse(syscall.ECONNREFUSED)
			b.broker(2).DropConnections()
			time.Sleep(time.Minute)
			require.Len(t, l.since(before), 1)
			b.broker(2).Refuse(nil)
			time.Sleep(time.Minute)
			require.Len(t, l.since(before), 1)
		}
	})
}

func TestAnErrorOfAPartitionIsToldUntilItIsAnotherOne(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		var l told
		b.open(ConsumerConfig{CommitInterval: -1, Trace: l.trace()})
		b.member.assign(all(1))
		synctest.Wait()
		for _, refusal := range []*kerr.Error{kerr.KafkaStorageError, kerr.UnknownTopicOrPartition} {
			b.answerWith(0, refusal.Code)
			time.Sleep(time.Minute)
		}
		errs := l.since(0)
		require.Len(t, errs, 2)
		require.ErrorIs(t, errs[0], kerr.KafkaStorageError)
		require.ErrorContains(t, errs[0], `topic "t" partition 0: `)
		require.ErrorIs(t, errs[1], kerr.UnknownTopicOrPartition)

		b.answerWith(0, 0)
		time.Sleep(time.Minute)
		b.answerWith(0, kerr.KafkaStorageError.Code)
		time.Sleep(time.Minute)
		require.Len(t, l.since(2), 1, "it had been over")
	})
}

// The application had let go in time, but the commit did not get through before
// the member had to assume its loss.
func TestPartitionsGivenBackTooLateAreToldAsLostAndOnce(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		var lost []bool
		c := b.open(ConsumerConfig{CommitInterval: -1, Trace: &ConsumerTrace{
			Revoked: func(_ groupmember.Partitions, l bool) { lost = append(lost, l) },
		}})
		b.write(0, 3)
		b.member.assign(all(1))
		read(t, c, 2)
		b.member.mu.Lock()
		b.member.refuse = &driver.Error{Failure: groupmember.Failure{Kind: groupmember.Suspect}}
		b.member.mu.Unlock()
		b.member.owner.Suspended()
		b.member.owner.Revoke(t.Context(), all(1), false)
		b.member.owner.Revoke(t.Context(), all(1), true)
		require.Equal(t, []bool{true}, lost)
	})
}

// A commit that fails with the membership is not tried again, and the member says
// itself what has become of it.
func TestACommitThatEndsWithTheMembershipIsNotTriedOn(t *testing.T) {
	for _, kind := range []groupmember.FailureKind{groupmember.Closed, groupmember.Forfeited} {
		within(t, []int32{1}, func(t *testing.T, b *bench) {
			var l told
			c := b.open(ConsumerConfig{CommitInterval: time.Second, Trace: l.trace()})
			b.write(0, 3)
			b.member.assign(all(1))
			b.member.mu.Lock()
			b.member.refuse = &driver.Error{Failure: groupmember.Failure{Kind: kind, Text: "it is over"}, Op: "commit offsets", Group: "g"}
			b.member.mu.Unlock()
			read(t, c, 2)
			time.Sleep(time.Minute)
			errs := l.since(0)
			require.Len(t, errs, 1)
			require.ErrorContains(t, errs[0], `commit of t[0]: commit offsets: group "g": it is over`)
			require.Empty(t, b.log.with("cannot commit"))
			require.ErrorContains(t, c.Close(t.Context()), "commit of t[0]", "what was not saved is named")
		})
	}
}

func TestNothingIsCommittedOnceTheMemberHasEnded(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		c := b.open(ConsumerConfig{CommitInterval: time.Second})
		b.write(0, 3)
		b.member.assign(all(1))
		b.member.mu.Lock()
		b.member.failure = kerr.FencedInstanceID
		b.member.refuse = errors.New("the member has left the group")
		b.member.mu.Unlock()
		close(b.member.done)
		require.ErrorIs(t, firstError(t, c), kerr.FencedInstanceID)
		time.Sleep(time.Minute)
		require.Empty(t, b.log.with("cannot commit"))
		b.member.done = make(chan struct{})
	})
}

func TestAClosedClientIsAskedForNothingAnyMore(t *testing.T) {
	within(t, []int32{1, 1}, func(t *testing.T, b *bench) {
		var l told
		c := b.open(ConsumerConfig{CommitInterval: -1, Trace: l.trace()})
		b.write(0, 1)
		b.member.assign(all(1))
		read(t, c, 1)
		require.NoError(t, b.cl.Close())
		time.Sleep(time.Hour)
		require.LessOrEqual(t, len(l.since(0)), 1)
		require.Empty(t, b.log.with("trying on"))
		require.ErrorIs(t, firstError(t, c), ErrClosed)
	})
}
