package integration

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Traffic is records that go on being produced to a topic while a test does
// something to its readers.
type Traffic struct {
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // one goroutine, producing until cancel

	mu   sync.Mutex
	sent int
	err  error
}

var errStopped = errors.New("the traffic is stopped")

// Traffic begins to produce with franz-go, a record for each partition in turn,
// until Stop.
func (c *Cluster) Traffic(t testing.TB, topic string, partitions int32) *Traffic {
	t.Helper()
	f := &Traffic{}
	ctx, cancel := context.WithCancelCause(t.Context())
	f.cancel = cancel
	client := c.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.DefaultProduceTopic(topic))
	f.wg.Go(func() { f.produce(ctx, client, partitions) })
	t.Cleanup(func() { f.end() })
	return f
}

// Await returns when n more records have been written.
func (f *Traffic) Await(t testing.TB, n int) {
	t.Helper()
	before, _ := f.state()
	require.Eventually(t, func() bool {
		sent, err := f.state()
		return err != nil || sent >= before+n
	}, time.Minute, 10*time.Millisecond, "%d more records are produced", n)
	_, err := f.state()
	require.NoError(t, err, "franz-go produces")
}

// Stop ends the traffic and returns how many records were written.
func (f *Traffic) Stop(t testing.TB) int {
	t.Helper()
	f.end()
	sent, err := f.state()
	require.NoError(t, err, "franz-go produces")
	return sent
}

func (f *Traffic) end() {
	f.cancel(errStopped)
	f.wg.Wait()
}

func (f *Traffic) state() (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.sent, f.err
}

// produce writes to all partitions, about 100 times a second.
func (f *Traffic) produce(ctx context.Context, client *kgo.Client, partitions int32) {
	pace := time.NewTicker(10 * time.Millisecond)
	defer pace.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pace.C:
		}
		records := make([]*kgo.Record, partitions)
		for i := range records {
			records[i] = &kgo.Record{Partition: int32(i), Value: []byte("traffic")}
		}
		// Not under ctx: a record that is given up may be written all the same.
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), transferTimeout)
		err := client.ProduceSync(limit, records...).FirstErr()
		cancel()
		f.mu.Lock()
		f.sent, f.err = f.sent+len(records), err
		f.mu.Unlock()
		if err != nil {
			return
		}
	}
}
