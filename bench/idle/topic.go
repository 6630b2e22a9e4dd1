package main

import (
	"context"
	"fmt"

	"github.com/musterkafka/muster/client"
)

// createTopic makes the topic that all members read.
func createTopic(ctx context.Context, s settings) error {
	cl, err := client.New(client.Config{Brokers: []string{s.Broker}})
	if err != nil {
		return err
	}
	defer cl.Close()
	_, err = cl.Admin().CreateTopics(ctx, client.NewTopic{Name: s.Topic, Partitions: 1, ReplicationFactor: 1})
	if err != nil {
		return fmt.Errorf("create the topic: %w", err)
	}
	return nil
}
