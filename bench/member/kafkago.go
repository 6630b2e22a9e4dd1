package member

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"
)

// kafkaGoLog learns the assignment from the log of a Reader, which has no other way
// to tell it.
func kafkaGoLog(events Events) kafka.LoggerFunc {
	return func(format string, values ...any) {
		switch {
		case strings.HasPrefix(format, "subscribed to topics"):
			events.Cleared()
			var partitions []int32
			for _, key := range reflect.ValueOf(values[0]).MapKeys() {
				partitions = append(partitions, int32(key.FieldByName("partition").Int()))
			}
			events.Assigned(partitions)
		case strings.HasPrefix(format, "stopped heartbeat"):
			events.Cleared()
		}
	}
}

func startKafkaGo(o Options, events Events) (stop func(), err error) {
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers:           []string{o.Broker},
		GroupID:           o.Group,
		Topic:             o.Topic,
		SessionTimeout:    sessionTimeout,
		HeartbeatInterval: heartbeatInterval,
		CommitInterval:    time.Second, // its default commits each record before the next one is read
		Logger:            kafkaGoLog(events),
		ErrorLogger:       kafka.LoggerFunc(func(string, ...any) {}),
	})
	ctx, cancel := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			m, err := reader.ReadMessage(ctx)
			if err != nil {
				return
			}
			events.Record(int32(m.Partition))
		}
	})
	return func() {
		cancel()
		reading.Wait()
		if err := reader.Close(); err != nil {
			complain("kafka-go", err)
		}
	}, nil
}
