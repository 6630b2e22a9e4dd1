package assign

// This file is what levels asks of a network.

// widen makes more room from a node to the sink.
func (n *network) widen(node, room int32) {
	for at := n.start[node]; at < n.start[node+1]; at++ {
		if n.arcs[at].to == n.sink {
			n.arcs[at].room += room
		}
	}
}

// open returns, by node, 1 for those from which more could be sent to the sink; nil
// if there are none.
func (n *network) open() []int8 {
	open := make([]int8, len(n.supply))
	n.queue = append(n.queue[:0], n.sink)
	for i := 0; i < len(n.queue); i++ {
		arcs := n.of(n.queue[i])
		n.work -= int64(len(arcs))
		for _, a := range arcs {
			if open[a.to] == 0 && a.to != n.sink && n.arcs[a.mate].room > 0 {
				open[a.to] = 1
				n.queue = append(n.queue, a.to)
			}
		}
	}
	if len(n.queue) == 1 {
		return nil
	}
	return open
}

// stuck returns, by node, 1 for those to which more could be sent after fill.
func (n *network) stuck() []int8 {
	stuck := make([]int8, len(n.supply))
	for v, depth := range n.depth {
		if depth >= 0 {
			stuck[v] = 1
		}
	}
	return stuck
}
