package assign

import "math"

// A network carries supplies from its nodes to one sink over arcs that have limits
// and costs. It knows nothing of groups. A flow is made in two ways: fill sends as much
// as it can over arcs that cost nothing more than they must, and raise finds
// out by how much the next unit costs more. In turns they send everything at the
// least cost (the primal-dual method): see send.
//
// Costs are small whole numbers that stand for prices; see prices.
type network struct {
	arcs   []arc
	start  []int32 // by node, its first arc; one more at the end
	supply []int32 // by node, what is still to be sent
	sink   int32
	prices [5]int64

	// potential is by node, the least cost to bring one more unit there. An arc with room
	// never costs less than the difference of its ends; if it costs exactly that it is tight.
	potential []int64

	depth []int32 // by node, its distance in tight arcs in the present round of fill
	next  []int32 // by node, its first arc that may still lead on in that round
	queue []int32
	path  []int32 // arcs

	search *search

	work int64 // how many arcs may still be looked at before the network gives up
}

// An arc leads from the node in whose range it lies. Every arc has a mate that
// leads back and whose room is what has been sent.
type arc struct {
	to   int32
	room int32 // how much more can be sent
	mate int32
	cost int8 // index into prices; of a mate, -1 - that of its arc
}

// unlimited is room for more than any group has.
const unlimited = math.MaxInt32 / 2

// A wire is an arc on its way into a network.
type wire struct {
	from, to int32
	room     int32
	cost     int8
}

func newNetwork(nodes int, wires []wire, supply []int32, sink int32) *network {
	n := &network{
		arcs:      make([]arc, 2*len(wires)),
		start:     make([]int32, nodes+1),
		supply:    supply,
		sink:      sink,
		potential: make([]int64, nodes),
		depth:     make([]int32, nodes),
		next:      make([]int32, nodes),
		queue:     make([]int32, 0, nodes),
		work:      math.MaxInt64,
	}
	for _, w := range wires {
		n.start[w.from+1]++
		n.start[w.to+1]++
	}
	for v := range nodes {
		n.start[v+1] += n.start[v]
	}
	copy(n.next, n.start)
	for _, w := range wires {
		forth, back := n.next[w.from], n.next[w.to]
		n.next[w.from]++
		n.next[w.to]++
		n.arcs[forth] = arc{to: w.to, room: w.room, mate: back, cost: w.cost}
		n.arcs[back] = arc{to: w.from, mate: forth, cost: -1 - w.cost}
	}
	return n
}

// of returns the arcs of a node.
func (n *network) of(node int32) []arc { return n.arcs[n.start[node]:n.start[node+1]] }

// sent returns what goes over an arc of a network whose mates began without room.
func (n *network) sent(a arc) int32 { return n.arcs[a.mate].room }

// forth reports whether an arc is one that the network was made with.
func (a arc) forth() bool { return a.cost >= 0 }

func (n *network) price(a arc) int64 {
	if a.cost < 0 {
		return -n.prices[-1-a.cost]
	}
	return n.prices[a.cost]
}

// slack returns how much more an arc costs than the potentials allow for.
func (n *network) slack(from int32, a arc) int64 {
	return n.price(a) + n.potential[from] - n.potential[a.to]
}

// left returns what is still to be sent.
func (n *network) left() int {
	sum := 0
	for _, s := range n.supply {
		sum += int(s)
	}
	return sum
}

// push sends amount over an arc.
func (n *network) push(arc, amount int32) {
	n.arcs[arc].room -= amount
	n.arcs[n.arcs[arc].mate].room += amount
}

// send sends all supplies at the least cost. It reports false if it could not: because the
// sink takes no more, or because the work allowed was used up. What it has sent until then
// costs as little as that amount can.
func (n *network) send() bool {
	for {
		n.fill()
		if n.left() == 0 {
			return true
		}
		if n.work <= 0 || !n.raise() {
			return false
		}
	}
}
