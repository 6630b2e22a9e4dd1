package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/conn"
)

// conn returns the connection to node of class c and owner, making it if there
// is none, until ctx ends. It is shared with every other caller of the same
// key.
func (cl *Client) conn(ctx context.Context, node int32, c class, owner any) (*conn.Conn, error) {
	return cl.pool.get(ctx, connKey{node: node, class: c, owner: owner})
}

// drop closes the connections of owner, which must not be nil.
func (cl *Client) drop(owner any) {
	cl.pool.drop(func(key connKey) bool { return key.owner == owner }, errDropped)
}

var errDropped = errors.New("its owner does not need the connection any more")

// address returns where node is: a seed as it was configured, a broker as the
// cluster advertises it.
func (cl *Client) address(node int32) (string, error) {
	if node < 0 {
		return cl.seeds[seedIndex(node)], nil
	}
	b, ok := cl.snapshot().broker(node)
	if !ok {
		cl.refresh("a broker is unknown")
		return "", unsent(fmt.Errorf("broker %d is not among the %d brokers that the cluster names: it may be down", node, len(cl.snapshot().brokers)))
	}
	return b.addr, nil
}

func (cl *Client) dial(ctx context.Context, addr string, trace *conn.Trace) (*conn.Conn, error) {
	timeout := cl.cfg.DialTimeout
	if cl.snapshot().number == 0 { // a silent seed is to have its say in the error of the bootstrap
		timeout = min(timeout, cl.cfg.BootstrapTimeout/2)
	}
	return conn.Dial(ctx, addr, conn.Config{
		ClientID:       cl.cfg.ClientID,
		DialTimeout:    timeout,
		RequestTimeout: cl.cfg.RequestTimeout,
		Dial:           cl.cfg.Dial,
		Trace:          trace,
	})
}

// request asks over the connection of key. What certainly did not leave because
// the connection had died before is asked once more over a new one.
func (cl *Client) request(ctx context.Context, key connKey, req kmsg.Request) (kmsg.Response, error) {
	for again := true; ; again = false {
		c, err := cl.pool.get(ctx, key)
		if err != nil {
			return nil, err
		}
		resp, err := c.Request(ctx, req)
		switch {
		case err == nil || c.Err() == nil:
			return resp, err
		case context.Cause(cl.life) != nil:
			return nil, fmt.Errorf("%w: %w", ErrClosed, err)
		}
		cl.refresh("a request found its connection dead")
		if !again || !conn.Unsent(err) {
			return nil, err
		}
	}
}

// requestNode asks the broker node over the control connection.
func (cl *Client) requestNode(ctx context.Context, node int32, req kmsg.Request) (kmsg.Response, error) {
	return cl.request(ctx, connKey{node: node}, req)
}

// requestAny asks one broker after the other, a random one first, until one
// answers. It is for what any broker can answer and what does no harm twice.
func (cl *Client) requestAny(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	c, err := cl.await(ctx, func(*cluster) bool { return true })
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, node := range cl.inTurn(c) {
		resp, err := cl.requestSoon(ctx, node, req)
		if err == nil {
			return resp, nil
		}
		errs = append(errs, err)
		if context.Cause(ctx) != nil || context.Cause(cl.life) != nil {
			break
		}
	}
	cl.refresh("no broker answers")
	return nil, fmt.Errorf("%s: no broker answers: %w", kmsg.NameForKey(req.Key()), errors.Join(errs...))
}

// requestSoon gives a broker only a part of the request timeout, so that one
// that is silent leaves time for the others.
func (cl *Client) requestSoon(ctx context.Context, node int32, req kmsg.Request) (kmsg.Response, error) {
	limit := cl.cfg.RequestTimeout / 3
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %v", limit))
	defer cancel()
	return cl.requestNode(ctx, node, req)
}

// requestController asks the controller, which it looks for as long as a broker
// says that it is not, or cannot be reached. What may have reached the broker
// is not sent again. Without an answer it gives up after the bootstrap timeout
// and the request timeout together.
func (cl *Client) requestController(ctx context.Context, req kmsg.Request, refused func(kmsg.Response) bool) (kmsg.Response, error) {
	limit := cl.cfg.BootstrapTimeout + cl.cfg.RequestTimeout
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer of the cluster's controller within %v", limit))
	defer cancel()
	var after uint64
	for failures := 1; ; failures++ {
		c, err := cl.await(ctx, func(c *cluster) bool {
			_, known := c.broker(c.controller)
			return known && c.number >= after
		})
		if err != nil {
			return nil, err
		}
		resp, err := cl.requestNode(ctx, c.controller, req)
		switch {
		case err == nil && !refused(resp):
			return resp, nil
		case err == nil:
			err = fmt.Errorf("broker %d: %w", c.controller, kerr.NotController)
		case !conn.Unsent(err):
			return nil, err
		}
		after = cl.meta.ask("looking for the controller", false)
		if cause := sleep(ctx, retryBackoff.after(failures)); cause != nil {
			return nil, fmt.Errorf("%w; the last attempt: %w", cause, err)
		}
	}
}

// inTurn returns the brokers of c in a random order, those that could not be
// reached last time at the end.
func (cl *Client) inTurn(c *cluster) []int32 {
	var nodes, resting []int32
	for node := range c.brokers {
		if cl.pool.unreachable(node) {
			resting = append(resting, node)
		} else {
			nodes = append(nodes, node)
		}
	}
	shuffle := func(nodes []int32) {
		rand.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	}
	shuffle(nodes)
	shuffle(resting)
	return slices.Concat(nodes, resting)
}
