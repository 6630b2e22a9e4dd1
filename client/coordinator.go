package client

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/conn"
	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/groupmember/driver"
)

// coordinators remembers which broker coordinates which group, for all the
// members and calls of one Client.
type coordinators struct {
	mu    sync.Mutex
	nodes map[string]int32
}

func (c *coordinators) get(group string) (int32, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	node, ok := c.nodes[group]
	return node, ok
}

func (c *coordinators) set(group string, node int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nodes == nil {
		c.nodes = make(map[string]int32)
	}
	c.nodes[group] = node
}

// forget drops node as the coordinator of group, unless another one was found
// meanwhile.
func (c *coordinators) forget(group string, node int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nodes[group] == node {
		delete(c.nodes, group)
	}
}

// coordinator is the port of one group member to its group's coordinator.
type coordinator struct {
	cl    *Client
	group string
	owner any

	mu   sync.Mutex
	node int32 // last found; -1 before
}

func (cl *Client) coordinator(group string, owner any) driver.Coordinator {
	return &coordinator{cl: cl, group: group, owner: owner, node: -1}
}

// Find implements driver.Coordinator.
func (c *coordinator) Find(ctx context.Context, forget bool) (code int16, err error) {
	if forget {
		c.cl.coordinators.forget(c.group, c.last())
	}
	node, ok := c.cl.coordinators.get(c.group)
	if !ok {
		node, code, err = c.cl.findCoordinator(ctx, c.group)
		switch {
		case err != nil:
			return 0, portError(err)
		case code != 0:
			return code, nil
		}
	}
	c.mu.Lock()
	c.node = node
	c.mu.Unlock()
	return 0, nil
}

// Request implements driver.Coordinator.
func (c *coordinator) Request(ctx context.Context, route groupmember.Route, req kmsg.Request) (kmsg.Response, error) {
	node := c.last()
	if node < 0 {
		return nil, portError(unsent(fmt.Errorf("%s: %w", kmsg.NameForKey(req.Key()), errNoCoordinator)))
	}
	key := connKey{node: node}
	if route == groupmember.RouteGroup {
		key = connKey{node: node, class: classGroup, owner: c.owner}
	}
	ctx, cancel := limitCommit(ctx, req)
	defer cancel()
	resp, err := c.cl.request(ctx, key, req)
	if err == nil {
		return resp, nil
	}
	switch {
	case errors.Is(err, errCommitUnanswered) && !conn.Unsent(err):
		// What comes behind it would not be answered either.
		c.cl.pool.drop(func(k connKey) bool { return k == key }, errCommitUnanswered)
	case context.Cause(ctx) == nil:
		c.cl.coordinators.forget(c.group, node)
	case route == groupmember.RouteGroup && held(req):
		// The broker answers what comes behind it only once this has been.
		c.cl.pool.drop(func(k connKey) bool { return k == key }, errGivenUp)
	}
	return nil, portError(err)
}

// commitTimeout is how long a broker may take to answer a commit: by default it
// answers after 5 s at the latest (offsets.commit.timeout.ms). A member that must give
// partitions back waits for its last commit, and its group for the member.
const commitTimeout = 6 * time.Second

var errCommitUnanswered = fmt.Errorf("no answer to a commit within %v", commitTimeout)

// limitCommit ends ctx for a commit that stays without an answer.
func limitCommit(ctx context.Context, req kmsg.Request) (context.Context, context.CancelFunc) {
	if req.Key() != int16(kmsg.OffsetCommit) {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, commitTimeout, errCommitUnanswered)
}

// held reports whether a broker may hold req for as long as a rebalance takes.
func held(req kmsg.Request) bool {
	switch req.(type) {
	case *kmsg.JoinGroupRequest, *kmsg.SyncGroupRequest:
		return true
	}
	return false
}

// portError tells the driver, which knows nothing of connections, whether a
// request has left, and what is no use trying again.
func portError(err error) error {
	told := &driver.Error{Failure: groupmember.Failure{Unsent: conn.Unsent(err), Text: err.Error()}}
	_, noBroker := errors.AsType[*BootstrapError](err)
	switch {
	case noBroker: // whatever it was that did answer at an address
		told.Kind = groupmember.Unreachable
	case errors.Is(err, ErrClosed):
		told.Kind = groupmember.Closed
	case errors.Is(err, conn.ErrUnsupported):
		told.Kind = groupmember.Unsupported
	default:
		return sent{err}
	}
	return told
}

// sent is an error of a request with the answer to whether it has left.
type sent struct{ error }

func (e sent) Unsent() bool  { return conn.Unsent(e.error) }
func (e sent) Unwrap() error { return e.error }

func (c *coordinator) last() int32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.node
}

var (
	errNoCoordinator = errors.New("the group's coordinator is not known yet")
	errGivenUp       = errors.New("the member has given up a request that the broker holds")
)

// findCoordinator asks any broker, a random one each time, for the coordinator
// of group and remembers it. It returns FindCoordinator's error code for the
// group.
func (cl *Client) findCoordinator(ctx context.Context, group string) (node int32, code int16, err error) {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey = group
	req.CoordinatorKeys = []string{group} // version 4 and up (KIP-699)
	resp, err := cl.requestAny(ctx, req)
	if err != nil {
		return -1, 0, fmt.Errorf("looking for the coordinator of group %q: %w", group, err)
	}
	found, err := coordinatorOf(group, resp.(*kmsg.FindCoordinatorResponse))
	if err != nil {
		return -1, 0, err
	}
	if found.ErrorCode == 0 && found.NodeID < 0 {
		return -1, 0, fmt.Errorf("looking for the coordinator of group %q: the broker's answer names none: its ID is %d", group, found.NodeID)
	}
	if found.ErrorCode != 0 {
		if found.ErrorCode == kerr.CoordinatorNotAvailable.Code {
			cl.refresh("the coordinator is not available")
		}
		return -1, found.ErrorCode, nil
	}
	cl.meta.learn(newBroker(found.NodeID, found.Host, found.Port, nil))
	cl.coordinators.set(group, found.NodeID)
	return found.NodeID, 0, nil
}

// coordinatorOf reads the answer for group in both of its forms.
func coordinatorOf(group string, resp *kmsg.FindCoordinatorResponse) (kmsg.FindCoordinatorResponseCoordinator, error) {
	if resp.Version < 4 {
		return kmsg.FindCoordinatorResponseCoordinator{
			Key: group, NodeID: resp.NodeID, Host: resp.Host, Port: resp.Port, ErrorCode: resp.ErrorCode,
		}, nil
	}
	for _, found := range resp.Coordinators {
		if found.Key == group {
			return found, nil
		}
	}
	return kmsg.FindCoordinatorResponseCoordinator{}, fmt.Errorf("looking for the coordinator of group %q: the broker's answer does not name the group", group)
}
