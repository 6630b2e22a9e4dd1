package assign

import "math"

// raise sets the potentials to what the next unit costs at least, which makes a
// path to the sink tight that was not: Dijkstra's method over the slacks, which are never
// negative. It reports whether there is a path.
func (n *network) raise() bool {
	s := n.search
	if s == nil {
		s = &search{distance: make([]int64, len(n.potential))}
		n.search = s
	}
	s.begin(n.supply)
	for {
		v, ok := s.nearest()
		if !ok {
			return false
		}
		if v == n.sink {
			break
		}
		arcs := n.of(v)
		n.work -= int64(len(arcs))
		for _, a := range arcs {
			if a.room > 0 {
				s.reach(a.to, s.distance[v]+n.slack(v, a))
			}
		}
	}
	most := s.distance[n.sink]
	for v := range n.potential {
		n.potential[v] += min(s.distance[v], most)
	}
	return true
}

// search is the state of Dijkstra's method. Nodes as near as the one looked at
// wait in a stack of their own, because most slacks are zero.
type search struct {
	distance []int64
	current  int64
	near     []int32 // at distance current
	heap     []reached
}

type reached struct {
	distance int64
	node     int32
}

const unreached = math.MaxInt64

func (s *search) begin(supply []int32) {
	s.current, s.near, s.heap = 0, s.near[:0], s.heap[:0]
	for v := range s.distance {
		s.distance[v] = unreached
		if supply[v] > 0 {
			s.distance[v] = 0
			s.near = append(s.near, int32(v))
		}
	}
}

// reach notes a way to a node.
func (s *search) reach(node int32, distance int64) {
	if distance >= s.distance[node] {
		return
	}
	s.distance[node] = distance
	if distance == s.current {
		s.near = append(s.near, node)
		return
	}
	s.heap = append(s.heap, reached{distance, node})
	for i := len(s.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if s.heap[up].distance <= s.heap[i].distance {
			break
		}
		s.heap[up], s.heap[i] = s.heap[i], s.heap[up]
		i = up
	}
}

// nearest returns the nearest node that has not been returned yet.
func (s *search) nearest() (node int32, ok bool) {
	if last := len(s.near) - 1; last >= 0 {
		node, s.near = s.near[last], s.near[:last]
		return node, true
	}
	for len(s.heap) > 0 {
		top := s.pop()
		if top.distance == s.distance[top.node] { // else a nearer way was found
			s.current = top.distance
			return top.node, true
		}
	}
	return 0, false
}

func (s *search) pop() reached {
	top, last := s.heap[0], len(s.heap)-1
	s.heap[0] = s.heap[last]
	s.heap = s.heap[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if s.heap[child].distance < s.heap[least].distance {
				least = child
			}
		}
		if least == i {
			return top
		}
		s.heap[i], s.heap[least] = s.heap[least], s.heap[i]
		i = least
	}
}
