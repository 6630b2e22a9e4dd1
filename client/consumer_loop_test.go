package client

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/groupmember"
)

func all(n int) groupmember.Partitions {
	p := make(groupmember.Partitions)
	for i := range int32(n) {
		p["t"] = append(p["t"], i)
	}
	return p
}

func TestRecordsComeInOrderFromWhereTheGroupHasGotTo(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 5)
		b.write(0, 5)
		b.member.committed[partitionKey{"t", 0}] = groupmember.Offset{Topic: "t", Next: 3, LeaderEpoch: 0}
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		got := read(t, c, 7)
		require.Equal(t, []int64{3, 4, 5, 6, 7, 8, 9}, offsets(got))
		require.Equal(t, "3", string(got[0].Value))
		require.Equal(t, "t", got[0].Topic)
		require.Equal(t, time.UnixMilli(1003), got[0].Timestamp)
		require.Zero(t, b.seen(keyListOffsets), "there was a committed offset")
	})
}

func TestOnlyDoneRecordsAreCommitted(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 10)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		for rec, err := range c.Records(t.Context()) {
			require.NoError(t, err)
			require.NoError(t, c.Commit(t.Context()))
			require.Equal(t, rec.Offset, b.member.have(0), "the current record is not done")
			if rec.Offset == 4 {
				break
			}
		}
		require.NoError(t, c.Close(t.Context()))
		require.EqualValues(t, 4, b.member.have(0), "the loop was left in the middle of record 4")
	})
}

func TestDoneBeforeABreakCountsTheCurrentRecord(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 10)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		for rec, err := range c.Records(t.Context()) {
			require.NoError(t, err)
			if rec.Offset == 4 {
				c.Done(rec)
				break
			}
		}
		require.Equal(t, []int64{5}, offsets(read(t, c, 1)))
		require.NoError(t, c.Close(t.Context()))
		require.EqualValues(t, 5, b.member.have(0))
	})
}

func TestANewLoopBeginsWithTheRecordThatIsNotDone(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 3)
		b.write(0, 3)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		require.Equal(t, []int64{0, 1}, offsets(read(t, c, 2)))
		require.Equal(t, []int64{1, 2, 3, 4}, offsets(read(t, c, 4)))
		require.Equal(t, []int64{4, 5}, offsets(read(t, c, 2)))
	})
}

func TestBatchesAreTheUnitOfWork(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 3)
		b.write(0, 2)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		var seen []int64
		var kept []*Batch
		for batch, err := range c.Batches(t.Context()) {
			require.NoError(t, err)
			require.NoError(t, c.Commit(t.Context()))
			require.Equal(t, batch.FirstOffset, b.member.have(0))
			for rec := range batch.Records() {
				seen = append(seen, rec.Offset)
			}
			if kept = append(kept, batch.Keep()); batch.LastOffset == 4 {
				break
			}
		}
		require.Equal(t, []int64{0, 1, 2, 3, 4}, seen)
		require.NoError(t, c.Close(t.Context()))
		require.EqualValues(t, 3, b.member.have(0), "the second batch was left undone")

		for rec := range kept[0].Records() {
			require.Equal(t, string(rune('0'+rec.Offset)), string(rec.Value), "a kept batch outlives the loop")
		}
	})
}

func TestDoneWithinABatchCountsUpToTheRecord(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 6)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		for batch, err := range c.Batches(t.Context()) {
			require.NoError(t, err)
			for rec := range batch.Records() {
				if rec.Offset == 3 {
					c.Done(rec)
					break
				}
			}
			break
		}
		for batch, err := range c.Batches(t.Context()) {
			require.NoError(t, err)
			require.EqualValues(t, 4, batch.FirstOffset, "the rest of the batch")
			break
		}
	})
}

func TestTheLoopJustEndsWithItsContext(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 3)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		n := 0
		for _, err := range c.Records(ctx) {
			require.NoError(t, err)
			if n++; n == 2 {
				cancel(errTestEnd)
				synctest.Wait()
			}
		}
		require.Equal(t, 2, n, "not one record more")
		for range c.Records(ctx) {
			require.Fail(t, "the context had ended before")
		}
		require.Equal(t, []int64{2}, offsets(read(t, c, 1)))
	})
}

func TestALoopThatWaitsEndsWithItsContext(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		c := b.open(ConsumerConfig{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		for range c.Records(ctx) {
			require.Fail(t, "nothing is assigned")
		}
		require.Equal(t, time.Minute, time.Since(start))
	})
}

func TestThereIsOneLoopAtATime(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 3)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		for _, err := range c.Records(t.Context()) {
			require.NoError(t, err)
			for _, err := range c.Batches(t.Context()) {
				require.ErrorIs(t, err, ErrBusy)
			}
			break
		}
		require.Len(t, read(t, c, 1), 1)
	})
}

func TestAPanicInTheBodyLeavesItsRecordUndone(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 3)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		require.Panics(t, func() {
			for rec := range c.Records(t.Context()) {
				if rec.Offset == 1 {
					panic("of the application")
				}
			}
		})
		require.Equal(t, []int64{1, 2}, offsets(read(t, c, 2)))
	})
}

func TestThePartitionIsNotGivenAwayWhileTheBodyRuns(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 10)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		revoked := make(chan struct{})
		var seen []int64
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for rec, err := range c.Records(ctx) {
			require.NoError(t, err)
			seen = append(seen, rec.Offset)
			if rec.Offset == 3 {
				go func() {
					b.member.owner.Revoke(ctx, all(1), false)
					close(revoked)
				}()
				time.Sleep(10 * time.Second) // the body at work, in the bubble's time
				synctest.Wait()
				select {
				case <-revoked:
					require.Fail(t, "given away under the body's hands")
				default:
				}
			}
		}
		<-revoked
		require.Equal(t, []int64{0, 1, 2, 3}, seen, "nothing is handed out once the partition is going")
		require.EqualValues(t, 4, b.member.have(0), "the record that was finished meanwhile is committed")
	})
}

func TestRevokeDoesNotWaitForALoopThatIsNotThere(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 10)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		got := read(t, c, 3)
		b.member.owner.Revoke(t.Context(), all(1), false)
		require.EqualValues(t, 2, b.member.have(0))
		c.Done(got[2]) // too late
		require.NoError(t, c.Commit(t.Context()))
		require.EqualValues(t, 2, b.member.have(0))
	})
}

// C01: a late mark of an assignment that is over does not count in the next one.
func TestALateMarkDoesNotCountAfterReassignment(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 10)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		got := read(t, c, 5)
		b.member.owner.Revoke(t.Context(), all(1), false)
		b.member.mu.Lock()
		b.member.committed[partitionKey{"t", 0}] = groupmember.Offset{Topic: "t", Next: 2} // another member has been set back
		b.member.mu.Unlock()
		b.member.assign(all(1))
		c.Done(got[4])
		synctest.Wait()
		require.NoError(t, c.Commit(t.Context()))
		require.EqualValues(t, 2, b.member.have(0))
		require.Equal(t, []int64{2}, offsets(read(t, c, 1)), "C02: it starts where the group has got to")
	})
}

func TestNothingIsCommittedOfWhatIsLost(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 10)
		c := b.open(ConsumerConfig{CommitInterval: -1})
		b.member.assign(all(1))
		read(t, c, 5)
		b.member.owner.Revoke(t.Context(), all(1), true)
		require.NoError(t, c.Close(t.Context()))
		require.Empty(t, b.member.commits)
	})
}

func TestASuspendedMemberHandsOutNothing(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 10)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var resumed time.Time
		for rec, err := range c.Records(ctx) {
			require.NoError(t, err)
			switch rec.Offset {
			case 3:
				b.member.owner.Suspended()
				time.AfterFunc(7*time.Second, b.member.owner.Resumed)
				resumed = time.Now().Add(7 * time.Second)
			case 4:
				require.Equal(t, resumed, time.Now())
				cancel()
				synctest.Wait()
			}
		}
		require.False(t, resumed.IsZero())
		require.Equal(t, []int64{5}, offsets(read(t, c, 1)))
	})
}

func TestNothingIsHandedOutPastTheDeadlineOfTheMembership(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 100)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		deadline := time.Now().Add(10 * time.Second)
		b.member.trust(deadline)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		late := 0
		for rec, err := range c.Records(ctx) {
			require.NoError(t, err)
			if !time.Now().Before(deadline) {
				late++
			}
			if rec.Offset == 20 {
				time.Sleep(11 * time.Second) // a slow record
			}
		}
		require.Less(t, late, trustEvery, "the clock is read every so many records")

		b.member.trust(time.Now().Add(time.Hour))
		require.NotEmpty(t, read(t, c, 1), "it goes on when the membership is sure again")
	})
}
