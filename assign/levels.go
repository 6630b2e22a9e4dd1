package assign

// levels says how even loads can be. It cuts a group into parts, such that in
// every plan with loads as even as can be, and in no other, topics are read by members
// of their own part, and each member of a part has one of two loads next to each
// other: the part's level, or one less.
type levels struct {
	*classes
	people    []int32 // by kind, its members
	classPart []int32 // by class
	kindPart  []int32 // by kind; -1 for kinds without topics
	level     []int32 // by part
	work      int64
}

// part is what is still to be cut, or known not to need it.
type part struct {
	classes, kinds []int32
}

// findLevels cuts as long as a part's members cannot all have the same load, give or take one.
// In a part with the average load rounded up to k, either some topics have more
// than the members that read them can take at k each, or some members cannot get as much as
// k-1 each, or neither. A maximum flow says which topics or members these are. Everything that
// is not as even as the subscriptions allow comes from such a bottleneck, so parts never mix.
// It reports false if work was used up before.
func findLevels(c *classes, work int64) (*levels, bool) {
	l := &levels{
		classes:   c,
		people:    make([]int32, len(c.kinds)),
		classPart: make([]int32, len(c.classTopics)),
		kindPart:  make([]int32, len(c.kinds)),
		work:      work,
	}
	for _, kind := range c.kind {
		l.people[kind]++
	}
	all := part{}
	for class := range c.classTopics {
		all.classes = append(all.classes, int32(class))
	}
	for kind, topics := range c.kinds {
		l.kindPart[kind] = -1
		if len(topics) > 0 {
			all.kinds = append(all.kinds, int32(kind))
		}
	}
	l.label(all, 0)
	parts := []part{all}
	for number := int32(0); int(number) < len(parts); {
		two, cut, ok := l.cut(parts[number], number)
		if !ok {
			return l, false
		}
		if !cut {
			number++
			continue
		}
		l.label(two[1], int32(len(parts)))
		parts[number] = two[0]
		parts = append(parts, two[1])
	}
	return l, true
}

func (l *levels) label(p part, number int32) {
	for _, class := range p.classes {
		l.classPart[class] = number
	}
	for _, kind := range p.kinds {
		l.kindPart[kind] = number
	}
}

// cut cuts a part in two or, if that is not needed, notes its level.
func (l *levels) cut(p part, number int32) (two [2]part, cut, ok bool) {
	n, level := l.network(p, number)
	n.fill()
	open := n.open()
	if len(open) == 0 {
		for i, kind := range p.kinds {
			n.widen(int32(len(p.classes)+i), l.people[kind])
		}
		n.fill()
		if n.left() > 0 {
			open = n.stuck()
		}
	}
	l.work = n.work
	if l.work <= 0 {
		return two, false, false
	}
	if len(open) == 0 {
		l.level = append(l.level, level)
		return two, false, true
	}
	for i, class := range p.classes {
		side := &two[open[i]]
		side.classes = append(side.classes, class)
	}
	for i, kind := range p.kinds {
		side := &two[open[len(p.classes)+i]]
		side.kinds = append(side.kinds, kind)
	}
	return two, true, true
}

// network is a part with classes as supplies and kinds as the way to the sink, in that order
// of nodes. Each member takes one less than the level.
func (l *levels) network(p part, number int32) (n *network, level int32) {
	nodes := len(p.classes) + len(p.kinds) + 1
	sink := int32(nodes - 1)
	supply := make([]int32, nodes)
	total, people := int32(0), int32(0)
	for i, class := range p.classes {
		supply[i] = l.classSize[class]
		total += l.classSize[class]
	}
	node := make([]int32, len(l.people))
	for i, kind := range p.kinds {
		node[kind] = int32(len(p.classes) + i)
		people += l.people[kind]
	}
	level = (total + people - 1) / people
	var wires []wire
	for i, class := range p.classes {
		for _, kind := range l.classKinds[class] {
			if l.kindPart[kind] == number {
				wires = append(wires, wire{from: int32(i), to: node[kind], room: unlimited})
			}
		}
	}
	for _, kind := range p.kinds {
		wires = append(wires, wire{from: node[kind], to: sink, room: max(level-1, 0) * l.people[kind]})
	}
	n = newNetwork(nodes, wires, supply, sink)
	n.work = l.work
	return n, level
}

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
