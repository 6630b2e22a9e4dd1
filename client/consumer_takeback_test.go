package client

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// What happens to a partition while it is being taken back.

func TestATopicThatIsCreatedAgainWhileItIsTakenBackIsGivenUpAllTheSame(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 10)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		revoked := make(chan struct{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var got []int64
		for rec, err := range c.Records(ctx) {
			require.NoError(t, err)
			if got = append(got, rec.Offset); rec.Offset != 3 || len(got) > 4 {
				continue
			}
			go func() {
				b.member.owner.Revoke(ctx, all(1), false)
				close(revoked)
			}()
			synctest.Wait()
			b.change(func() {
				topic := b.topics["t"]
				topic.TopicID = idB
				b.topics["t"] = topic
			})
			b.cl.refresh("the test has created the topic again")
			time.Sleep(time.Second)
		}
		<-revoked
		require.Equal(t, []int64{0, 1, 2, 3}, got)
		require.EqualValues(t, -1, b.member.have(0), "an offset of the old topic means nothing in the new one")
		c.mu.Lock()
		defer c.mu.Unlock()
		require.Empty(t, c.owned.parts)
	})
}

// The member answers a look-up that has become pointless at the moment when it
// loses the partition, perhaps before the Consumer hears of the loss.
func TestALookUpThatIsForfeitedIsNoErrorForTheApplication(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 3)
		key := partitionKey{"t", 0}
		b.member.codes[key] = kerr.IllegalGeneration.Code
		c := b.open(ConsumerConfig{CommitInterval: -1})
		b.member.assign(all(1))
		require.Empty(t, soon(t, c, 1))
		require.Empty(t, b.log.with("cannot look up"))
		b.member.mu.Lock()
		b.member.codes[key] = 0
		b.member.mu.Unlock()
		require.Equal(t, []int64{0, 1, 2}, soon(t, c, 3))
	})
}

// The start is looked for while the partition is taken back, and cannot be found.
func TestAnErrorAboutAPartitionThatIsTakenBackIsNotTold(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		release := b.broker(1).Hold(keyListOffsets)
		b.broker(1).On(keyListOffsets, func(req kmsg.Request) kmsg.Response {
			resp := b.listOffsets(1, req.(*kmsg.ListOffsetsRequest)).(*kmsg.ListOffsetsResponse)
			resp.Topics[0].Partitions[0].ErrorCode = kerr.TopicAuthorizationFailed.Code
			return resp
		})
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		synctest.Wait()
		require.Equal(t, 1, b.seen(keyListOffsets))
		c.mu.Lock()
		c.owned.parts[partitionKey{"t", 0}].going = true // Revoke has begun
		c.mu.Unlock()
		release()
		require.Empty(t, soon(t, c, 1))
	})
}

// A member that has no membership any more is not one whose deadline is far off.
func TestNothingIsHandedOutWithoutAMembership(t *testing.T) {
	within(t, []int32{1}, func(t *testing.T, b *bench) {
		b.write(0, 3)
		c := b.open(ConsumerConfig{})
		b.member.assign(all(1))
		require.Len(t, soon(t, c, 1), 1)
		b.member.trust(time.Time{}) // expelled; the Revoke is about to come
		require.Empty(t, soon(t, c, 1))
	})
}

// Close may find that the member waits for the body already.
func TestCloseDoesNotWaitForEverForABodyThatARevokeWaitsFor(t *testing.T) {
	for _, lost := range []bool{false, true} {
		within(t, []int32{1}, func(t *testing.T, b *bench) {
			b.write(0, 10)
			c := b.open(ConsumerConfig{CloseTimeout: 4 * time.Second})
			b.member.assign(all(1))
			for rec, err := range c.Records(t.Context()) {
				require.NoError(t, err)
				if rec.Offset != 4 {
					continue
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				go b.member.takeBack(ctx, all(1), lost)
				synctest.Wait()
				start := time.Now()
				require.NoError(t, c.Close(t.Context()))
				require.Equal(t, 3*time.Second, time.Since(start), "the rest is for committing and leaving")
			}
			if !lost {
				require.EqualValues(t, 4, b.member.have(0))
			}
		})
	}
}
