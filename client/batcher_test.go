package client

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/musterkafka/muster/internal/recordbatch"
)

var batcherStart = time.UnixMilli(1_000_000)

func newTestBatcher(cfg ProducerConfig, leaders ...int32) *batcher {
	cfg = cfg.withDefaults()
	b := newBatcher(&cfg, 1)
	b.describe(topicLedBy("t", leaders...))
	b.stirred = nil
	return b
}

func topicLedBy(name string, leaders ...int32) *topic {
	t := &topic{name: name}
	for i, leader := range leaders {
		t.partitions = append(t.partitions, partition{id: int32(i), leader: leader})
	}
	return t
}

func value(n int) *Record { return &Record{Value: make([]byte, n)} }

// drainAll drains what is due for node at now, without a limit.
func drainAll(b *batcher, now time.Time, node int32) []*produceBatch {
	return b.drain(now, node, 1<<30, nil)
}

func TestARecordIsDueAtOnceWithoutLinger(t *testing.T) {
	b := newTestBatcher(ProducerConfig{}, 1)
	require.NoError(t, b.add(batcherStart, "t", 0, value(10), nil))
	require.Equal(t, []int32{1}, b.stirred)
	require.Len(t, drainAll(b, batcherStart, 1), 1)
	require.Empty(t, drainAll(b, batcherStart, 1))
}

func TestLingerEndsWithItsTimeAFullBatchOrACut(t *testing.T) {
	const linger = 5 * time.Millisecond
	cfg := ProducerConfig{Linger: linger, MaxBatchBytes: 300}
	for name, end := range map[string]func(b *batcher) time.Time{
		"time": func(*batcher) time.Time { return batcherStart.Add(linger) },
		"full": func(b *batcher) time.Time {
			require.NoError(t, b.add(batcherStart, "t", 0, value(200), nil))
			return batcherStart
		},
		"cut": func(b *batcher) time.Time { b.cut(); return batcherStart },
	} {
		t.Run(name, func(t *testing.T) {
			b := newTestBatcher(cfg, 1)
			require.NoError(t, b.add(batcherStart, "t", 0, value(200), nil))
			require.Empty(t, drainAll(b, batcherStart, 1))
			at, ok := b.dueAt(1)
			require.True(t, ok)
			require.Equal(t, batcherStart.Add(linger), at)
			b.stirred = nil
			now := end(b)
			if name != "time" {
				require.Equal(t, []int32{1}, b.stirred)
			}
			require.Len(t, drainAll(b, now, 1), 1)
		})
	}
}

func TestRecordsGatherBehindABatchOnItsWay(t *testing.T) {
	b := newTestBatcher(ProducerConfig{}, 1)
	require.NoError(t, b.add(batcherStart, "t", 0, value(10), nil))
	first := drainAll(b, batcherStart, 1)
	for range 5 {
		require.NoError(t, b.add(batcherStart, "t", 0, value(10), nil))
	}
	require.Empty(t, drainAll(b, batcherStart, 1), "one batch of a partition at a time")
	b.written(first[0], 0, -1)
	second := drainAll(b, batcherStart, 1)
	require.Len(t, second, 1)
	require.Len(t, second[0].items, 5)
}

func TestABatchThatIsTriedAgainKeepsItsPlaceAndItsRecords(t *testing.T) {
	b := newTestBatcher(ProducerConfig{}, 1)
	require.NoError(t, b.add(batcherStart, "t", 0, value(10), nil))
	first := drainAll(b, batcherStart, 1)
	require.NoError(t, b.add(batcherStart, "t", 0, value(10), nil))
	b.retry(batcherStart, first[0], errors.New("lost"))
	require.NoError(t, b.add(batcherStart, "t", 0, value(10), nil))
	require.Empty(t, drainAll(b, batcherStart, 1), "after a pause")
	again := drainAll(b, batcherStart.Add(time.Second), 1)
	require.Equal(t, first, again)
	require.Len(t, again[0].items, 1)
}

func TestANewLeaderGetsWhatWaitsAtOnce(t *testing.T) {
	b := newTestBatcher(ProducerConfig{}, 1)
	require.NoError(t, b.add(batcherStart, "t", 0, value(10), nil))
	first := drainAll(b, batcherStart, 1)
	b.retry(batcherStart, first[0], errors.New("not leader"))
	b.stirred = nil
	b.describe(topicLedBy("t", 2))
	require.Equal(t, []int32{2}, b.stirred)
	require.Empty(t, drainAll(b, batcherStart, 1))
	require.Equal(t, first, drainAll(b, batcherStart, 2))
}

func TestABatchThatComesBackAfterItsLeaderMovedGoesToTheNewOne(t *testing.T) {
	b := newTestBatcher(ProducerConfig{}, 1)
	require.NoError(t, b.add(batcherStart, "t", 0, value(10), nil))
	first := drainAll(b, batcherStart, 1)
	b.describe(topicLedBy("t", 2))
	require.Empty(t, drainAll(b, batcherStart, 2), "it is still at the old one")
	b.retry(batcherStart, first[0], errors.New("lost"))
	require.Equal(t, first, drainAll(b, batcherStart.Add(time.Second), 2))
}

func TestARecordThatIsTooLargeIsRefusedAlone(t *testing.T) {
	b := newTestBatcher(ProducerConfig{MaxBatchBytes: 1000}, 1)
	require.NoError(t, b.add(batcherStart, "t", 0, value(500), nil))
	err := b.add(batcherStart, "t", 0, value(1000), nil)
	require.ErrorIs(t, err, ErrRecordTooLarge)
	require.ErrorContains(t, err, "MaxBatchBytes")
	require.NoError(t, b.add(batcherStart, "t", 0, value(300), nil))
	require.Len(t, drainAll(b, batcherStart, 1)[0].items, 2)
}

func TestExpiryTakesTheOldestFirstAndSparesTheYoung(t *testing.T) {
	b := newTestBatcher(ProducerConfig{DeliveryTimeout: time.Minute, MaxBatchBytes: 300}, 1)
	for i := range 3 {
		require.NoError(t, b.add(batcherStart.Add(time.Duration(i)*time.Second), "t", 0, value(200), nil))
	}
	atBroker := drainAll(b, batcherStart, 1)[0]
	next, ok := b.expire(batcherStart.Add(time.Minute + time.Second))
	require.True(t, ok)
	require.Equal(t, batcherStart.Add(time.Minute+2*time.Second), next)
	require.Len(t, b.finished, 2)
	require.Equal(t, atBroker, b.finished[0])
	require.True(t, b.finished[0].maybe, "a broker has it")
	require.False(t, b.finished[1].maybe)
	require.ErrorIs(t, b.finished[0].refusal.err, ErrDeliveryTimeout)
	require.Empty(t, drainAll(b, batcherStart.Add(time.Hour), 1), "the first one is still at the broker")
	b.written(atBroker, 7, -1)
	require.Len(t, b.finished, 2, "no second outcome")
	require.Len(t, drainAll(b, batcherStart.Add(time.Hour), 1), 1)
}

func TestRecordsForAnywhereFillOneBatchAndThenAnother(t *testing.T) {
	b := newTestBatcher(ProducerConfig{MaxBatchBytes: 1000}, 1, 1, 1, 1)
	for range 100 {
		require.NoError(t, b.add(batcherStart, "t", AnyPartition, value(100), nil))
	}
	batches, used := 0, 0
	for _, q := range b.topics["t"].queues {
		batches += len(q.batches)
		if len(q.batches) > 0 {
			used++
		}
	}
	require.LessOrEqual(t, batches, 15, "about 9 records fit a batch")
	require.Equal(t, 4, used)
}

func TestRecordsForAnywhereAvoidPartitionsWithoutALeader(t *testing.T) {
	b := newTestBatcher(ProducerConfig{MaxBatchBytes: 300}, -1, 1, -1)
	for range 20 {
		require.NoError(t, b.add(batcherStart, "t", AnyPartition, value(200), nil))
	}
	require.Len(t, b.topics["t"].queues[1].batches, 20)
}

func TestWithoutAnyLeaderRecordsWait(t *testing.T) {
	b := newTestBatcher(ProducerConfig{}, -1, -1)
	require.NoError(t, b.add(batcherStart, "t", AnyPartition, value(200), nil))
	require.Len(t, b.ready[-1], 1)
	b.describe(topicLedBy("t", 3, 3))
	require.Len(t, drainAll(b, batcherStart, 3), 1)
}

func TestADrainKeepsItsLimitAndComesBackForTheRest(t *testing.T) {
	b := newTestBatcher(ProducerConfig{}, 1, 1, 1)
	for p := range int32(3) {
		require.NoError(t, b.add(batcherStart, "t", p, value(1000), nil))
	}
	var seen []int32
	for range 2 {
		for _, batch := range b.drain(batcherStart, 1, 2200, nil) {
			seen = append(seen, batch.queue.partition)
			b.written(batch, 0, -1)
		}
		require.NoError(t, b.add(batcherStart, "t", 0, value(1000), nil))
	}
	require.Equal(t, []int32{0, 1, 2, 0}, seen)
}

// batcherModel drives a batcher at random, as a producer and its brokers would.
type batcherModel struct {
	t       *rapid.T
	b       *batcher
	now     time.Time
	leaders []int32
	away    []*produceBatch // drained
	sent    [][]uint64      // by partition, in order: what was taken
	called  [][]uint64      // by partition: what was called back
	logs    [][]uint64      // by partition: what brokers have written
	next    uint64
	splits  int
}

func (m *batcherModel) add() {
	p := rapid.Int32Range(-1, int32(len(m.leaders))-1).Draw(m.t, "partition")
	id := m.next
	rec := &Record{Value: binary.BigEndian.AppendUint64(make([]byte, rapid.IntRange(0, 150).Draw(m.t, "size")), id)}
	err := m.b.add(m.now, "t", p, rec, func(o Offset, err error) { m.called[o.Partition] = append(m.called[o.Partition], id) })
	if err != nil {
		require.Equal(m.t, errBufferFull, err)
		return
	}
	m.next++
	for q, queue := range m.b.topics["t"].queues { // only the chosen one has grown
		n := 0
		for _, batch := range queue.batches {
			if !batch.settled {
				n += len(batch.items)
			}
		}
		if n+m.settledOf(q) > len(m.sent[q]) {
			m.sent[q] = append(m.sent[q], id)
		}
	}
}

// settledOf returns how many records of a partition have their outcome.
func (m *batcherModel) settledOf(q int) int {
	n := len(m.called[q])
	for _, batch := range m.b.finished {
		if int(batch.queue.partition) == q {
			n += len(batch.items)
		}
	}
	return n
}

func (m *batcherModel) drain() {
	node := rapid.SampledFrom(m.leaders).Draw(m.t, "node")
	if node < 0 {
		return
	}
	for _, batch := range drainAll(m.b, m.now, node) {
		for _, other := range m.away {
			require.NotEqual(m.t, other.queue, batch.queue, "two batches of a partition at brokers")
		}
		if batch.wire == nil {
			batch.wire = batch.builder.Finish(nil)
		}
		m.away = append(m.away, batch)
	}
}

func (m *batcherModel) answer() {
	if len(m.away) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.away)-1).Draw(m.t, "answer")
	batch := m.away[i]
	m.away = append(m.away[:i], m.away[i+1:]...)
	switch rapid.SampledFrom([]string{"written", "refused", "too large", "lost"}).Draw(m.t, "outcome") {
	case "too large":
		if len(batch.items) > 1 {
			_, err := m.b.split(m.now, batch)
			require.NoError(m.t, err)
			return
		}
		m.b.refuse(batch, produceRefusal{err: errors.New("too large")})
	case "written":
		m.logs[batch.queue.partition] = append(m.logs[batch.queue.partition], idsIn(m.t, batch.wire)...)
		m.b.written(batch, 0, -1)
	case "refused":
		m.b.refuse(batch, produceRefusal{err: errors.New("refused")})
	default:
		m.b.retry(m.now, batch, errors.New("lost"))
	}
}

func (m *batcherModel) lead() {
	for i := range m.leaders {
		m.leaders[i] = rapid.Int32Range(-1, 2).Draw(m.t, "leader")
	}
	m.b.describe(topicLedBy("t", m.leaders...))
}

func (m *batcherModel) pass() {
	m.now = m.now.Add(time.Duration(rapid.IntRange(1, 40).Draw(m.t, "seconds")) * time.Second)
	m.b.expire(m.now)
}

func (m *batcherModel) callBack() {
	for _, batch := range m.b.takeFinished(nil) {
		batch.call()
		m.b.retire(batch)
	}
}

// idsIn returns the IDs of the records of a batch.
func idsIn(t require.TestingT, wire []byte) (ids []uint64) {
	var s recordbatch.Scanner
	s.Reset(wire)
	var batch recordbatch.Batch
	for s.Next(&batch) {
		records, err := batch.Open(nil, 1<<30)
		require.NoError(t, err)
		var rec recordbatch.Record
		for records.Next(&rec) {
			ids = append(ids, binary.BigEndian.Uint64(rec.Value[len(rec.Value)-8:]))
		}
		require.NoError(t, records.Err())
	}
	require.NoError(t, s.Err())
	return ids
}

// Whatever happens, each record has one outcome, outcomes of a partition come in
// the order of sending, and brokers get a partition's records in that order.
func TestBatcherKeepsOrderAndLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := ProducerConfig{
			MaxBatchBytes: 400, BufferBytes: 2000, DeliveryTimeout: time.Minute,
			Linger: time.Duration(rapid.IntRange(0, 5).Draw(t, "linger")) * time.Second,
		}
		m := &batcherModel{t: t, now: batcherStart, leaders: []int32{1, 1, 2}}
		m.b = newTestBatcher(cfg, m.leaders...)
		m.sent, m.called, m.logs = make([][]uint64, 3), make([][]uint64, 3), make([][]uint64, 3)
		t.Repeat(map[string]func(*rapid.T){
			"add":    func(*rapid.T) { m.add() },
			"send":   func(*rapid.T) { m.drain() },
			"answer": func(*rapid.T) { m.answer() },
			"lead":   func(*rapid.T) { m.lead() },
			"pass":   func(*rapid.T) { m.pass() },
			"call":   func(*rapid.T) { m.callBack() },
			"": func(t *rapid.T) {
				require.GreaterOrEqual(t, m.b.buffered, 0)
				require.LessOrEqual(t, m.b.buffered, 2000+61*m.splits, "a split adds a header")
			},
		})
		m.b.abandonAll(ErrClosed)
		m.callBack()
		require.Equal(t, m.sent, m.called)
		require.Zero(t, m.b.buffered)
		require.Zero(t, m.b.uncalled)
		require.True(t, m.b.done(m.b.number))
		for p := range m.logs {
			requireAscending(t, m.logs[p])
		}
	})
}

func requireAscending(t require.TestingT, ids []uint64) {
	for i := 1; i < len(ids); i++ {
		require.Less(t, ids[i-1], ids[i])
	}
}

// A record is encoded into memory that is used again and again.
func TestTakingARecordDoesNotAllocate(t *testing.T) {
	b := newTestBatcher(ProducerConfig{MaxBatchBytes: 1 << 16}, 1, 1)
	rec := &Record{Key: []byte("key"), Value: make([]byte, 100), Headers: []Header{{Key: "h", Value: []byte("v")}}}
	var batches, finished []*produceBatch
	done := func(Offset, error) {}
	round := func() {
		for range 5000 {
			if err := b.add(batcherStart, "t", AnyPartition, rec, done); err != nil {
				t.Fatal(err)
			}
		}
		for b.oldest != nil {
			batches = b.drain(batcherStart, 1, 1<<30, batches[:0])
			for _, batch := range batches {
				b.written(batch, 0, -1)
			}
			finished = b.takeFinished(finished)
			for _, batch := range finished {
				batch.call()
				b.retire(batch)
			}
		}
		b.stirred = b.stirred[:0]
	}
	round()
	require.Less(t, testing.AllocsPerRun(20, round)/5000, 0.05)
}
