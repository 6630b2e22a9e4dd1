package assign

import (
	"maps"
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
	if len(number) == 0 || !r.racksMatter(number, known) {
		return nil
	}
	k := &racks{set: make([]int32, r.partitions()), sets: [][]int32{nil}, count: len(number) + 1}
	k.of = make([]int32, 0, len(r.members))
	for _, m := range r.members {
		k.of = append(k.of, number[m.Rack])
	}
	met := make(map[string]int32)
	var set []int32
	var key []byte
	for t, name := range r.topics {
		for p, names := range known[name].Racks[:min(len(known[name].Racks), int(r.size(int32(t))))] {
			if len(names) == 0 {
				continue
			}
			set, key = set[:0], key[:0]
			for _, name := range names {
				if rack := number[name]; rack > 0 {
					set = append(set, rack)
				}
			}
			slices.Sort(set)
			set = slices.Compact(set)
			for _, rack := range set {
				key = kbin.AppendInt32(key, rack)
			}
			at, found := met[string(key)]
			if !found {
				at = int32(len(k.sets))
				met[string(key)] = at
				k.sets = append(k.sets, slices.Clone(set))
			}
			k.set[r.first[t]+int32(p)] = at
		}
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

// racksMatter reports whether the racks of replicas can make a difference to members in
// these racks.
func (r *roster) racksMatter(members map[string]int32, known map[string]Topic) bool {
	all := make(map[string]bool)
	shared := false
	for t, name := range r.topics {
		for _, names := range known[name].Racks[:min(len(known[name].Racks), int(r.size(int32(t))))] {
			for _, rack := range names {
				all[rack] = true
				shared = shared || members[rack] > 0
			}
		}
	}
	if !shared {
		return false
	}
	partial := func(names []string) bool { return len(sortedUnique(names)) < len(all) }
	for t, name := range r.topics {
		size := int(r.size(int32(t)))
		if len(known[name].Racks) < size || slices.ContainsFunc(known[name].Racks[:size], partial) {
			return true
		}
	}
	return false
}

// mismatch reports whether a member is in a rack, the replicas of a partition in known racks,
// and none of those is the member's.
func (k *racks) mismatch(set, rack int32) bool {
	return rack > 0 && set > 0 && !slices.Contains(k.sets[set], rack)
}
