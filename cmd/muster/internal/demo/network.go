package demo

import (
	"context"
	"errors"
	"net"
	"sync"
)

var errCrashed = errors.New("the demo cut this member off the network")

// network is one member's way to the brokers. cut ends it as a crash would:
// nothing more is sent, and nobody says good-bye.
type network struct {
	mu    sync.Mutex
	conns []net.Conn
	dead  bool
}

func (n *network) dial(ctx context.Context, kind, addr string) (net.Conn, error) {
	if n.isDead() {
		return nil, errCrashed
	}
	var d net.Dialer
	nc, err := d.DialContext(ctx, kind, addr)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	dead := n.dead
	if !dead {
		n.conns = append(n.conns, nc)
	}
	n.mu.Unlock()
	if dead {
		return nil, errors.Join(errCrashed, nc.Close())
	}
	return nc, nil
}

func (n *network) isDead() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dead
}

func (n *network) cut() {
	n.mu.Lock()
	conns := n.conns
	n.conns, n.dead = nil, true
	n.mu.Unlock()
	for _, nc := range conns {
		nc.Close()
	}
}
