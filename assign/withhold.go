package assign

// Withhold returns plan without what its new owner must not have yet, because
// another member may still be reading it (KIP-429, first round). That other member
// sees that the partition is no longer its own, lets go of it and joins
// again; the next round gives it to the new owner.
//
// Whether a member may still read a partition is judged by the claims in Owned.
// Of several claims on one partition the one of the highest generation is true
// and the others are stale, whose owners missed a round (KIP-341, KIP-792). So a
// partition stays in the plan only if nobody claims it, or the member that it
// is planned for has the true claim. If several claims share the highest generation
// (-1, unknown, is the lowest), no one's word is better than the other's: the
// partition goes to nobody until all of them have let go, also not to one of them.
// A claim counts even if its member no longer subscribes to the topic.
//
// A claim is as old as Member.Generation says, and nothing else is looked at: what an assignor keeps in
// user data is its own affair. So a claim of a member older than KIP-792 gives way to any claim of a known
// generation, even a stale one. Lead knows better for CooperativeSticky, which reads the
// generation of such members.
//
// The plan should pass Check for g; what would not is kept unless it is claimed. It
// is not changed and shares no memory with the result. Every member keeps its entry.
func Withhold(g Group, plan Plan) Plan {
	claims := resolveClaims(g)
	index := make(map[string]int32, len(g.Members))
	for i, m := range g.Members {
		index[m.ID] = int32(i) + 1
	}
	rest := make(Plan, len(plan))
	for id, share := range plan {
		kept := make(Partitions, len(share))
		block := make([]int32, 0, share.Count())
		for topic, numbers := range share {
			begin := len(block)
			block = claims[topic].free(index[id], numbers, block)
			if free := block[begin:len(block):len(block)]; len(free) > 0 {
				kept[topic] = free
			}
		}
		rest[id] = kept
	}
	return rest
}

// A claim is what is known of the owner of one partition.
type claim struct {
	member     int32 // 1 + index of the member in the group; 0 if nobody claims
	generation int32 // never below -1
	disputed   bool  // another member claims the same in the same generation
}

// topicClaims holds a topic's claims by partition.
type topicClaims []claim

// resolveClaims finds, for all partitions that exist, who owned them before
// this round.
func resolveClaims(g Group) map[string]topicClaims {
	claims := make(map[string]topicClaims)
	for i, m := range g.Members {
		for topic, numbers := range m.Owned {
			if claims[topic] == nil {
				claims[topic] = make(topicClaims, max(g.Topics[topic].Partitions, 0))
			}
			claims[topic].add(claim{member: int32(i) + 1, generation: max(m.Generation, -1)}, numbers)
		}
	}
	return claims
}

// add lets a member claim partitions. The outcome of many calls does not depend
// on their order.
func (t topicClaims) add(c claim, numbers []int32) {
	for _, p := range numbers {
		if p < 0 || int(p) >= len(t) {
			continue
		}
		switch held := &t[p]; {
		case held.member == 0 || held.generation < c.generation:
			*held = c
		case held.generation == c.generation && held.member != c.member:
			held.disputed = true
		}
	}
}

// free appends to dst the numbers that a member, known by 1 + its index, may have now.
func (t topicClaims) free(member int32, numbers, dst []int32) []int32 {
	for _, p := range numbers {
		if p >= 0 && int(p) < len(t) {
			if held := t[p]; held.member != 0 && (held.disputed || held.member != member) {
				continue
			}
		}
		dst = append(dst, p)
	}
	return dst
}
