package client

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/internal/fakebroker"
)

var errTestEnough = errors.New("the test has waited enough")

func TestProduceSaysWhereARecordWasWritten(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1, 2}, func(t *testing.T, b *produceBench) {
		for i := range uint64(3) {
			o, err := b.p.Produce(t.Context(), record(1, i))
			require.NoError(t, err)
			require.Equal(t, Offset{Topic: "t", Partition: 1, Offset: int64(i), Timestamp: time.UnixMilli(time.Now().UnixMilli())}, o)
		}
		require.Equal(t, counting(0, 2), b.logOf(1))
		req := b.broker(2).Seen(keyProduce)[0].(*kmsg.ProduceRequest)
		require.Equal(t, int16(13), req.Version)
		require.Equal(t, idA, req.Topics[0].TopicID)
		require.Equal(t, int16(-1), req.Acks)
	})
}

func TestTheProducerCopiesWhatItIsGiven(t *testing.T) {
	withProducer(t, ProducerConfig{Linger: time.Second}, []int32{1}, func(t *testing.T, b *produceBench) {
		rec := record(0, 7)
		require.NoError(t, b.p.Send(t.Context(), rec, nil))
		clear(rec.Value)
		require.NoError(t, b.p.Flush(t.Context()))
		require.Equal(t, []uint64{7}, b.logOf(0))
	})
}

func TestRecordsGoInOneRequestForSeveralPartitions(t *testing.T) {
	withProducer(t, ProducerConfig{Linger: time.Millisecond}, []int32{1, 1, 1}, func(t *testing.T, b *produceBench) {
		for id := range uint64(9) {
			require.NoError(t, b.send(t.Context(), int32(id%3), id))
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		require.Len(t, b.done(), 9)
		require.Equal(t, 1, b.seen(keyProduce))
		require.Equal(t, []uint64{1, 4, 7}, b.logOf(1))
	})
}

// A cap is needed where a broker does not know topic IDs, or has told none.
func TestVersionsWithAndWithoutTopicIDs(t *testing.T) {
	for name, c := range map[string]struct {
		id      [16]byte
		offered int16
		want    int16
	}{
		"no ID is known": {[16]byte{}, 13, 12},
		"an old broker":  {idA, 8, 8},
		"the oldest":     {idA, 3, 3},
		"new":            {idA, 13, 13},
	} {
		t.Run(name, func(t *testing.T) {
			withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
				b.broker(1).Offer(keyProduce, 0, c.offered)
				b.lead(c.id, 1)
				o, err := b.p.Produce(t.Context(), record(0, 1))
				require.NoError(t, err)
				require.Equal(t, int64(0), o.Offset)
				require.Equal(t, c.want, b.broker(1).Seen(keyProduce)[0].GetVersion())
			})
		})
	}
}

func TestOrderIsKeptWhateverFails(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
		drops := 0
		b.broker(1).On(keyProduce, func(req kmsg.Request) kmsg.Response {
			if drops++; drops%3 == 0 {
				return fakebroker.Drop()
			}
			return b.produce(1, req.(*kmsg.ProduceRequest))
		})
		b.answer(0, 6, 0, 19, 56, 0, 7, 3)
		for i := range uint64(50) {
			b.sendAll(0, i*2, i*2+1)
			time.Sleep(37 * time.Millisecond)
		}
		require.NoError(t, b.p.Flush(t.Context()))
		b.requireWritten(counting(0, 99))
		require.Equal(t, counting(0, 99), b.logOf(0))
	})
}

func TestNotLeaderLeadsToTheNewLeaderSoon(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1, 2}, func(t *testing.T, b *produceBench) {
		b.sendAll(0, 0, 1)
		require.NoError(t, b.p.Flush(t.Context()))
		b.lead(idA, 2, 2)
		start := time.Now()
		b.sendAll(0, 2, 3)
		require.NoError(t, b.p.Flush(t.Context()))
		require.Less(t, since(start), time.Second)
		b.requireWritten(counting(0, 3))
	})
}

func TestRecordsFollowTheLeadershipOfADeadBroker(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1, 2}, func(t *testing.T, b *produceBench) {
		b.sendAll(0, 0, 0)
		require.NoError(t, b.p.Flush(t.Context()))
		b.broker(1).Hold(keyProduce)
		b.sendAll(0, 1, 1) // on its way when the broker dies
		synctest.Wait()
		b.sendAll(0, 2, 5) // waiting
		b.broker(1).Refuse(syscall.ECONNREFUSED)
		b.broker(1).DropConnections()
		start := time.Now()
		time.Sleep(300 * time.Millisecond)
		b.lead(idA, 2, 2)
		require.NoError(t, b.p.Flush(t.Context()))
		require.Less(t, since(start), 3*time.Second)
		outcomes := b.done()
		require.Len(t, outcomes, 6)
		for i, o := range outcomes {
			require.Equal(t, uint64(i), o.id)
			require.NoError(t, o.err)
		}
		written := b.logOf(0)
		require.Equal(t, counting(1, 5), written[len(written)-5:], "the broker had written record 1 before it died; it may be there twice")
	})
}

func TestAPartitionThatFailsDoesNotHoldUpTheOthers(t *testing.T) {
	withProducer(t, ProducerConfig{Linger: time.Millisecond}, []int32{1, 1}, func(t *testing.T, b *produceBench) {
		b.answer(0, 19, 19, 19)
		b.sendAll(0, 1, 1)
		b.sendAll(1, 2, 2)
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, uint64(2), b.oneOutcome().id)
		require.NoError(t, b.p.Flush(t.Context()))
		require.Len(t, b.done(), 2)
		require.Empty(t, b.log.with("WARN"), "that lasted for less than a second")
	})
}

func TestTroubleIsTheLogsBusinessOnceAndOnlyIfItLasts(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
		for _, want := range []int{1, 2} {
			b.answer(0, make20(6)...)
			b.sendAll(0, 1, 1)
			time.Sleep(routine * 3 / 4)
			require.Len(t, b.log.with("cannot produce"), want-1, "a leader moves within a second or two")
			require.NoError(t, b.p.Flush(t.Context()))
			require.Len(t, b.log.with("cannot produce"), want, "said once, not at each try")
		}
	})
}

func TestABrokerThatIsUnknownIsTheLogsBusinessOnlyIfThatLasts(t *testing.T) {
	withProducer(t, ProducerConfig{DeliveryTimeout: 20 * time.Second}, []int32{1}, func(t *testing.T, b *produceBench) {
		b.lead(idA, 9)
		b.sendAll(0, 1, 1)
		time.Sleep(time.Second)
		require.Empty(t, b.log.with("WARN"))
		require.NoError(t, b.p.Flush(t.Context()))
		require.Len(t, b.log.with("cannot produce to a broker"), 1)
		require.ErrorContains(t, b.oneOutcome().err, "broker 9")
	})
}

func TestARetryWaitsLongerEachTime(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
		b.answer(0, 19, 19, 19, 19, 19)
		start := time.Now()
		b.sendAll(0, 1, 1)
		require.NoError(t, b.p.Flush(t.Context()))
		require.Equal(t, 6, b.seen(keyProduce))
		require.Greater(t, since(start), 1600*time.Millisecond)
	})
}

func TestAnAnswerWithoutThePartitionIsNoSuccess(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
		first := true
		b.broker(1).On(keyProduce, func(req kmsg.Request) kmsg.Response {
			if first {
				first = false
				return kmsg.NewPtrProduceResponse()
			}
			return b.produce(1, req.(*kmsg.ProduceRequest))
		})
		b.sendAll(0, 1, 1)
		require.NoError(t, b.p.Flush(t.Context()))
		require.Equal(t, 2, b.seen(keyProduce))
		b.requireWritten(counting(1, 1))
	})
}

func TestDeliveryTimeoutBoundsARecordAtASilentBroker(t *testing.T) {
	withProducer(t, ProducerConfig{DeliveryTimeout: 20 * time.Second}, []int32{1}, func(t *testing.T, b *produceBench) {
		release := b.broker(1).Hold(keyProduce)
		start := time.Now()
		b.sendAll(0, 1, 1)
		require.NoError(t, b.p.Flush(t.Context()))
		require.Equal(t, 20*time.Second, since(start))
		err := b.oneOutcome().err
		require.ErrorIs(t, err, ErrDeliveryTimeout)
		require.ErrorContains(t, err, `topic "t" partition 0`)
		require.ErrorContains(t, err, "broker 1 has not answered")
		var pe *ProduceError
		require.ErrorAs(t, err, &pe)
		require.True(t, pe.MaybeWritten)

		b.sendAll(0, 2, 2) // is not sent before the answer to the first
		synctest.Wait()
		require.Equal(t, 1, b.seen(keyProduce))
		release()
		require.NoError(t, b.p.Flush(t.Context()))
		require.NoError(t, b.done()[1].err)
		require.Equal(t, counting(1, 2), b.logOf(0))
	})
}

func TestDeliveryTimeoutNamesTheLastFailure(t *testing.T) {
	for name, c := range map[string]struct {
		leader int32
		spoil  func(b *produceBench)
		want   string
	}{
		"no leader":     {-1, func(*produceBench) {}, "the partition has no leader"},
		"unreachable":   {1, func(b *produceBench) { b.broker(1).Refuse(syscall.ECONNREFUSED) }, "connection refused"},
		"unknown":       {9, func(*produceBench) {}, "broker 9 is not among the 1 brokers"},
		"refused codes": {1, func(b *produceBench) { b.answer(0, make20(19)...) }, "min.insync.replicas"},
	} {
		t.Run(name, func(t *testing.T) {
			withProducer(t, ProducerConfig{DeliveryTimeout: 5 * time.Second}, []int32{1}, func(t *testing.T, b *produceBench) {
				b.lead(idA, c.leader)
				b.change(func() { b.members = []int32{1} })
				_, err := b.cl.fresh(t.Context(), []string{"t"})
				require.NoError(t, err)
				c.spoil(b)
				start := time.Now()
				_, err = b.p.Produce(t.Context(), record(0, 1))
				require.ErrorIs(t, err, ErrDeliveryTimeout)
				require.ErrorContains(t, err, c.want)
				require.Equal(t, 5*time.Second, since(start))
			})
		})
	}
}

func make20(code int16) []int16 {
	codes := make([]int16, 20)
	for i := range codes {
		codes[i] = code
	}
	return codes
}

func TestSendWaitsForRoomAndAllThatWaitGetTheirTurn(t *testing.T) {
	cfg := ProducerConfig{MaxBatchBytes: 500, BufferBytes: 500}
	withProducer(t, cfg, []int32{1}, func(t *testing.T, b *produceBench) {
		release := b.broker(1).Hold(keyProduce)
		large := record(0, 1)
		large.Value = append(make([]byte, 400), large.Value...)
		require.NoError(t, b.p.Send(t.Context(), large, nil))
		sent := make(chan error, 3)
		for range 2 {
			go func() {
				rec := record(0, 2)
				rec.Value = append(make([]byte, 150), rec.Value...)
				sent <- b.p.Send(t.Context(), rec, nil)
			}()
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { sent <- b.p.Send(ctx, large, nil) }()
		synctest.Wait()
		require.Empty(t, sent)
		cancel(errTestEnough)
		err := <-sent
		require.ErrorIs(t, err, errTestEnough)
		require.ErrorContains(t, err, "the buffer is full")
		release()
		require.NoError(t, <-sent)
		require.NoError(t, <-sent)
		require.NoError(t, b.p.Flush(t.Context()))
	})
}

func TestACancelledContextDoesNotStopWhatNeedNotWait(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
		b.sendAll(0, 1, 1)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, b.send(ctx, 0, 2))
		require.NoError(t, b.p.Flush(t.Context()))
		require.NoError(t, b.p.Flush(ctx))
		b.requireWritten(counting(1, 2))
	})
}

func TestProduceGivesUpWaitingAndSaysThatTheRecordGoesOn(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
		release := b.broker(1).Hold(keyProduce)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errTestEnough)
		defer cancel()
		_, err := b.p.Produce(ctx, record(0, 1))
		require.ErrorIs(t, err, errTestEnough)
		var pe *ProduceError
		require.ErrorAs(t, err, &pe)
		require.True(t, pe.MaybeWritten)
		release()
		require.NoError(t, b.p.Flush(t.Context()))
		require.Equal(t, []uint64{1}, b.logOf(0))
	})
}

func TestFlushDoesNotWaitForLinger(t *testing.T) {
	withProducer(t, ProducerConfig{Linger: time.Minute}, []int32{1}, func(t *testing.T, b *produceBench) {
		start := time.Now()
		b.sendAll(0, 1, 3)
		require.NoError(t, b.p.Flush(t.Context()))
		require.Zero(t, since(start))
		b.requireWrittenFrom(1, 3)
	})
}

func TestFlushIsBoundedByItsContext(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
		defer b.broker(1).Hold(keyProduce)()
		b.sendAll(0, 1, 1)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errTestEnough)
		defer cancel()
		require.ErrorIs(t, b.p.Flush(ctx), errTestEnough)
	})
}

func TestAcksNoneIsDoneWhenItIsWritten(t *testing.T) {
	withProducer(t, ProducerConfig{Acks: AcksNone}, []int32{1}, func(t *testing.T, b *produceBench) {
		for id := range uint64(3) {
			o, err := b.p.Produce(t.Context(), record(0, id))
			require.NoError(t, err)
			require.Equal(t, int64(-1), o.Offset)
		}
		synctest.Wait()
		require.Equal(t, counting(0, 2), b.logOf(0))
	})
}

func TestEveryCodecIsWrittenAsOneBatch(t *testing.T) {
	for _, codec := range []Codec{NoCompression, Gzip, Snappy, LZ4, Zstd} {
		t.Run(fmt.Sprint(codec), func(t *testing.T) {
			withProducer(t, ProducerConfig{Compression: codec, Linger: time.Second}, []int32{1}, func(t *testing.T, b *produceBench) {
				b.sendAll(0, 0, 99)
				require.NoError(t, b.p.Flush(t.Context()))
				require.Equal(t, counting(0, 99), b.logOf(0))
				records := b.broker(1).Seen(keyProduce)[0].(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records
				require.Equal(t, byte(codec), records[22]&7)
			})
		})
	}
}

func TestTheBrokersTimestampWinsIfItGivesOne(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
		b.broker(1).On(keyProduce, func(req kmsg.Request) kmsg.Response {
			resp := b.produce(1, req.(*kmsg.ProduceRequest)).(*kmsg.ProduceResponse)
			resp.Topics[0].Partitions[0].LogAppendTime = 12345
			return resp
		})
		o, err := b.p.Produce(t.Context(), record(0, 1))
		require.NoError(t, err)
		require.Equal(t, time.UnixMilli(12345), o.Timestamp)
	})
}
