package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// createTopic makes a topic, and returns when every partition of it has a record: only then its
// leaders are sure to be at work.
func createTopic(ctx context.Context, cl *kgo.Client, name string, partitions int32) error {
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, 1
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics, req.TimeoutMillis = append(req.Topics, topic), 15_000
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return fmt.Errorf("create topic %s: %w", name, err)
	}
	for _, t := range resp.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return fmt.Errorf("create topic %s: %w", name, err)
		}
	}
	records := make([]*kgo.Record, 0, partitions)
	for p := range partitions {
		records = append(records, &kgo.Record{Topic: name, Partition: p, Value: make([]byte, 100)})
	}
	if err := cl.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("write to topic %s: %w", name, err)
	}
	return nil
}

// dial returns a client that writes to the partitions that it is told to.
func dial(broker string) (*kgo.Client, error) {
	return kgo.NewClient(kgo.SeedBrokers(broker), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
}

// deleteTopic removes a topic.
func deleteTopic(ctx context.Context, cl *kgo.Client, name string) error {
	topic := kmsg.NewDeleteTopicsRequestTopic()
	topic.Topic = new(name)
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TopicNames, req.Topics, req.TimeoutMillis = []string{name}, append(req.Topics, topic), 15_000
	if _, err := req.RequestWith(ctx, cl); err != nil {
		return fmt.Errorf("delete topic %s: %w", name, err)
	}
	return nil
}

// spacing is how far apart the records of a partition are written.
const spacing = 10 * time.Millisecond

// pace writes a record to every partition of the topics of t again and again, until it is ended.
func pace(ctx context.Context, t task) error {
	cl, err := dial(t.Broker)
	if err != nil {
		return err
	}
	defer cl.Close()
	value := make([]byte, 100)
	ticker := time.NewTicker(spacing)
	defer ticker.Stop()
	failed := make(chan error, 1)
	for {
		for _, g := range t.Groups {
			for p := range int32(pairPartitions) {
				cl.Produce(ctx, &kgo.Record{Topic: g.Topic, Partition: p, Value: value}, func(_ *kgo.Record, err error) {
					if err != nil {
						select {
						case failed <- err:
						default: // one is enough
						}
					}
				})
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		case err := <-failed:
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return fmt.Errorf("write records: %w", err)
		}
	}
}
