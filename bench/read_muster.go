package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/musterkafka/muster/client"
)

func readMusterBatches(ctx context.Context, brokers []string, topic, group string, n int, t *tally) error {
	return withConsumer(brokers, topic, group, func(c *client.Consumer) error {
		for batch, err := range c.Batches(ctx) {
			if err != nil {
				return err
			}
			t.start()
			for rec := range batch.Records() {
				t.see(rec.Value)
			}
			if t.records >= n {
				break
			}
		}
		return nil
	}, t)
}

func readMusterRecords(ctx context.Context, brokers []string, topic, group string, n int, t *tally) error {
	return withConsumer(brokers, topic, group, func(c *client.Consumer) error {
		for rec, err := range c.Records(ctx) {
			if err != nil {
				return err
			}
			t.start()
			t.see(rec.Value)
			if t.records >= n {
				break
			}
		}
		return nil
	}, t)
}

// withConsumer runs read with a consumer of its own, with the defaults.
func withConsumer(brokers []string, topic, group string, read func(*client.Consumer) error, t *tally) (err error) {
	cl, err := client.New(client.Config{Brokers: brokers})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cl.Close()) }()
	consumer, err := cl.Consumer(client.ConsumerConfig{Group: group, Topics: []string{topic}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, consumer.Close(context.Background())) }()
	if err := read(consumer); err != nil {
		return fmt.Errorf("after %d records: %w", t.records, err)
	}
	t.stop()
	return nil
}
