package assign

import (
	"cmp"
	"slices"
)

// spill gives what did not get through the network to whoever has least of those who
// subscribe to it.
func (e *exchange) spill() {
	load := make([]int32, len(e.members))
	var list []int32
	for _, pool := range e.pools {
		for p := e.lists.head[pool.node]; p > 0; p = e.lists.behind[p-1] {
			e.owner[p-1] = nobody
		}
	}
	for _, m := range e.owner {
		if m >= 0 {
			load[m]++
		}
	}
	for _, pool := range e.pools {
		if list = e.lists.drain(pool.node, list[:0]); len(list) > 0 {
			e.spillPool(pool.class, list, load)
		}
	}
}

// spillPool works in turns, so that members are not put in order for each partition.
func (e *exchange) spillPool(class int32, list, load []int32) {
	var readers []int32
	for m := range int32(len(e.members)) {
		if slices.Contains(e.classKinds[class], e.kind[m]) {
			readers = append(readers, m)
		}
	}
	for len(list) > 0 {
		slices.SortStableFunc(readers, func(a, b int32) int { return cmp.Compare(load[a], load[b]) })
		height := load[readers[0]] + 1 + int32(len(list)/len(readers))
		for _, m := range readers {
			for ; load[m] < height && len(list) > 0; list = list[1:] {
				e.owner[list[0]] = m
				load[m]++
			}
		}
	}
}
