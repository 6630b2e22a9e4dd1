package assign

// Sticky returns Kafka's "sticky" assignor, for members that let go of everything before they join
// (KIP-54). What it aims at stands in the package comment.
//
// Claims are read from UserData, in version 1 or 0 of what Java's StickyAssignor writes there
// (version 0 has no generation: -1). A member whose UserData is neither claims
// what is in Owned and Generation, which eager members leave empty on the wire.
func Sticky() Assignor { return sticky{} }

type sticky struct{}

func (sticky) Name() string { return "sticky" }

func (sticky) Cooperative() bool { return false }

// UserData returns version 1 of what Java's StickyAssignor writes, from which alone a leader
// learns what an eager member owned; nil before the first assignment.
func (sticky) UserData(owned Partitions, generation int32) []byte {
	if generation < 0 {
		return nil
	}
	return appendStickyData(nil, owned, generation)
}

func (a sticky) Assign(g Group) (Plan, error) { return assignBy(a, g) }

func (sticky) decide(g Group) (decision, error) {
	r, err := newRoster(g, compareIDs)
	if err != nil {
		return decision{}, err
	}
	c := newClaims(r)
	for m := range r.members {
		if data, ok := readStickyData(r.members[m].UserData); ok {
			c.sticky(int32(m), data)
		} else {
			c.owned(int32(m), max(r.members[m].Generation, -1))
		}
	}
	owner := c.settle()
	r.balance(g.Topics, owner, workLimit)
	return decision{roster: r, owner: owner}, nil
}

// workLimit is how many steps the search for a plan may take, at some nanoseconds each. Groups
// that are met in practice take far less.
const workLimit = 1 << 29

// balance makes the plan of the sticky assignors: see the package comment. Owner is by
// partition the member with the valid claim, or nobody; it becomes who shall own. Balance
// returns how much of the work allowed is left: zero if the plan may not be the best.
func (r *roster) balance(topics map[string]Topic, owner []int32, work int64) (left int64) {
	if len(owner) == 0 {
		return work
	}
	racks := newRacks(r, topics)
	if members := r.sharedSubscribers(); members != nil && racks == nil {
		r.even(members, owner)
		return work
	}
	l := findLevels(newClasses(r), work/2)
	left = newExchange(l, racks, owner).solve(work / 2)
	return min(l.work, left)
}
