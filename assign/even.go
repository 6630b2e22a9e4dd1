package assign

import "slices"

// even is the plan for a group in which all members subscribe to the same and racks play no
// role. Then loads differ by one at most, so everybody can keep the lower load, and those
// who own more than that keep one more as long as there are some left over: no other
// plan moves fewer. Owner is changed from who owns to who shall own. Members are those that
// subscribe to anything.
func (r *roster) even(members, owner []int32) {
	level := len(owner) / len(members)
	extra := len(owner) % len(members)
	owned := make([]int, len(r.members))
	for _, m := range owner {
		if m >= 0 {
			owned[m]++
		}
	}
	target := make([]int, len(r.members))
	for _, m := range members {
		target[m] = level
		if owned[m] > level && extra > 0 {
			target[m]++
			extra--
		}
	}
	for _, m := range members {
		if extra > 0 && target[m] == level {
			target[m]++
			extra--
		}
	}
	r.release(owner, owned, target)
	r.refill(members, owner, target)
}

// release makes members let go of what they own beyond their targets, of
// all topics alike, and lowers targets by what they keep.
func (r *roster) release(owner []int32, owned, target []int) {
	surplus := make([][]int32, len(r.members))
	for p, m := range owner {
		if m >= 0 && owned[m] > target[m] {
			surplus[m] = append(surplus[m], int32(p))
		}
	}
	var room []int64
	for m, list := range surplus {
		if len(list) > 0 {
			room = r.sortByNumber(list, room)
			for _, p := range list[target[m]:] {
				owner[p] = nobody
			}
		}
		target[m] -= min(owned[m], target[m])
	}
}

// refill deals what nobody owns, like cards, to those who have not reached their target.
func (r *roster) refill(members, owner []int32, missing []int) {
	waiting := slices.Clone(members)
	turn := 0
	open := waiting[:0]
	for p, m := range owner {
		if m >= 0 {
			continue
		}
		for {
			if turn == len(waiting) {
				waiting, open, turn = open, open[:0], 0
			}
			m = waiting[turn]
			turn++
			if missing[m] > 0 {
				break
			}
		}
		owner[p] = m
		if missing[m]--; missing[m] > 0 {
			open = append(open, m)
		}
	}
}
