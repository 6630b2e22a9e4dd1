package client_test

import (
	"context"
	"errors"
	"log"

	"github.com/musterkafka/muster/client"
)

// Send says what became of each record in a callback. Close waits for all of
// them, also when ctx has ended.
func ExampleProducer() {
	cl, err := client.New(client.Config{Brokers: []string{"localhost:9092"}})
	if err != nil {
		log.Fatal(err)
	}
	defer cl.Close()
	if err := write(context.Background(), cl, "one", "two", "three"); err != nil {
		log.Print(err)
	}
}

func write(ctx context.Context, cl *client.Client, values ...string) (err error) {
	producer, err := cl.Producer(client.ProducerConfig{Compression: client.LZ4})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, producer.Close(ctx)) }()
	for _, value := range values {
		rec := &client.Record{Topic: "orders", Key: []byte("customer 7"), Value: []byte(value)}
		err := producer.Send(ctx, rec, func(at client.Offset, err error) {
			if err != nil {
				log.Printf("not written: %v", err)
				return
			}
			log.Printf("partition %d, offset %d", at.Partition, at.Offset)
		})
		if err != nil {
			return err // this record was not taken
		}
	}
	return nil
}
