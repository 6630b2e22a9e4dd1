package member

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

// saramaHandler is a member as sarama calls it: one goroutine for each partition.
type saramaHandler struct{ events Events }

func (h saramaHandler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (h saramaHandler) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (h saramaHandler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	h.events.Assigned([]int32{claim.Partition()})
	defer h.events.Revoked([]int32{claim.Partition()})
	for m := range claim.Messages() {
		h.events.Record(m.Partition)
		session.MarkMessage(m, "")
	}
	return nil
}

func startSarama(o Options, events Events) (stop func(), err error) {
	config := sarama.NewConfig()
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Group.Session.Timeout = sessionTimeout
	config.Consumer.Group.Heartbeat.Interval = heartbeatInterval
	config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyRange()}
	if o.Protocol == Cooperative {
		config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{sarama.NewBalanceStrategyCooperativeSticky()}
	}
	group, err := sarama.NewConsumerGroup([]string{o.Broker}, o.Group, config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	reading.Go(func() {
		for context.Cause(ctx) == nil {
			err := group.Consume(ctx, []string{o.Topic}, saramaHandler{events})
			if errors.Is(err, sarama.ErrClosedConsumerGroup) {
				return
			}
			if err != nil {
				complain("sarama", err)
				time.Sleep(100 * time.Millisecond)
			}
		}
	})
	return func() {
		cancel()
		reading.Wait()
		if err := group.Close(); err != nil {
			complain("sarama", err)
		}
	}, nil
}
