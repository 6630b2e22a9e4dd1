package assign

import "slices"

// estimate sets the levels of a part without finding out what is best: its partitions are
// given one by one to the kinds of members that have least, those first that few kinds may
// have. The largest load is then at most 1 + log2 of the number of members times as large as
// it could be (Azar, Naor, Rom: The Competitiveness of On-Line Assignments, 1995).
func (l *levels) estimate(p part, number int32) {
	order := slices.Clone(p.classes)
	slices.SortStableFunc(order, func(a, b int32) int { return len(l.classKinds[a]) - len(l.classKinds[b]) })
	load := make([]int32, len(l.kinds))
	for _, class := range order {
		l.pour(class, number, load)
	}
	for _, kind := range p.kinds {
		l.level[kind] = (load[kind] + l.people[kind] - 1) / l.people[kind]
	}
}

// pour adds the partitions of a class to the loads of its kinds, up to a common height for each
// member.
func (l *levels) pour(class, number int32, load []int32) {
	low, high := int32(0), int32(maxPartitions)
	for low < high {
		height := low + (high-low)/2
		if l.below(class, number, load, height) >= int64(l.classSize[class]) {
			high = height
		} else {
			low = height + 1
		}
	}
	left := l.classSize[class]
	for _, height := range []int32{low - 1, low} {
		for _, kind := range l.classKinds[class] {
			if room := int64(height)*int64(l.people[kind]) - int64(load[kind]); l.kindPart[kind] == number && room > 0 {
				more := int32(min(room, int64(left)))
				load[kind] += more
				left -= more
			}
		}
	}
}

// below returns how many partitions the kinds of a class can take up to a height.
func (l *levels) below(class, number int32, load []int32, height int32) int64 {
	sum := int64(0)
	for _, kind := range l.classKinds[class] {
		if l.kindPart[kind] == number {
			sum += max(0, int64(height)*int64(l.people[kind])-int64(load[kind]))
		}
	}
	return sum
}
