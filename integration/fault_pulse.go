package integration

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// pulseInterval is the time between two records of a Pulse in one partition.
const pulseInterval = 20 * time.Millisecond

// A Pulse is records that go on being produced to some partitions, to each
// regardless of the others, while a test does something to brokers.
type Pulse struct {
	client *kgo.Client
	begin  time.Time // zero of the recorder's clock
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // one goroutine, producing until cancel

	mu    sync.Mutex
	acked []Event
	err   error
}

// Pulse begins to produce with franz-go until Stop.
func (c *Cluster) Pulse(t testing.TB, r *Recorder, partitions []Partition) *Pulse {
	t.Helper()
	p := &Pulse{client: c.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner())), begin: r.begin}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.Context()))
	p.cancel = cancel
	p.wg.Go(func() { p.produce(ctx, partitions) })
	t.Cleanup(p.end)
	return p
}

// Stop ends the pulse and returns how many records were written, when all are.
func (p *Pulse) Stop(t testing.TB) int {
	t.Helper()
	p.end()
	ctx, cancel := context.WithTimeout(t.Context(), transferTimeout)
	defer cancel()
	require.NoError(t, p.client.Flush(ctx), "franz-go produces")
	p.mu.Lock()
	defer p.mu.Unlock()
	require.NoError(t, p.err, "franz-go produces")
	return len(p.acked)
}

// Acked returns an Event for each record that is written, with the time at which
// the broker said so.
func (p *Pulse) Acked() []Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.acked)
}

func (p *Pulse) end() {
	p.cancel(errStopped)
	p.wg.Wait()
}

func (p *Pulse) produce(ctx context.Context, partitions []Partition) {
	pace := time.NewTicker(pulseInterval)
	defer pace.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pace.C:
		}
		for _, to := range partitions {
			record := &kgo.Record{Topic: to.Topic, Partition: to.Number, Value: []byte("pulse")}
			// Not under ctx: a record that is given up may be written all the same.
			p.client.Produce(context.WithoutCancel(ctx), record, p.produced)
		}
	}
}

func (p *Pulse) produced(record *kgo.Record, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
	at := Partition{record.Topic, record.Partition}
	p.acked = append(p.acked, Event{At: time.Since(p.begin), Kind: Read, Partition: at, Offset: record.Offset})
}
