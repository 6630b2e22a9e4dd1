package assign

// classes puts topics together that have the same subscribers: to whoever plans,
// their partitions are alike.
type classes struct {
	*roster
	class       []int32   // by topic
	classTopics [][]int32 // by class, ascending
	classKinds  [][]int32 // by class, the kinds of subscription that have its topics, ascending
	classSize   []int32   // by class, its partitions
}

func newClasses(r *roster) *classes {
	c := &classes{roster: r, class: r.refine()}
	for t, class := range c.class {
		if int(class) == len(c.classTopics) {
			c.classTopics = append(c.classTopics, nil)
			c.classSize = append(c.classSize, 0)
		}
		c.classTopics[class] = append(c.classTopics[class], int32(t))
		c.classSize[class] += r.size(int32(t))
	}
	c.classKinds = make([][]int32, len(c.classTopics))
	have := make([]int32, len(c.classTopics))
	c.eachClassKind(func(class, _ int32) { have[class]++ })
	for class, count := range have {
		c.classKinds[class] = make([]int32, 0, count)
	}
	c.eachClassKind(func(class, kind int32) { c.classKinds[class] = append(c.classKinds[class], kind) })
	return c
}

// eachClassKind calls visit for every kind of subscription with each class in it, ascending by kind.
func (c *classes) eachClassKind(visit func(class, kind int32)) {
	for kind, topics := range c.kinds {
		for _, t := range topics {
			if class := c.class[t]; c.classTopics[class][0] == t {
				visit(class, int32(kind))
			}
		}
	}
}

// refine returns the class of each topic, numbered in the order of their first
// topics. All topics begin in one class, and each kind of subscription splits what it has
// from what it has not.
func (r *roster) refine() []int32 {
	class := make([]int32, len(r.topics))
	most := 1 // as many classes as there can ever have been
	for _, topics := range r.kinds {
		most += len(topics)
	}
	split := append(make([]int32, 0, most), 0) // by class, what its topics become in the present kind
	splitBy := append(make([]int32, 0, most), -1)
	for kind, topics := range r.kinds {
		for _, t := range topics {
			old := class[t]
			if splitBy[old] != int32(kind) {
				splitBy[old] = int32(kind)
				split[old] = int32(len(split))
				split, splitBy = append(split, 0), append(splitBy, -1)
			}
			class[t] = split[old]
		}
	}
	renumbered := make([]int32, len(split))
	count := int32(0)
	for t, old := range class {
		if renumbered[old] == 0 {
			count++
			renumbered[old] = count
		}
		class[t] = renumbered[old] - 1
	}
	return class
}
