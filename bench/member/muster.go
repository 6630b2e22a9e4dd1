package member

import (
	"context"
	"errors"
	"sync"

	"github.com/musterkafka/muster/assign"
	"github.com/musterkafka/muster/client"
	"github.com/musterkafka/muster/groupmember"
)

func startMuster(o Options, events Events) (stop func(), err error) {
	cl, err := client.New(client.Config{Brokers: []string{o.Broker}})
	if err != nil {
		return nil, err
	}
	leave, err := StartMusterOn(cl, o, events)
	if err != nil {
		return nil, err
	}
	return func() {
		leave()
		_ = cl.Close() // never fails
	}, nil
}

// StartMusterOn starts a member of muster on a Client that it shares with others.
func StartMusterOn(cl *client.Client, o Options, events Events) (stop func(), err error) {
	assignors := []assign.Assignor{assign.CooperativeSticky()}
	if o.Protocol == Eager {
		assignors = []assign.Assignor{assign.Range()}
	}
	consumer, err := cl.Consumer(client.ConsumerConfig{
		Group:     o.Group,
		Topics:    []string{o.Topic},
		Assignors: assignors,
		Trace: &client.ConsumerTrace{
			Assigned: func(_ int32, added, _ groupmember.Partitions) { events.Assigned(added[o.Topic]) },
			Revoked:  func(gone groupmember.Partitions, _ bool) { events.Revoked(gone[o.Topic]) },
		},
	})
	if err != nil {
		return nil, err
	}
	var reading sync.WaitGroup
	reading.Go(func() { readAll(consumer, events) })
	return func() {
		if err := consumer.Close(context.Background()); err != nil {
			complain("muster", err)
		}
		reading.Wait()
	}, nil
}

// readAll reads until the consumer is closed.
func readAll(consumer *client.Consumer, events Events) {
	for {
		for rec, err := range consumer.Records(context.Background()) {
			if errors.Is(err, client.ErrConsumerClosed) {
				return
			}
			if err != nil {
				complain("muster", err)
				break
			}
			events.Record(rec.Partition)
		}
	}
}
