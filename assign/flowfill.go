package assign

// fill sends as much as tight arcs can carry: the maximum flow by Dinic's method.
// Each round sends over paths of one length until none of that length is left, so lengths
// grow from round to round.
func (n *network) fill() {
	for n.work > 0 && n.measure() {
		copy(n.next, n.start)
		for v := range n.supply {
			for n.supply[v] > 0 && n.work > 0 && n.walk(int32(v)) {
			}
		}
	}
}

// measure sets depth for all nodes that tight arcs with room reach from the supplies,
// up to the depth of the sink. It reports whether the sink is one of them.
func (n *network) measure() bool {
	n.queue = n.queue[:0]
	for v := range n.depth {
		n.depth[v] = -1
		if n.supply[v] > 0 {
			n.depth[v] = 0
			n.queue = append(n.queue, int32(v))
		}
	}
	for i := 0; i < len(n.queue); i++ {
		v := n.queue[i]
		arcs := n.of(v)
		n.work -= int64(len(arcs))
		for _, a := range arcs {
			if a.room > 0 && n.depth[a.to] < 0 && n.slack(v, a) == 0 {
				n.depth[a.to] = n.depth[v] + 1
				if a.to == n.sink {
					return true
				}
				n.queue = append(n.queue, a.to)
			}
		}
	}
	return false
}

// walk sends what one path from a supply to the sink can carry. It reports whether there
// was a path.
func (n *network) walk(from int32) bool {
	n.path = n.path[:0]
	v := from
	for v != n.sink {
		if at := n.advance(v); at >= 0 {
			n.path = append(n.path, at)
			v = n.arcs[at].to
			continue
		}
		if v == from {
			return false
		}
		last := n.path[len(n.path)-1]
		n.path = n.path[:len(n.path)-1]
		v = n.arcs[n.arcs[last].mate].to
		n.next[v]++ // where it led is a dead end
	}
	amount := n.supply[from]
	for _, at := range n.path {
		amount = min(amount, n.arcs[at].room)
	}
	for _, at := range n.path {
		n.push(at, amount)
	}
	n.supply[from] -= amount
	return true
}

// advance returns the next arc of a node that is tight, has room and leads one step on,
// or -1.
func (n *network) advance(v int32) int32 {
	for at := n.next[v]; at < n.start[v+1]; at++ {
		n.work--
		a := &n.arcs[at]
		if a.room > 0 && n.depth[a.to] == n.depth[v]+1 && n.slack(v, *a) == 0 {
			n.next[v] = at
			return at
		}
	}
	n.next[v] = n.start[v+1]
	return -1
}
