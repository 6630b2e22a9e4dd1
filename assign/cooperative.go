package assign

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kbin"
)

// CooperativeSticky returns Kafka's "cooperative-sticky" assignor (KIP-429), for members that keep what
// they own while the group rebalances. What it aims at stands in the package comment; Withhold makes
// two rounds of its plan.
//
// Claims are read from Owned. Their generation is Generation; if that is unknown, which it is for members
// older than KIP-792, UserData of 4 bytes is the generation, and UserData as
// Sticky reads it holds one. Else it is -1.
func CooperativeSticky() Assignor { return cooperativeSticky{} }

type cooperativeSticky struct{}

func (cooperativeSticky) Name() string { return "cooperative-sticky" }

func (cooperativeSticky) Cooperative() bool { return true }

// UserData returns the generation, as Java's CooperativeStickyAssignor does for leaders
// that do not know the field of the subscription (KIP-792).
func (cooperativeSticky) UserData(_ Partitions, generation int32) []byte {
	return kbin.AppendInt32(nil, max(generation, -1))
}

func (a cooperativeSticky) Assign(g Group) (Plan, error) { return assignBy(a, g) }

func (cooperativeSticky) decide(g Group) (decision, error) {
	r, err := newRoster(g, compareIDs)
	if err != nil {
		return decision{}, err
	}
	c := newClaims(r)
	for m := range r.members {
		c.owned(int32(m), cooperativeGeneration(r.members[m]))
	}
	held := slices.Clone(c.owner)
	owner := c.settle()
	r.balance(g.Topics, owner, workLimit)
	return decision{r, owner, held}, nil
}
