package integration

import (
	"context"
	"errors"
	"net"
	"sync"
)

// A Network carries the connections of one client, and can be cut. Its methods
// may be called from any goroutine.
type Network struct {
	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]struct{}
}

// NewNetwork returns a Network that works.
func NewNetwork() *Network {
	return &Network{conns: map[net.Conn]struct{}{}}
}

var errCut = errors.New("the network is cut")

// Dial is for a Config of our client.
func (n *Network) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	n.mu.Lock()
	cut := n.cut
	n.mu.Unlock()
	if cut {
		return nil, errCut
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut {
		_ = conn.Close() // it was never used
		return nil, errCut
	}
	n.conns[conn] = struct{}{}
	return conn, nil
}

// Cut ends all connections and refuses new ones until Heal.
func (n *Network) Cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = true
	for conn := range n.conns {
		_ = conn.Close() // the client may have closed it before
	}
	clear(n.conns)
}

// Heal lets the client connect again.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = false
}
