package client

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Written out here in full, so that a change of the table is a decision.
var (
	retriedCodes = []int16{2, 3, 5, 6, 7, 9, 13, 19, 20, 56, 74, 75, 89, 100, 103}
	fatalCodes   = []int16{-1, 10, 17, 18, 21, 29, 31, 32, 35, 42, 43, 44, 76, 87}
)

func TestEveryCodeIsRetriedOrTold(t *testing.T) {
	for _, code := range retriedCodes {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
				b.answer(0, code)
				_, err := b.p.Produce(t.Context(), record(0, 1))
				require.NoError(t, err)
				require.Equal(t, 2, b.seen(keyProduce))
			})
		})
	}
	for _, code := range append(fatalCodes, 999) {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
				b.answer(0, code)
				_, err := b.p.Produce(t.Context(), record(0, 1))
				require.ErrorIs(t, err, codeErrorKind(code))
				require.ErrorContains(t, err, `topic "t" partition 0`)
				require.Equal(t, 1, b.seen(keyProduce))
				_, err = b.p.Produce(t.Context(), record(0, 2))
				require.NoError(t, err, "the next record has its own chance")
			})
		})
	}
	require.ElementsMatch(t, slices.Concat(retriedCodes, fatalCodes, []int16{0}), slices.Collect(maps.Keys(produceRemedies)))
}

func codeErrorKind(code int16) error {
	if code == 999 {
		return kerr.UnknownServerError
	}
	return kerr.ErrorForCode(code)
}

func TestACodeThatIsNotKnownIsToldWithItsNumber(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
		b.answer(0, 999)
		_, err := b.p.Produce(t.Context(), record(0, 1))
		require.ErrorContains(t, err, "999")
	})
}

func TestNotLeaderAsksForMetadataWhateverBecomesOfTheRecord(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
		_, err := b.p.Produce(t.Context(), record(0, 1))
		require.NoError(t, err)
		before := b.seen(keyMetadata)
		b.answer(0, 6)
		_, err = b.p.Produce(t.Context(), record(0, 2))
		require.NoError(t, err)
		time.Sleep(time.Second)
		require.Greater(t, b.seen(keyMetadata), before)
	})
}

func TestWhatABrokerMayHaveWrittenIsMarked(t *testing.T) {
	for code, want := range map[int16]bool{-1: true, 29: false, 87: false} {
		withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
			b.answer(0, code)
			_, err := b.p.Produce(t.Context(), record(0, 1))
			var pe *ProduceError
			require.ErrorAs(t, err, &pe)
			require.Equal(t, want, pe.MaybeWritten, code)
		})
	}
}

// KIP-467: a broker may say which record of a batch it dislikes.
func TestEachRecordGetsItsOwnReason(t *testing.T) {
	withProducer(t, ProducerConfig{}, []int32{1}, func(t *testing.T, b *produceBench) {
		b.broker(1).On(keyProduce, func(req kmsg.Request) kmsg.Response {
			b.answer(0, 87)
			resp := b.produce(1, req.(*kmsg.ProduceRequest)).(*kmsg.ProduceResponse)
			bad := kmsg.NewProduceResponseTopicPartitionErrorRecord()
			bad.RelativeOffset, bad.ErrorMessage = 1, new("no key")
			p := &resp.Topics[0].Partitions[0]
			p.ErrorMessage, p.ErrorRecords = new("bad batch"), append(p.ErrorRecords, bad)
			return resp
		})
		release := b.broker(1).Hold(keyProduce)
		b.sendAll(0, 0, 0) // the others gather behind it
		synctest.Wait()
		b.sendAll(0, 1, 3)
		release()
		require.NoError(t, b.p.Flush(t.Context()))
		outcomes := b.done()
		require.Len(t, outcomes, 4)
		require.ErrorContains(t, outcomes[2].err, "no key")
		require.NotContains(t, outcomes[1].err.Error(), "no key")
		require.ErrorContains(t, outcomes[3].err, "another record of the same batch")
		require.ErrorIs(t, outcomes[3].err, kerr.InvalidRecord)
	})
}
