package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"github.com/musterkafka/muster/bench/member"
)

// clients are all that run in a process of this program.
func clients() []member.Client {
	both := []member.Protocol{member.Cooperative, member.Eager}
	return append(member.Clients(), member.Client{Name: "confluent", Protocols: both, Start: startConfluent})
}

func startConfluent(o member.Options, events member.Events) (stop func(), err error) {
	assignor := "range"
	if o.Protocol == member.Cooperative {
		assignor = "cooperative-sticky"
	}
	consumer, err := kafka.NewConsumer(&kafka.ConfigMap{
		"bootstrap.servers":             o.Broker,
		"group.id":                      o.Group,
		"auto.offset.reset":             "earliest",
		"partition.assignment.strategy": assignor,
		"session.timeout.ms":            45000,
		"heartbeat.interval.ms":         3000,
	})
	if err != nil {
		return nil, err
	}
	err = consumer.Subscribe(o.Topic, func(_ *kafka.Consumer, e kafka.Event) error {
		switch e := e.(type) {
		case kafka.AssignedPartitions:
			events.Assigned(ids(e.Partitions))
		case kafka.RevokedPartitions:
			events.Revoked(ids(e.Partitions))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var stopping atomic.Bool
	var reading sync.WaitGroup
	reading.Go(func() {
		for !stopping.Load() {
			switch e := consumer.Poll(20).(type) {
			case *kafka.Message:
				events.Record(e.TopicPartition.Partition)
			case kafka.Error:
				fmt.Fprintln(os.Stderr, "confluent:", e)
			}
		}
	})
	return func() {
		stopping.Store(true)
		reading.Wait()
		_ = consumer.Close()
	}, nil
}

func ids(list []kafka.TopicPartition) []int32 {
	var partitions []int32
	for _, p := range list {
		partitions = append(partitions, p.Partition)
	}
	return partitions
}
