package assign

import "slices"

// claims finds out who owned each partition of a roster before this round.
type claims struct {
	*roster
	owner      []int32 // by partition: member, nobody, disputed, or a member that no longer subscribes
	generation []int32 // by partition, of the claim in owner
}

const (
	nobody   int32 = -1
	disputed int32 = -2
)

func newClaims(r *roster) *claims {
	c := &claims{roster: r, owner: make([]int32, r.partitions()), generation: make([]int32, r.partitions())}
	for p := range c.owner {
		c.owner[p] = nobody
	}
	return c
}

// claimant returns how to write down that a member claims something of a topic. A
// member that does not subscribe to the topic any more has a word in who owned a
// partition, but cannot keep it.
func (c *claims) claimant(member, topic int32) int32 {
	subscription := c.kinds[c.kind[member]]
	if len(subscription) == len(c.topics) {
		return member
	}
	if _, subscribed := slices.BinarySearch(subscription, topic); subscribed {
		return member
	}
	return member + int32(len(c.members))
}

// add enters one claim. Partitions that do not exist are ignored. The outcome of
// many calls does not depend on their order.
func (c *claims) add(topic, claimant, generation, number int32) {
	if number < 0 || number >= c.size(topic) {
		return
	}
	p := c.first[topic] + number
	switch held := c.owner[p]; {
	case held == nobody || c.generation[p] < generation:
		c.owner[p], c.generation[p] = claimant, generation
	case c.generation[p] == generation && held != claimant:
		c.owner[p] = disputed
	}
}

// owned enters what a member says in its subscription.
func (c *claims) owned(member, generation int32) {
	for name, numbers := range c.members[member].Owned {
		if topic, known := c.number[name]; known {
			claimant := c.claimant(member, topic)
			for _, n := range numbers {
				c.add(topic, claimant, generation, n)
			}
		}
	}
}

// settle returns the owners: by partition, the member that has the valid claim, or
// nobody.
func (c *claims) settle() []int32 {
	for p, held := range c.owner {
		if held < 0 || int(held) >= len(c.members) {
			c.owner[p] = nobody
		}
	}
	return c.owner
}
