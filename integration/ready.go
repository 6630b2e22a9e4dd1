package integration

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// awaitReady returns when the cluster knows all its brokers and has a
// coordinator for groups, so that no test waits for the internal topics.
func (c *Cluster) awaitReady(ctx context.Context) error {
	for _, b := range c.brokers {
		if err := c.awaitBroker(ctx, b); err != nil {
			return err
		}
	}
	return poll(ctx, func(ctx context.Context) error {
		_, err := c.Coordinator(ctx, "any")
		return err
	})
}

// awaitBroker returns when b itself answers and names all brokers that run.
func (c *Cluster) awaitBroker(ctx context.Context, b *broker) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(b.addr), kgo.RequestRetries(0))
	if err != nil {
		return err
	}
	defer client.Close()
	err = poll(ctx, func(ctx context.Context) error { return c.askBroker(ctx, b, client) })
	if err != nil {
		return fmt.Errorf("wait for broker %d at %s: %w", b.id, b.addr, err)
	}
	return nil
}

func (c *Cluster) askBroker(ctx context.Context, b *broker, client *kgo.Client) error {
	state, err := b.container.State(ctx)
	if err != nil {
		return err
	}
	if !state.Running {
		return final{fmt.Errorf("its process has ended with code %d", state.ExitCode)}
	}
	request := kmsg.NewPtrMetadataRequest()
	request.Topics = []kmsg.MetadataRequestTopic{}
	response, err := request.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	for _, known := range response.Brokers {
		if int(known.NodeID) == b.id {
			return nil
		}
	}
	return fmt.Errorf("it knows %d brokers, itself not among them", len(response.Brokers))
}

// Coordinator returns the ID of the broker that coordinates a group now.
func (c *Cluster) Coordinator(ctx context.Context, group string) (int, error) {
	request := kmsg.NewPtrFindCoordinatorRequest()
	request.CoordinatorKey = group
	request.CoordinatorKeys = []string{group}
	response, err := request.RequestWith(ctx, c.admin)
	if err != nil {
		return 0, fmt.Errorf("find the coordinator of group %q: %w", group, err)
	}
	if len(response.Coordinators) != 1 {
		return 0, fmt.Errorf("find the coordinator of group %q: %d answers", group, len(response.Coordinators))
	}
	found := response.Coordinators[0]
	if err := kerr.ErrorForCode(found.ErrorCode); err != nil {
		return 0, fmt.Errorf("find the coordinator of group %q: %w", group, err)
	}
	return int(found.NodeID), nil
}

// requestCoordinator asks the broker that coordinates a group now, which may
// have changed since it was last asked.
func requestCoordinator[T kmsg.Response](ctx context.Context, c *Cluster, group string, request kmsg.Request) (T, error) {
	var none T
	id, err := c.Coordinator(ctx, group)
	if err != nil {
		return none, err
	}
	response, err := c.admin.Broker(id).Request(ctx, request)
	if err != nil {
		return none, err
	}
	return response.(T), nil
}

// A final error ends a poll.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// poll calls f until it returns nil or a final error, or ctx ends, in which
// case f's last error tells why. A single call may take 5 s.
func poll(ctx context.Context, f func(context.Context) error) error {
	for {
		try, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := f(try)
		cancel()
		if _, ok := errors.AsType[final](err); err == nil || ok {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%w: last try: %w", context.Cause(ctx), err)
		}
	}
}
