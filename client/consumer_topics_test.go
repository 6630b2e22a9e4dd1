package client

import (
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/musterkafka/muster/groupmember"
)

func TestATopicThatDoesNotExistIsWaitedForAndSaidOnce(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 3)
		topic := b.topics["t"]
		b.change(func() { delete(b.topics, "t") })
		c := b.open(ConsumerConfig{})
		time.Sleep(time.Hour)
		require.Len(t, b.log.with("does not exist"), 1)

		b.change(func() { b.topics["t"] = topic })
		time.Sleep(10 * time.Minute)
		b.member.assign(all(1)) // as the leader's new plan says
		require.Len(t, read(t, c, 3), 3)
	})
}

func TestADeletedTopicIsWaitedForAndOthersGoOn(t *testing.T) {
	within(t, []int32{1, 1}, func(t *testing.T, b *bench) {
		b.write(0, 3)
		b.write(1, 3)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(2))
		require.Len(t, read(t, c, 6), 6)
		b.answerWith(0, kerr.UnknownTopicID.Code)
		time.Sleep(time.Minute)
		require.Len(t, b.log.with("cannot read a partition"), 1)
		b.write(1, 1)
		got, err := drain(t, c, "records")
		require.NoError(t, err)
		require.NotEmpty(t, got)
	})
}

func TestATopicThatIsCreatedAgainIsReadFromItsStart(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 10)
		c := b.open(ConsumerConfig{CommitInterval: -1})
		b.member.assign(all(1))
		require.Len(t, read(t, c, 8), 8)
		b.change(func() { b.topics["t"] = topicAnswer("t", idB, 0, partitionAnswer(0, 1, 0)) })
		b.logs.Lock()
		b.stored[partitionKey{"t", 0}] = &storedLog{}
		b.logs.Unlock()
		b.write(0, 4)
		b.cl.refresh("the test has created it again")
		time.Sleep(time.Second)
		require.NoError(t, c.Commit(t.Context()))
		require.LessOrEqual(t, b.member.have(0), int64(0), "C24: the old offset means nothing in the new topic")
		require.Equal(t, []int64{0, 1, 2, 3}, offsets(read(t, c, 4)))
	})
}

func TestAForbiddenTopicIsAnErrorOnce(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.change(func() {
			b.topics["t"] = topicAnswer("t", [16]byte{}, kerr.TopicAuthorizationFailed.Code)
		})
		c := b.open(ConsumerConfig{})
		problem, ok := errors.AsType[*TopicError](firstError(t, c))
		require.True(t, ok)
		require.Equal(t, "t", problem.Topic)
		require.ErrorIs(t, problem, kerr.TopicAuthorizationFailed)
		_, err := drain(t, c, "records")
		require.NoError(t, err, "and then it is waited for")
	})
}

func TestAWrongAddressIsAnErrorWithinTheBootstrapTimeout(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.broker(1).Refuse(syscall.ECONNREFUSED)
		c := b.open(ConsumerConfig{})
		start := time.Now()
		for range 2 {
			problem, ok := errors.AsType[*BootstrapError](firstError(t, c))
			require.True(t, ok)
			require.ErrorIs(t, problem, syscall.ECONNREFUSED)
			require.ErrorContains(t, problem, "b1:9092")
		}
		require.Equal(t, 2*defaultBootstrapTimeout, time.Since(start))

		b.broker(1).Refuse(nil)
		b.write(0, 1)
		b.member.assign(all(1))
		require.Len(t, read(t, c, 1), 1, "the Consumer has not given up")
	})
}

func TestAClosedClientEndsItsConsumers(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		time.AfterFunc(time.Second, func() { b.cl.Close() })
		require.ErrorIs(t, firstError(t, c), ErrClosed)
		_, err := b.cl.Consumer(ConsumerConfig{Group: "g", Topics: []string{"t"}})
		require.ErrorIs(t, err, ErrClosed)
	})
}

func TestAMemberThatHasEndedEndsEveryLoop(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		c := b.open(ConsumerConfig{CommitInterval: -1})
		b.member.mu.Lock()
		b.member.failure = kerr.FencedInstanceID
		b.member.mu.Unlock()
		close(b.member.done)
		for range 2 {
			require.ErrorIs(t, firstError(t, c), kerr.FencedInstanceID)
		}
		b.member.done = make(chan struct{})
	})
}

func TestTheTraceTellsWhatHappens(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 10)
		var said []string
		c := b.open(ConsumerConfig{CommitInterval: -1, Trace: &ConsumerTrace{
			Assigned: func(generation int32, added, owned groupmember.Partitions) { said = append(said, "assigned") },
			Revoked: func(p groupmember.Partitions, lost bool) {
				said = append(said, map[bool]string{true: "lost", false: "revoked"}[lost])
			},
			Committed: func([]groupmember.Offset) { said = append(said, "committed") },
		}})
		b.member.assign(all(1))
		read(t, c, 3)
		b.member.owner.Revoke(t.Context(), all(1), false)
		b.member.assign(all(1))
		synctest.Wait()
		b.member.owner.Revoke(t.Context(), all(1), true)
		require.Equal(t, []string{"assigned", "committed", "revoked", "assigned", "lost"}, said)
	})
}

// Each is news of its own, whenever the application looks.
func TestEveryForbiddenTopicIsTold(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.change(func() {
			for _, name := range []string{"u", "v"} {
				b.topics[name] = topicAnswer(name, [16]byte{}, kerr.TopicAuthorizationFailed.Code)
			}
		})
		c := b.open(ConsumerConfig{Topics: []string{"t", "u", "v"}})
		time.Sleep(time.Minute)
		var names []string
		for range 2 {
			problem, ok := errors.AsType[*TopicError](firstError(t, c))
			require.True(t, ok)
			names = append(names, problem.Topic)
		}
		require.Equal(t, []string{"u", "v"}, names)
		require.Empty(t, soon(t, c, 1), "once each")
	})
}
