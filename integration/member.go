package integration

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// errLeft is why a FranzMember stops polling.
var errLeft = errors.New("the member leaves the group")

// A FranzMember is a franz-go consumer in a group that reports to a Recorder
// what it is given, gives back and reads.
type FranzMember struct {
	client *kgo.Client
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup // one goroutine, polling until cancel
}

// FranzMember joins a group under a client ID, also its name in the recorder,
// and reads one topic from its start. Options choose, for example, balancers.
// The member leaves with Leave, or when the test ends.
func (c *Cluster) FranzMember(t testing.TB, r *Recorder, clientID, group, topic string, options ...kgo.Opt) *FranzMember {
	t.Helper()
	m := &FranzMember{}
	ctx, cancel := context.WithCancelCause(t.Context())
	m.cancel = cancel
	revoked := func(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
		r.Revoked(clientID, flatten(gone)...)
	}
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(c.Addrs()...),
		kgo.ClientID(clientID),
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.OnPartitionsAssigned(func(_ context.Context, client *kgo.Client, given map[string][]int32) {
			_, generation := client.GroupMetadata()
			r.Assigned(clientID, generation, flatten(given)...)
		}),
		kgo.OnPartitionsRevoked(revoked),
		kgo.OnPartitionsLost(revoked),
		kgo.BlockRebalanceOnPoll(), // so that a record is reported before its partition is revoked
	}, options...)...)
	require.NoError(t, err)
	m.client = client
	m.wg.Go(func() { m.poll(ctx, r, clientID) })
	t.Cleanup(m.Leave)
	return m
}

// Leave leaves the group in good order and returns when that is done. A second
// call does nothing.
func (m *FranzMember) Leave() {
	m.cancel(errLeft)
	m.wg.Wait()
	m.client.CloseAllowingRebalance()
}

func (m *FranzMember) poll(ctx context.Context, r *Recorder, name string) {
	for context.Cause(ctx) == nil {
		m.client.PollFetches(ctx).EachRecord(func(record *kgo.Record) {
			r.Read(name, Partition{record.Topic, record.Partition}, record.Offset)
		})
		m.client.AllowRebalance()
	}
}

func flatten(topics map[string][]int32) []Partition {
	var all []Partition
	for topic, numbers := range topics {
		for _, number := range numbers {
			all = append(all, Partition{topic, number})
		}
	}
	return all
}
