package client_test

import (
	"context"
	"errors"
	"log"
	"os/signal"
	"syscall"

	"github.com/musterkafka/muster/client"
)

func Example() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	cl, err := client.New(client.Config{Brokers: []string{"localhost:9092"}})
	if err != nil {
		return err
	}
	defer cl.Close()
	consumer, err := cl.Consumer(client.ConsumerConfig{Group: "billing", Topics: []string{"orders"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, consumer.Close(ctx)) }()

	for rec, err := range consumer.Records(ctx) {
		if err != nil {
			return err
		}
		log.Printf("partition %d, offset %d: %s", rec.Partition, rec.Offset, rec.Value)
	}
	return nil
}
