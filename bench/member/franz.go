package member

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

func startFranz(o Options, events Events) (stop func(), err error) {
	gone := func(_ context.Context, _ *kgo.Client, parts map[string][]int32) { events.Revoked(parts[o.Topic]) }
	options := []kgo.Opt{
		kgo.SeedBrokers(o.Broker),
		kgo.ConsumeTopics(o.Topic),
		kgo.ConsumerGroup(o.Group),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.SessionTimeout(sessionTimeout),
		kgo.HeartbeatInterval(heartbeatInterval),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, parts map[string][]int32) { events.Assigned(parts[o.Topic]) }),
		kgo.OnPartitionsRevoked(gone),
		kgo.OnPartitionsLost(gone),
	}
	if o.Protocol == Eager {
		options = append(options, kgo.Balancers(kgo.RangeBalancer()))
	} else {
		options = append(options, kgo.Balancers(kgo.CooperativeStickyBalancer()))
	}
	cl, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			fetches := cl.PollFetches(context.Background())
			if fetches.IsClientClosed() {
				return
			}
			fetches.EachRecord(func(r *kgo.Record) { events.Record(r.Partition) })
		}
	})
	return func() {
		cl.Close()
		reading.Wait()
	}, nil
}
