package client_test

import (
	"context"
	"errors"
	"log"

	"github.com/musterkafka/muster/client"
)

// Whole batches, and one thing that can be done about what cannot be read: say
// so, and go on behind it.
func ExampleConsumer_Batches() {
	cl, err := client.New(client.Config{Brokers: []string{"localhost:9092"}})
	if err != nil {
		log.Fatal(err)
	}
	defer cl.Close()
	consumer, err := cl.Consumer(client.ConsumerConfig{Group: "billing", Topics: []string{"orders"}})
	if err != nil {
		log.Print(err)
		return
	}
	ctx := context.Background()
	if err := errors.Join(readAll(ctx, consumer), consumer.Close(ctx)); err != nil {
		log.Print(err)
	}
}

func readAll(ctx context.Context, consumer *client.Consumer) error {
	for {
		err := readBatches(ctx, consumer)
		damaged, ok := errors.AsType[*client.PartitionError](err)
		if !ok {
			return err // nil if ctx has ended or the consumer was closed
		}
		log.Printf("leaving out: %v", damaged)
		if err := consumer.Skip(damaged); err != nil && !errors.Is(err, client.ErrNotOwned) {
			return err
		}
	}
}

func readBatches(ctx context.Context, consumer *client.Consumer) error {
	for batch, err := range consumer.Batches(ctx) {
		if err != nil {
			return err
		}
		for rec := range batch.Records() {
			log.Printf("%s", rec.Value) // to keep rec longer than this turn, Clone it
		}
	}
	return nil
}
