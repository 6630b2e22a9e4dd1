package assign

import "slices"

// solve looks for the plan and enters it into owner, and returns how much of the work
// allowed is left. If none is, the plan is not the best: what could not be thought through is
// placed as evenly all the same, but whatever rack and owner. That takes as much work again,
// and what is left over then goes to whoever has least.
func (e *exchange) solve(work int64) (left int64) {
	n := newNetwork(len(e.supply), e.wires, e.supply, e.sink())
	e.wires = nil
	n.prices = exchangePrices(len(e.owner))
	n.work = work
	n.fill()
	n.lift()
	n.send()
	left = max(n.work, 0)
	if n.left() > 0 {
		n.work = max(work, 0)
		n.sendAnyhow()
	}
	e.deal(n)
	if n.left() > 0 {
		e.spill()
	}
	return left
}

// lift takes away the limits that make topics spread over members.
func (n *network) lift() {
	for at := range n.arcs {
		if n.arcs[at].cost == freeShare {
			n.arcs[at].room = unlimited
		}
	}
}

// sendAnyhow sends what is left at whatever cost, except that last units still wait
// for the others.
func (n *network) sendAnyhow() {
	n.prices = [5]int64{}
	clear(n.potential)
	var last []int32
	for at := range n.arcs {
		if a := &n.arcs[at]; a.cost == costLast && a.room > 0 {
			a.room = 0
			last = append(last, int32(at))
		}
	}
	n.fill()
	for _, at := range last {
		n.arcs[at].room = 1
	}
	n.fill()
}

// deal moves the partitions along the flow, until they are with members.
func (e *exchange) deal(n *network) {
	var list []int32
	for _, stay := range e.stays {
		list = e.keep(n, stay, list)
	}
	for _, pool := range e.pools {
		if pool.set > 0 {
			e.handOut(n, pool.node)
		}
	}
	for class := range e.classTopics {
		e.handOut(n, e.hub+int32(class))
	}
	for _, gate := range e.gates {
		e.handOut(n, gate)
	}
	for _, gangs := range e.gangs {
		for _, gang := range gangs {
			e.handOut(n, gang.node)
		}
	}
	for m := range int32(len(e.members)) {
		for e.lists.head[m] > 0 {
			e.owner[e.lists.pop(m)] = m
		}
	}
}

// keep lets an owner have as much as flows to it straight, so that it keeps some of every
// topic if it can; the rest goes into the pool.
func (e *exchange) keep(n *network, stay int32, list []int32) []int32 {
	list = e.lists.drain(stay, list[:0])
	arcs := n.of(stay)
	kept := 0
	for _, a := range arcs {
		if int(a.to) < len(e.members) {
			kept = int(n.sent(a))
		}
	}
	if kept < len(list) {
		e.room = e.sortByNumber(list, e.room)
	}
	for _, a := range arcs {
		if int(a.to) < len(e.members) {
			e.give(a.to, list[:kept])
		} else {
			e.give(a.to, list[kept:])
		}
	}
	return list
}

func (e *exchange) give(node int32, list []int32) {
	for _, p := range list {
		e.lists.put(node, p)
	}
}

// A hand is a node to which partitions are dealt, and how many it still gets.
type hand struct{ to, left int32 }

// handOut deals what is at a node to where it flows, like cards.
func (e *exchange) handOut(n *network, node int32) {
	hands := e.hands[:0]
	for _, a := range n.of(node) {
		if sent := n.sent(a); a.forth() && sent > 0 {
			hands = append(hands, hand{a.to, sent})
		}
	}
	e.hands = hands
	for len(hands) > 0 {
		open := hands[:0]
		for _, h := range hands {
			e.lists.put(h.to, e.lists.pop(node))
			if h.left--; h.left > 0 {
				open = append(open, h)
			}
		}
		hands = open
	}
}

// sortByNumber sorts partitions by number first and by topic then. It works in room, which it
// returns for the next call.
func (r *roster) sortByNumber(list []int32, room []int64) []int64 {
	room = room[:0]
	for _, p := range list {
		_, number := r.locate(p)
		room = append(room, int64(number)<<32|int64(p))
	}
	slices.Sort(room)
	for i, key := range room {
		list[i] = int32(key)
	}
	return room
}
