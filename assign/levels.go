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
	level     []int32 // by kind
	work      int64   // how many arcs may still be looked at
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
//
// If the work is used up before, the levels of what is not cut yet are estimated, and work is
// left at zero.
func findLevels(c *classes, work int64) *levels {
	l := &levels{
		classes:   c,
		people:    make([]int32, len(c.kinds)),
		classPart: make([]int32, len(c.classTopics)),
		kindPart:  make([]int32, len(c.kinds)),
		level:     make([]int32, len(c.kinds)),
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
		two, cut := l.cut(parts[number], number)
		if !cut {
			number++
			continue
		}
		l.label(two[1], int32(len(parts)))
		parts[number] = two[0]
		parts = append(parts, two[1])
	}
	return l
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
func (l *levels) cut(p part, number int32) (two [2]part, cut bool) {
	if l.work <= 0 {
		l.estimate(p, number)
		return two, false
	}
	n, level := l.network(p, number)
	side := l.bottleneck(n, p)
	if l.work = max(n.work, 0); l.work == 0 {
		l.estimate(p, number)
		return two, false
	}
	if side == nil {
		for _, kind := range p.kinds {
			l.level[kind] = level
		}
		return two, false
	}
	for i, class := range p.classes {
		half := &two[side[i]]
		half.classes = append(half.classes, class)
	}
	for i, kind := range p.kinds {
		half := &two[side[len(p.classes)+i]]
		half.kinds = append(half.kinds, kind)
	}
	return two, true
}

// bottleneck returns, by node of a part's network, on which side of a cut it is; nil if
// there is nothing to cut.
func (l *levels) bottleneck(n *network, p part) []int8 {
	n.fill()
	if open := n.open(); open != nil {
		return open
	}
	for i, kind := range p.kinds {
		n.widen(int32(len(p.classes)+i), l.people[kind])
	}
	n.fill()
	if n.left() > 0 {
		return n.stuck()
	}
	return nil
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
	roads := 0
	for _, class := range p.classes {
		roads += len(l.classKinds[class])
	}
	wires := make([]wire, 0, roads+len(p.kinds))
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
