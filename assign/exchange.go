package assign

import "slices"

// exchange is the network in which a group with levels looks for its plan: fewest rack
// mismatches, then fewest moves. What goes through it are partitions. Its nodes, in the
// direction of the flow:
//
//	stay    the partitions of one pool that one member owned; to that member, or into the pool
//	pool    the partitions of one class whose replicas are in the same racks
//	hub     a class: to all gates, in whatever rack; pools that match a gate go there straight
//	gate    a class and a rack of members
//	gang    the members of one kind in one rack
//	member  to the sink; the last unit that its level allows comes at a price, which makes
//	        sure that nobody gets less than its level minus one
//
// Without racks, hubs are also pools and gates.
type exchange struct {
	*levels
	racks *racks // nil if racks play no role
	owner []int32

	wires  []wire
	supply []int32 // by node
	lists  queues  // of partitions, by node

	gangs [][]gang // by kind
	hub   int32    // node of class 0; those of the other classes follow
	pools []pool
	stays []int32 // nodes
	gates []int32 // nodes
	hands []hand  // used again and again by handOut
	room  []int64 // and by keep
}

type gang struct{ rack, node, people int32 }

type pool struct{ class, set, node int32 }

// Costs of an arc: indexes into prices.
const (
	free      int8 = iota
	freeShare      // free; at first no more than a fair share
	costMove
	costMismatch
	costLast
)

// exchangePrices makes one mismatch dearer than all moves together, and one last unit dearer
// than all mismatches and moves.
func exchangePrices(partitions int) [5]int64 {
	mismatch := int64(partitions) + 1
	return [5]int64{costMove: 1, costMismatch: mismatch, costLast: mismatch * mismatch}
}

func newExchange(l *levels, k *racks, owner []int32) *exchange {
	e := &exchange{levels: l, racks: k, owner: owner}
	e.lists.behind = make([]int32, len(owner))
	e.addMembers()
	e.reserve()
	e.hub = int32(len(e.supply))
	for range e.classTopics {
		e.node()
	}
	poolOf := e.newPoolIndex()
	for class := range e.classTopics {
		gates := e.addGates(int32(class))
		e.addPools(int32(class), gates, poolOf)
	}
	stayOf := newStamped(len(e.members))
	var waiting []int32
	for _, pool := range e.pools {
		waiting = e.lists.drain(pool.node, waiting[:0])
		e.addStays(pool, waiting, stayOf)
	}
	return e
}

// reserve makes room for what is to come: not much less than the network will need, so that lists
// are not copied as they grow, and not much more.
func (e *exchange) reserve() {
	sets, gates, roads := 1, 0, 0
	for _, kinds := range e.classKinds {
		for _, kind := range kinds {
			roads += len(e.gangs[kind])
		}
	}
	if e.racks != nil {
		sets = len(e.racks.sets)
		gates = atMost(roads, len(e.classTopics), e.racks.count)
	}
	owned := 0
	for _, m := range e.owner {
		if m >= 0 {
			owned++
		}
	}
	pools := atMost(len(e.owner), len(e.classTopics), sets)
	stays := atMost(owned, pools, len(e.members))
	e.wires = slices.Grow(e.wires, gates+roads+3*pools+2*stays)
	e.pools = make([]pool, 0, pools)
	e.stays = make([]int32, 0, stays)
	e.gates = make([]int32, 0, gates)
	nodes := len(e.classTopics) + gates + pools + stays
	e.supply = slices.Grow(e.supply, nodes)
	e.lists.reserve(nodes)
}

// atMost returns a times b, but no more than limit.
func atMost(limit, a, b int) int {
	return int(min(int64(limit), int64(a)*int64(b)))
}

// node makes a new node.
func (e *exchange) node() int32 {
	e.supply = append(e.supply, 0)
	return e.lists.grow()
}

func (e *exchange) wire(from, to, room int32, cost int8) {
	e.wires = append(e.wires, wire{from, to, room, cost})
}

func (e *exchange) sink() int32 { return int32(len(e.members)) }

func (e *exchange) addMembers() {
	for range len(e.members) + 1 {
		e.node()
	}
	e.gangs = make([][]gang, len(e.kinds))
	for m := range int32(len(e.members)) {
		e.joinGang(m)
		if level := e.level[e.kind[m]]; level > 0 {
			e.wire(m, e.sink(), level-1, free)
			e.wire(m, e.sink(), 1, costLast)
		}
	}
}

// joinGang makes a member one of its gang, a new one if need be.
func (e *exchange) joinGang(member int32) {
	kind, rack := e.kind[member], e.rackOf(member)
	at := slices.IndexFunc(e.gangs[kind], func(g gang) bool { return g.rack == rack })
	if at < 0 {
		at = len(e.gangs[kind])
		e.gangs[kind] = append(e.gangs[kind], gang{rack: rack, node: e.node()})
	}
	e.gangs[kind][at].people++
	e.wire(e.gangs[kind][at].node, member, unlimited, free)
}

func (e *exchange) rackOf(member int32) int32 {
	if e.racks == nil {
		return 0
	}
	return e.racks.of[member]
}

// addGates joins the hub of a class to the members that may have its partitions, and
// returns the gates it made for that, by rack.
func (e *exchange) addGates(class int32) map[int32]int32 {
	hub := e.hub + class
	gates := make(map[int32]int32)
	readers := e.readers(class)
	for _, kind := range e.classKinds[class] {
		if e.kindPart[kind] != e.classPart[class] {
			continue
		}
		for _, gang := range e.gangs[kind] {
			from := hub
			if e.racks != nil {
				from = e.gate(hub, gang.rack, gates)
			}
			share := 1 + int64(e.classSize[class])*int64(gang.people)/readers
			e.wire(from, gang.node, int32(share), freeShare)
		}
	}
	return gates
}

// readers returns how many members may have the partitions of a class.
func (e *exchange) readers(class int32) int64 {
	sum := int64(0)
	for _, kind := range e.classKinds[class] {
		if e.kindPart[kind] == e.classPart[class] {
			sum += int64(e.people[kind])
		}
	}
	return sum
}

func (e *exchange) gate(hub, rack int32, gates map[int32]int32) int32 {
	gate, made := gates[rack]
	if !made {
		gate = e.node()
		gates[rack] = gate
		e.gates = append(e.gates, gate)
		e.wire(hub, gate, unlimited, free)
	}
	return gate
}

func (e *exchange) newPoolIndex() *stamped {
	if e.racks == nil {
		return newStamped(1)
	}
	return newStamped(len(e.racks.sets))
}

// addPools sorts the partitions of a class into pools.
func (e *exchange) addPools(class int32, gates map[int32]int32, poolOf *stamped) {
	poolOf.clear()
	for _, t := range e.classTopics[class] {
		for p := e.first[t]; p < e.first[t+1]; p++ {
			set := int32(0)
			if e.racks != nil {
				set = e.racks.set[p]
			}
			node, made := poolOf.get(set)
			if !made {
				node = e.addPool(class, set, gates)
				poolOf.set(set, node)
			}
			e.lists.put(node, p)
		}
	}
}

// addPool makes the node of a pool. Partitions whose racks are unknown match everywhere.
func (e *exchange) addPool(class, set int32, gates map[int32]int32) int32 {
	hub := e.hub + class
	if set == 0 {
		e.pools = append(e.pools, pool{class, set, hub})
		return hub
	}
	node := e.node()
	e.pools = append(e.pools, pool{class, set, node})
	e.wire(node, hub, unlimited, costMismatch)
	if gate, made := gates[0]; made {
		e.wire(node, gate, unlimited, free)
	}
	for _, rack := range e.racks.sets[set] {
		if gate, made := gates[rack]; made {
			e.wire(node, gate, unlimited, free)
		}
	}
	return node
}

// addStays takes out of a pool what has an owner that may keep it.
func (e *exchange) addStays(p pool, waiting []int32, stayOf *stamped) {
	stayOf.clear()
	for _, partition := range waiting {
		m := e.owner[partition]
		if m < 0 || e.kindPart[e.kind[m]] != e.classPart[p.class] {
			e.lists.put(p.node, partition)
			e.supply[p.node]++
			continue
		}
		stay, made := stayOf.get(m)
		if !made {
			stay = e.addStay(p, m)
			stayOf.set(m, stay)
		}
		e.lists.put(stay, partition)
		e.supply[stay]++
	}
}

func (e *exchange) addStay(p pool, member int32) int32 {
	stay := e.node()
	e.stays = append(e.stays, stay)
	cost := free
	if e.racks != nil && e.racks.mismatch(p.set, e.racks.of[member]) {
		cost = costMismatch
	}
	e.wire(stay, member, unlimited, cost)
	e.wire(stay, p.node, unlimited, costMove)
	return stay
}
