package main

import (
	"fmt"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/segmentio/kafka-go/protocol/consumer"

	"github.com/musterkafka/muster/assign"
)

var kafkaGoBalancers = map[string]kafka.GroupBalancer{
	"range":      kafka.RangeGroupBalancer{},
	"roundrobin": kafka.RoundRobinGroupBalancer{},
}

// prepareKafkaGo gives kafka-go version 1 of the subscriptions, the highest it can read.
func prepareKafkaGo(assignor string, g assign.Group) (lead, error) {
	balancer := kafkaGoBalancers[assignor]
	var joined []assign.Joined
	for _, m := range g.Members {
		data, err := protocol.Marshal(consumer.MaxVersionSupported, consumer.Subscription{Version: consumer.MaxVersionSupported, Topics: m.Topics})
		if err != nil {
			return nil, err
		}
		joined = append(joined, assign.Joined{ID: m.ID, Metadata: data})
	}
	var partitions []kafka.Partition
	for name, t := range g.Topics {
		for p := range int(t.Partitions) {
			partitions = append(partitions, kafka.Partition{Topic: name, ID: p})
		}
	}
	return func(w *stopwatch) (map[string][]byte, error) {
		members := make([]kafka.GroupMember, 0, len(joined))
		for _, j := range joined {
			var s consumer.Subscription
			if err := protocol.Unmarshal(j.Metadata, consumer.MaxVersionSupported, &s); err != nil {
				return nil, fmt.Errorf("subscription of %s: %w", j.ID, err)
			}
			members = append(members, kafka.GroupMember{ID: j.ID, Topics: s.Topics, UserData: s.UserData})
		}
		w.lap(&w.stages.Decode)
		plan := balancer.AssignGroups(members, partitions)
		w.lap(&w.stages.Assign)
		out := make(map[string][]byte, len(members))
		for _, m := range members {
			data, err := encodeKafkaGo(plan[m.ID])
			if err != nil {
				return nil, err
			}
			out[m.ID] = data
		}
		w.lap(&w.stages.Encode)
		return out, nil
	}, nil
}

func encodeKafkaGo(share map[string][]int) ([]byte, error) {
	a := consumer.Assignment{Version: consumer.MaxVersionSupported}
	for topic, numbers := range share {
		tp := consumer.TopicPartition{Topic: topic, Partitions: make([]int32, len(numbers))}
		for i, p := range numbers {
			tp.Partitions[i] = int32(p)
		}
		a.AssignedPartitions = append(a.AssignedPartitions, tp)
	}
	return protocol.Marshal(consumer.MaxVersionSupported, a)
}
