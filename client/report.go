package client

import "sync"

// unreachable is the set of brokers that could not be reached the last time,
// so that the log says so once and not at each try of each connection.
type unreachable struct {
	mu    sync.Mutex
	nodes map[int32]bool
}

// note remembers whether node could be reached and reports whether that is news.
func (u *unreachable) note(node int32, failed bool) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.nodes[node] == failed {
		return false
	}
	if u.nodes == nil {
		u.nodes = make(map[int32]bool)
	}
	if u.nodes[node] = failed; !failed {
		delete(u.nodes, node)
	}
	return true
}

// dialed implements reporter. What becomes of the seeds is told by the metadata.
func (cl *Client) dialed(key connKey, err error) {
	if key.node < 0 || cl.life.Err() != nil {
		return
	}
	news := cl.unreachable.note(key.node, err != nil)
	switch {
	case err != nil && news:
		cl.log.Warn("cannot reach a broker, trying on while it is needed", "broker", key.node, "error", err)
	case news:
		cl.log.Info("a broker can be reached again", "broker", key.node)
	}
	if err != nil {
		cl.refresh("a broker cannot be reached")
	}
}

// ended implements reporter. An idle control connection is closed by the broker from time to time,
// which says nothing; the others are lost with their broker.
func (cl *Client) ended(key connKey, cause error) {
	cl.log.Debug("a connection has ended", "broker", key.node, "class", key.class.String(), "cause", cause)
	if key.class != classControl {
		cl.refresh("a connection has ended")
	}
}
