package assign

import (
	"maps"
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kbin"
)

// racks says where members and replicas are, in numbers. Rack 0 is no rack.
type racks struct {
	of    []int32   // by member
	set   []int32   // by partition, the racks of its replicas as an index into sets
	sets  [][]int32 // racks that members are in, ascending; nil for set 0, which is unknown
	count int       // racks that members are in, and no rack
}

// newRacks returns the racks of a roster, or nil if they play no role. As in Java they do
// if some member is in a rack, some such rack has a replica of a partition in the roster, and
// some partition does not have replicas in all racks that have any.
func newRacks(r *roster, known map[string]Topic) *racks {
	number := r.memberRacks()
	if len(number) == 0 {
		return nil
	}
	k := &racks{set: make([]int32, r.partitions()), count: len(number) + 1}
	k.of = make([]int32, 0, len(r.members))
	for _, m := range r.members {
		k.of = append(k.of, number[m.Rack])
	}
	s := newRackSets(number)
	for t, name := range r.topics {
		listed := known[name].Racks
		for p := range r.size(int32(t)) {
			if int(p) < len(listed) {
				k.set[r.first[t]+p] = s.read(listed[p])
			} else {
				s.fewest = 0
			}
		}
	}
	k.sets = s.sets
	if !s.shared || s.fewest == s.met {
		return nil
	}
	return k
}

// memberRacks numbers the racks of members from 1 up, by name.
func (r *roster) memberRacks() map[string]int32 {
	number := make(map[string]int32)
	for _, m := range r.members {
		if m.Rack != "" {
			number[m.Rack] = 0
		}
	}
	for i, name := range slices.Sorted(maps.Keys(number)) {
		number[name] = int32(i) + 1
	}
	return number
}

// rackSets puts the racks of replicas into numbers, and finds out whether they matter.
type rackSets struct {
	number  map[string]int32 // those that members are in come first
	last    int32            // of those
	replica []bool           // by number, whether a replica is there
	met     int              // racks with a replica
	fewest  int              // racks of one partition's replicas
	shared  bool             // a member and a replica are in one rack

	sets   [][]int32
	index  map[string]int32 // of sets, by content
	single []int32          // the same for sets of one rack, by number; 0 if not met yet
	list   []int32
	key    []byte
}

func newRackSets(number map[string]int32) *rackSets {
	n := len(number)
	return &rackSets{
		number: number, last: int32(n), replica: make([]bool, n+1), fewest: math.MaxInt,
		sets: [][]int32{nil}, index: make(map[string]int32), single: make([]int32, n+1),
	}
}

// read takes down in which racks the replicas of a partition are, and returns which set that is.
func (s *rackSets) read(names []string) int32 {
	list := s.list[:0]
	for _, name := range names {
		rack, met := s.number[name]
		if !met {
			rack = int32(len(s.replica))
			s.number[name] = rack
			s.replica = append(s.replica, false)
		}
		if !s.replica[rack] {
			s.replica[rack] = true
			s.met++
		}
		list = append(list, rack)
	}
	s.list = list
	slices.Sort(list)
	list = slices.Compact(list)
	s.fewest = min(s.fewest, len(list))
	if len(list) == 0 {
		return 0
	}
	near, _ := slices.BinarySearch(list, s.last+1)
	s.shared = s.shared || near > 0
	return s.find(list[:near])
}

// find returns the index of a set, which may be empty: replicas are known to be where no
// member is.
func (s *rackSets) find(set []int32) int32 {
	if len(set) == 1 && s.single[set[0]] > 0 {
		return s.single[set[0]]
	}
	s.key = s.key[:0]
	for _, rack := range set {
		s.key = kbin.AppendInt32(s.key, rack)
	}
	at, found := s.index[string(s.key)]
	if !found {
		at = int32(len(s.sets))
		s.index[string(s.key)] = at
		s.sets = append(s.sets, slices.Clone(set))
	}
	if len(set) == 1 {
		s.single[set[0]] = at
	}
	return at
}

// mismatch reports whether a member is in a rack, the replicas of a partition in known racks,
// and none of those is the member's.
func (k *racks) mismatch(set, rack int32) bool {
	return rack > 0 && set > 0 && !slices.Contains(k.sets[set], rack)
}
