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
	config := PeerConfig{Name: clientID, Group: group, Topic: topic, Brokers: c.Addrs()}
	m, err := startFranz(t.Context(), config, r, options...)
	require.NoError(t, err)
	t.Cleanup(m.Leave)
	return m
}

func startFranz(ctx context.Context, config PeerConfig, r reporter, options ...kgo.Opt) (*FranzMember, error) {
	lost := func(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
		r.Revoked(config.Name, flatten(gone)...)
	}
	revoked := func(ctx context.Context, client *kgo.Client, gone map[string][]int32) {
		_ = client.CommitUncommittedOffsets(ctx) // which franz-go does only where there is no callback
		lost(ctx, client, gone)
	}
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(config.Brokers...),
		kgo.ClientID(config.Name),
		kgo.ConsumerGroup(config.Group),
		kgo.ConsumeTopics(config.Topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.OnPartitionsAssigned(func(_ context.Context, client *kgo.Client, given map[string][]int32) {
			_, generation := client.GroupMetadata()
			r.Assigned(config.Name, generation, flatten(given)...)
		}),
		kgo.OnPartitionsRevoked(revoked),
		kgo.OnPartitionsLost(lost),
		kgo.BlockRebalanceOnPoll(), // so that a record is reported before its partition is revoked
	}, options...)...)
	if err != nil {
		return nil, err
	}
	m := &FranzMember{client: client}
	ctx, m.cancel = context.WithCancelCause(ctx)
	m.wg.Go(func() { m.poll(ctx, r, config.Name) })
	return m, nil
}

// runFranz is a member by franz-go until ctx ends.
func runFranz(ctx context.Context, config PeerConfig, r reporter) error {
	balancers := map[string]func() kgo.GroupBalancer{
		"range":              kgo.RangeBalancer,
		"roundrobin":         kgo.RoundRobinBalancer,
		"sticky":             kgo.StickyBalancer,
		"cooperative-sticky": kgo.CooperativeStickyBalancer,
	}
	m, err := startFranz(ctx, config, r,
		kgo.Balancers(balancers[config.Assignor]()),
		kgo.SessionTimeout(config.sessionTimeout()),
		kgo.HeartbeatInterval(config.heartbeatInterval()))
	if err != nil {
		return err
	}
	<-ctx.Done()
	m.Leave()
	return nil
}

// Leave leaves the group in good order and returns when that is done. A second
// call does nothing.
func (m *FranzMember) Leave() {
	m.cancel(errLeft)
	m.wg.Wait()
	m.client.CloseAllowingRebalance()
}

func (m *FranzMember) poll(ctx context.Context, r reporter, name string) {
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
