package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"
)

// readFranz reads with franz-go as its documentation suggests, with its
// defaults.
func readFranz(ctx context.Context, brokers []string, topic, group string, n int, t *tally) error {
	cl, err := kgo.NewClient(
		kgo.SeedBrokers(brokers...),
		kgo.ConsumeTopics(topic),
		kgo.ConsumerGroup(group),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if err != nil {
		return err
	}
	defer cl.Close()
	for t.records < n {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return err
		}
		t.start()
		fetches.EachRecord(func(r *kgo.Record) { t.see(r.Value) })
	}
	t.stop()
	return nil
}
