package client_test

import (
	"context"
	"errors"
	"log"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/musterkafka/muster/client"
)

func ExampleAdmin_CreateTopics() {
	cl, err := client.New(client.Config{Brokers: []string{"localhost:9092"}})
	if err != nil {
		log.Fatal(err)
	}
	defer cl.Close()

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err = cl.Admin().CreateTopics(ctx, client.NewTopic{
		Name:       "orders",
		Partitions: 12,
		Config:     map[string]string{"retention.ms": "86400000"},
	})
	if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
		log.Fatal(err)
	}
}
