package integration

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/segmentio/kafka-go"
)

// runKafkaGo is a member by kafka-go until ctx ends. It uses the group that is
// below kafka-go's Reader, since a Reader does not tell what it is assigned.
func runKafkaGo(ctx context.Context, config PeerConfig, r reporter) error {
	balancers := map[string]kafka.GroupBalancer{
		"range":      kafka.RangeGroupBalancer{},
		"roundrobin": kafka.RoundRobinGroupBalancer{},
	}
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID:                config.Group,
		Brokers:           config.Brokers,
		Dialer:            &kafka.Dialer{ClientID: config.Name},
		Topics:            []string{config.Topic},
		GroupBalancers:    []kafka.GroupBalancer{balancers[config.Assignor]},
		SessionTimeout:    config.sessionTimeout(),
		HeartbeatInterval: config.heartbeatInterval(),
	})
	if err != nil {
		return err
	}
	for {
		generation, err := group.Next(ctx)
		if context.Cause(ctx) != nil {
			return group.Close()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			continue // as a Reader does; the group tries again after a pause
		}
		m := &kafkaGoGeneration{Generation: generation, config: config, r: r}
		generation.Start(m.run)
	}
}

// A kafkaGoGeneration is a member's time between two rebalances.
type kafkaGoGeneration struct {
	*kafka.Generation
	config PeerConfig
	r      reporter

	mu   sync.Mutex
	done map[int]int64 // the next offset of each partition
}

// run reads what is assigned until ctx ends with the generation. kafka-go
// rejoins when it has returned.
func (m *kafkaGoGeneration) run(ctx context.Context) {
	m.done = map[int]int64{}
	var owned []Partition
	for _, a := range m.Assignments[m.config.Topic] {
		owned = append(owned, Partition{m.config.Topic, int32(a.ID)})
	}
	m.r.Assigned(m.config.Name, m.ID, owned...)
	var wg sync.WaitGroup
	for _, a := range m.Assignments[m.config.Topic] {
		wg.Go(func() { m.read(ctx, a) })
	}
	wg.Wait()
	<-ctx.Done() // also where nothing is assigned
	_ = m.CommitOffsets(map[string]map[int]int64{m.config.Topic: m.done})
	m.r.Revoked(m.config.Name, owned...)
}

func (m *kafkaGoGeneration) read(ctx context.Context, a kafka.PartitionAssignment) {
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers:   m.config.Brokers,
		Topic:     m.config.Topic,
		Partition: a.ID,
		MaxWait:   m.config.heartbeatInterval(),
	})
	defer reader.Close()
	if err := reader.SetOffset(a.Offset); err != nil {
		return
	}
	for {
		message, err := reader.ReadMessage(ctx)
		if err != nil {
			return
		}
		m.r.Read(m.config.Name, Partition{m.config.Topic, int32(a.ID)}, message.Offset)
		m.mu.Lock()
		m.done[a.ID] = message.Offset + 1
		m.mu.Unlock()
	}
}
