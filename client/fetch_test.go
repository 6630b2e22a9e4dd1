package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/internal/recordbatch"
)

// firstError returns what a new loop yields as its error.
func firstError(t testing.TB, c *Consumer) error {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Hour, errTestEnd)
	defer cancel()
	for _, err := range c.Records(ctx) {
		if err != nil {
			return err
		}
	}
	require.Fail(t, "the loop ended without an error")
	return nil
}

func TestWithoutACommittedOffsetTheResetPolicyDecides(t *testing.T) {
	for policy, want := range map[Reset][]int64{ResetEarliest: {2, 3}, ResetLatest: {5, 6}} {
		t.Run(policy.String(), func(t *testing.T) {
			within(t, []int32{2}, func(t *testing.T, b *bench) {
				b.write(0, 5)
				b.stored[partitionKey{"t", 0}].start = 2
				c := b.open(ConsumerConfig{Reset: policy})
				b.member.assign(all(1))
				time.AfterFunc(3*time.Second, func() { b.write(0, 2) })
				require.Equal(t, want, offsets(read(t, c, 2)))
				require.Len(t, b.broker(2).Seen(keyListOffsets), 1, "the leader is asked, and once")
				require.Empty(t, b.broker(1).Seen(keyListOffsets))
			})
		})
	}
}

func TestResetNoneIsAnErrorUntilSomethingIsCommitted(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 5)
		c := b.open(ConsumerConfig{Reset: ResetNone})
		b.member.assign(all(1))
		for range 2 {
			err := firstError(t, c)
			require.ErrorIs(t, err, ErrNoOffset)
			problem, ok := errors.AsType[*PartitionError](err)
			require.True(t, ok)
			require.Equal(t, "t", problem.Topic)
			require.Error(t, c.Skip(problem), "there is nothing to skip")
		}
		require.Zero(t, b.seen(keyFetch))
		require.Empty(t, b.member.commits)
	})
}

// C10: an error of the look-up is not the same as nothing committed.
func TestAnErrorOfTheLookUpResetsNothing(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 5)
		key := partitionKey{"t", 0}
		b.member.committed[key] = groupmember.Offset{Topic: "t", Next: 3}
		b.member.codes[key] = kerr.UnstableOffsetCommit.Code
		c := b.open(ConsumerConfig{CommitInterval: -1})
		b.member.assign(all(1))
		time.AfterFunc(time.Minute, func() {
			b.member.mu.Lock()
			defer b.member.mu.Unlock()
			b.member.codes[key] = 0
		})
		require.Equal(t, []int64{3}, offsets(read(t, c, 1)))
		require.Zero(t, b.seen(keyListOffsets))
		require.Greater(t, b.member.lookUps, 30, "about once a second")
		require.Len(t, b.log.with("cannot look up"), 1, "said once")
	})
}

// C11: what passes by itself moves no position.
func TestTransientTroubleLosesAndRepeatsNothing(t *testing.T) {
	for _, row := range remedyTable {
		if row.fetch != remedyRetry && row.fetch != remedyRefresh {
			continue
		}
		t.Run(fmt.Sprint(row.code), func(t *testing.T) {
			within(t, []int32{1}, func(t *testing.T, b *bench) {
				b.write(0, 3)
				c := b.open(ConsumerConfig{})
				b.member.assign(all(1))
				require.Len(t, read(t, c, 2), 2)
				time.Sleep(10 * time.Second)
				b.answerWith(0, row.code)
				b.write(0, 3)
				before := b.seen(keyMetadata)
				time.Sleep(10 * time.Second)
				require.Equal(t, row.fetch == remedyRefresh, b.seen(keyMetadata) > before)
				b.answerWith(0, 0)
				require.Equal(t, []int64{1, 2, 3, 4, 5}, offsets(read(t, c, 5)))
				require.Equal(t, 1, b.seen(keyListOffsets), "the one at the start")
				require.Len(t, b.log.with("cannot read a partition"), 1, "said once")
				require.Less(t, b.seen(keyFetch), 50, "with back-off")
			})
		})
	}
}

func TestADisconnectLosesAndRepeatsNothing(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		tick := func() {
			b.write(0, 2)
			b.broker(1).DropConnections()
		}
		for i := range 20 {
			time.AfterFunc(time.Duration(i)*730*time.Millisecond, tick)
		}
		var got []int64
		for rec, err := range c.Records(ctx) {
			require.NoError(t, err)
			if got = append(got, rec.Offset); len(got) == 40 {
				break
			}
		}
		require.Greater(t, b.dials(), 10, "there were disconnects")
		for i, offset := range got {
			require.EqualValues(t, i, offset)
		}
		require.Len(t, got, 40)
	})
}

func TestReadingFollowsTheLeader(t *testing.T) {
	within(t, []int32{1, 2}, func(t *testing.T, b *bench) {
		b.write(0, 3)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(2))
		require.Len(t, read(t, c, 3), 3)
		b.move(0, 2)
		b.write(0, 3)
		require.Equal(t, []int64{2, 3, 4, 5}, offsets(read(t, c, 4)))

		last := b.broker(2).Seen(keyFetch)
		req := last[len(last)-1].(*kmsg.FetchRequest)
		require.Len(t, req.Topics, 1)
		require.Len(t, req.Topics[0].Partitions, 2, "one request for all that a broker leads")
		for _, p := range req.Topics[0].Partitions {
			require.Equal(t, map[int32]int32{0: 1, 1: 0}[p.Partition], p.CurrentLeaderEpoch, "KIP-320")
		}
	})
}

func TestAnOffsetThatIsGoneIsReset(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 10)
		b.member.committed[partitionKey{"t", 0}] = groupmember.Offset{Topic: "t", Next: 50}
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		got := read(t, c, 4)
		require.Equal(t, []int64{0, 1, 2, 3}, offsets(got))
		require.Len(t, b.log.with("offset 50 is not there any more"), 1)
		require.NoError(t, c.Commit(t.Context()))
		require.EqualValues(t, 3, b.member.have(0), "C23: also backwards, after a reset")
	})
}

func TestWhatOnlyAPersonCanMendIsToldAtEachLoop(t *testing.T) {
	within(t, []int32{1, 1}, func(t *testing.T, b *bench) {
		b.write(1, 3)
		b.answerWith(0, kerr.TopicAuthorizationFailed.Code)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(2))
		synctest.Wait()
		var problem *PartitionError
		var got []int64
		for range 2 {
			for rec, err := range c.Records(t.Context()) {
				if errors.As(err, &problem) {
					break
				}
				got = append(got, rec.Offset)
			}
			require.ErrorIs(t, problem, kerr.TopicAuthorizationFailed)
			require.EqualValues(t, 0, problem.Partition)
		}
		time.Sleep(time.Minute)
		c.mu.Lock()
		defer c.mu.Unlock()
		require.Len(t, c.buffer.chunks, 1, "errors do not pile up while nobody listens")
		require.Equal(t, []int64{0, 1, 2}, got, "the other partition goes on")
	})
}

func TestADamagedBatchIsAnErrorThatCanBeSkipped(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 2)
		b.write(0, 3)
		b.write(0, 2)
		l := b.stored[partitionKey{"t", 0}]
		l.batches[1].data[len(l.batches[1].data)-1] ^= 1
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		require.Equal(t, []int64{0, 1}, offsets(read(t, c, 2)))
		for range 2 {
			err := firstError(t, c)
			require.ErrorContains(t, err, "checksum", "it is read again, not passed over")
			problem, ok := errors.AsType[*PartitionError](err)
			require.True(t, ok)
			require.EqualValues(t, 2, problem.Offset)
			require.NoError(t, c.Commit(t.Context()))
			require.EqualValues(t, 2, b.member.have(0), "nothing of the batch is done")
		}
		problem, _ := errors.AsType[*PartitionError](firstError(t, c))
		require.NoError(t, c.Skip(problem))
		require.Equal(t, []int64{5, 6}, offsets(read(t, c, 2)))

		b.member.owner.Revoke(t.Context(), all(1), false)
		require.ErrorIs(t, c.Skip(problem), ErrNotOwned)
	})
}

// A batch whose records do not parse, though its checksum is right.
func TestARecordThatCannotBeDecodedIsAnErrorAtItsPlace(t *testing.T) {
	for _, mode := range []string{"records", "batches"} {
		t.Run(mode, func(t *testing.T) {
			within(t, []int32{1}, func(t *testing.T, b *bench) {
				b.write(0, 2)
				b.writeBatch(0, batchWithABadRecord(), 3)
				b.write(0, 2)
				c := b.open(ConsumerConfig{})
				b.member.assign(all(1))
				got, err := drain(t, c, mode)
				require.Equal(t, []int64{0, 1, 2}, got)
				problem, ok := errors.AsType[*PartitionError](err)
				require.True(t, ok)
				require.EqualValues(t, 3, problem.Offset)
				require.NoError(t, c.Commit(t.Context()))
				require.EqualValues(t, 3, b.member.have(0))
				require.NoError(t, c.Skip(problem))
				got, err = drain(t, c, mode)
				require.Equal(t, []int64{5, 6}, got)
				require.NoError(t, err)
			})
		})
	}
}

// drain reads until there is an error or nothing for a while.
func drain(t *testing.T, c *Consumer, mode string) (got []int64, err error) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if mode == "records" {
		for rec, err := range c.Records(ctx) {
			if err != nil {
				return got, err
			}
			got = append(got, rec.Offset)
		}
		return got, nil
	}
	for batch, err := range c.Batches(ctx) {
		if err != nil {
			return got, err
		}
		for rec := range batch.Records() {
			got = append(got, rec.Offset)
		}
	}
	return got, nil
}

// batchWithABadRecord has three records, the second of which claims to be longer
// than the batch.
func batchWithABadRecord() []byte {
	var builder recordbatch.Builder
	for i := range int64(3) {
		builder.Append(i, nil, []byte("v"), nil)
	}
	data := bytes.Clone(builder.Finish(nil))
	const header, record = 61, 8
	data[header+record] = 0x7e // 63 bytes
	return seal(data)
}
