package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// patience is how long one broker may keep metadata from us before the next one
// is asked beside it.
const patience = time.Second

// seedNode is the node ID that stands for the i-th address of Config.Brokers
// until the cluster's own IDs are known.
func seedNode(i int) int32 { return int32(-1 - i) }

func seedIndex(node int32) int { return int(-1 - node) }

var errAnswered = errors.New("another broker was faster")

// askInTurn asks nodes in turn and returns the first answer. The next node is
// asked as soon as the one before has failed, and beside it when that one is
// silent for longer than patience: a dead broker must not hold up what any
// other can tell. ask runs in goroutines that are gone when askInTurn returns,
// and must return when its context ends.
func askInTurn[T any](ctx context.Context, nodes []int32, ask func(context.Context, int32) (T, error)) (T, error) {
	type outcome struct {
		answer T
		err    error
	}
	var (
		wg       sync.WaitGroup
		errs     []error
		running  int
		none     T
		outcomes = make(chan outcome, len(nodes))
	)
	ctx, cancel := context.WithCancelCause(ctx)
	defer wg.Wait()
	defer cancel(errAnswered)
	for {
		if len(nodes) == 0 && running == 0 {
			return none, errors.Join(errs...)
		}
		var silence <-chan time.Time
		if len(nodes) > 0 {
			node := nodes[0]
			nodes = nodes[1:]
			running++
			wg.Go(func() {
				answer, err := ask(ctx, node)
				outcomes <- outcome{answer, err}
			})
			silence = time.After(patience)
		}
		select {
		case o := <-outcomes:
			running--
			if o.err == nil {
				return o.answer, nil
			}
			errs = append(errs, o.err)
		case <-silence:
		case <-ctx.Done():
			return none, errors.Join(append(errs, context.Cause(ctx))...)
		}
	}
}

// metadataSources returns whom to ask for metadata, in this order: a few
// brokers of the cluster, and then the addresses the Client started from, in
// case that the brokers it knows are all gone (KIP-899).
func (cl *Client) metadataSources() []int32 {
	nodes := cl.inTurn(cl.snapshot())
	nodes = nodes[:min(len(nodes), brokersBeforeSeeds)]
	for i := range cl.seeds {
		nodes = append(nodes, seedNode(i))
	}
	return nodes
}

const brokersBeforeSeeds = 3

// metadataRequest asks for the brokers and for topics, none of which it creates.
func metadataRequest(topics []string) *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // nil would mean all topics
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &name
		req.Topics = append(req.Topics, t)
	}
	return req
}

func (cl *Client) requestMetadata(ctx context.Context, node int32, asked scope) (*kmsg.MetadataResponse, error) {
	req := metadataRequest(asked.topics)
	if asked.everything() {
		req.Topics = nil
	}
	resp, err := cl.requestNode(ctx, node, req)
	if err != nil {
		return nil, err
	}
	answer := resp.(*kmsg.MetadataResponse)
	return answer, cl.snapshot().check(answer)
}

// check returns why resp cannot be used.
func (c *cluster) check(resp *kmsg.MetadataResponse) error {
	switch {
	case resp.ErrorCode != 0:
		return fmt.Errorf("Metadata: %w", codeError(resp.ErrorCode))
	case len(resp.Brokers) == 0:
		return errors.New("Metadata: the broker names no broker, not even itself: it may be starting")
	case c.id != "" && resp.ClusterID != nil && *resp.ClusterID != c.id:
		return fmt.Errorf("Metadata: the broker belongs to the cluster %q, but this client began with %q: "+
			"has the address been given to another cluster? A new client would use that one", *resp.ClusterID, c.id)
	}
	return nil
}

var errNoSeed = errors.New("the cluster's own addresses are known now")
