package integration

import (
	"context"
	"errors"

	"github.com/IBM/sarama"
)

// runSarama is a member by sarama until ctx ends.
func runSarama(ctx context.Context, config PeerConfig, r reporter) error {
	strategies := map[string]func() sarama.BalanceStrategy{
		"range":              sarama.NewBalanceStrategyRange,
		"roundrobin":         sarama.NewBalanceStrategyRoundRobin,
		"sticky":             sarama.NewBalanceStrategySticky,
		"cooperative-sticky": sarama.NewBalanceStrategyCooperativeSticky,
	}
	c := sarama.NewConfig()
	c.ClientID = config.Name
	c.Consumer.Offsets.Initial = sarama.OffsetOldest
	c.Consumer.Group.Session.Timeout = config.sessionTimeout()
	c.Consumer.Group.Heartbeat.Interval = config.heartbeatInterval()
	c.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategies[config.Assignor]()}
	group, err := sarama.NewConsumerGroup(config.Brokers, config.Group, c)
	if err != nil {
		return err
	}
	h := &saramaHandler{name: config.Name, r: r}
	for err == nil && context.Cause(ctx) == nil {
		err = group.Consume(ctx, []string{config.Topic}, h)
	}
	return errors.Join(err, group.Close())
}

// A saramaHandler owns a partition as long as sarama lets it consume it.
type saramaHandler struct {
	name string
	r    reporter
}

// Setup implements sarama.ConsumerGroupHandler.
func (h *saramaHandler) Setup(sarama.ConsumerGroupSession) error { return nil }

// Cleanup implements sarama.ConsumerGroupHandler.
func (h *saramaHandler) Cleanup(sarama.ConsumerGroupSession) error { return nil }

// ConsumeClaim implements sarama.ConsumerGroupHandler.
func (h *saramaHandler) ConsumeClaim(s sarama.ConsumerGroupSession, c sarama.ConsumerGroupClaim) error {
	p := Partition{c.Topic(), c.Partition()}
	h.r.Assigned(h.name, s.GenerationID(), p)
	for message := range c.Messages() {
		h.r.Read(h.name, p, message.Offset)
		s.MarkMessage(message, "")
	}
	s.Commit()
	h.r.Revoked(h.name, p)
	return nil
}
