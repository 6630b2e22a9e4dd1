package assign

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// Partitions is a set of partitions: for each topic the partition numbers,
// ascending, each once. A topic without numbers is the same as no entry. Methods
// rely on the order. The nil map is the empty set.
type Partitions map[string][]int32

// All yields every partition as topic and number, ascending by both.
func (p Partitions) All() iter.Seq2[string, int32] {
	return func(yield func(string, int32) bool) {
		for _, topic := range sortedKeys(p) {
			for _, number := range p[topic] {
				if !yield(topic, number) {
					return
				}
			}
		}
	}
}

// Count returns the number of partitions in p, all topics together.
func (p Partitions) Count() int {
	n := 0
	for _, numbers := range p {
		n += len(numbers)
	}
	return n
}

// Contains reports whether p has that partition of topic.
func (p Partitions) Contains(topic string, partition int32) bool {
	_, found := slices.BinarySearch(p[topic], partition)
	return found
}

// Minus returns what is in p and not in other, as a set of its own.
func (p Partitions) Minus(other Partitions) Partitions {
	rest := make(Partitions)
	for topic, numbers := range p {
		kept := minus(numbers, other[topic])
		if len(kept) > 0 {
			rest[topic] = kept
		}
	}
	return rest
}

// Equal reports whether p and other hold the same partitions.
func (p Partitions) Equal(other Partitions) bool {
	return p.covers(other) && other.covers(p)
}

// covers reports whether every topic of other has the same numbers in p.
func (p Partitions) covers(other Partitions) bool {
	for topic, numbers := range other {
		if !slices.Equal(numbers, p[topic]) {
			return false
		}
	}
	return true
}

// Clone returns a copy that shares no memory with p and is never nil.
func (p Partitions) Clone() Partitions {
	clone := make(Partitions, len(p))
	for topic, numbers := range p {
		if len(numbers) > 0 {
			clone[topic] = slices.Clone(numbers)
		}
	}
	return clone
}

// normalise returns p as the type's comment promises it, whatever a peer or an
// application made of it: ascending, each number once, none negative, no topic
// without numbers. Lists that are in order already are shared with p.
func (p Partitions) normalise() Partitions {
	clean := make(Partitions, len(p))
	for topic, numbers := range p {
		if numbers = ascending(numbers); len(numbers) > 0 {
			clean[topic] = numbers
		}
	}
	return clean
}

// tidy is normalise in place.
func (p Partitions) tidy() {
	for topic, numbers := range p {
		if len(numbers) > 0 && numbers[0] >= 0 && strictlyAscending(numbers) {
			continue
		}
		if numbers = ascending(numbers); len(numbers) > 0 {
			p[topic] = numbers
		} else {
			delete(p, topic)
		}
	}
}

// ascending returns numbers sorted, each once, without negative ones. It copies
// only if there is something to change.
func ascending(numbers []int32) []int32 {
	if !strictlyAscending(numbers) {
		numbers = slices.Clone(numbers)
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
	}
	first, _ := slices.BinarySearch(numbers, 0)
	return numbers[first:]
}

// minus returns the numbers of a that are not in b, both ascending.
func minus(a, b []int32) []int32 {
	var kept []int32
	for _, n := range a {
		for len(b) > 0 && b[0] < n {
			b = b[1:]
		}
		if len(b) == 0 || b[0] != n {
			kept = append(kept, n)
		}
	}
	return kept
}

// sortedUnique returns names ascending, each once. It copies only if there is
// something to change.
func sortedUnique(names []string) []string {
	if strictlyAscending(names) {
		return names
	}
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}

func strictlyAscending[T cmp.Ordered](list []T) bool {
	for i := 1; i < len(list); i++ {
		if list[i-1] >= list[i] {
			return false
		}
	}
	return true
}

func sortedKeys[V any](m map[string]V) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}
