package assign

import (
	"errors"
	"fmt"
	"slices"
)

// checkLimit is how many faults the error of Check names.
const checkLimit = 8

// Check reports why plan is no answer to g: a partition given twice, an unknown
// topic or partition, a partition given to a member that does not subscribe to its
// topic, a member without an entry, an entry without a member, or an invalid group.
// The error names every fault, or the first 8 and the number of the others.
// Partitions that nobody got are no fault: see Unassigned.
func Check(g Group, plan Plan) error {
	_, err := review(g, plan)
	return err
}

// Review is Check and Unassigned together, for less than the price of both. It returns nil and the
// error of Check, or what Unassigned returns.
func Review(g Group, plan Plan) (unassigned Partitions, err error) {
	t, err := review(g, plan)
	if err != nil {
		return nil, err
	}
	return t.left(), nil
}

// review returns the tally of a plan that passes Check. Most plans do, so faults are
// only looked for by name when there is one.
func review(g Group, plan Plan) (*tally, error) {
	if err := g.validate(); err != nil {
		return nil, fmt.Errorf("invalid group: %w", err)
	}
	if t := newTally(g); t.fits(plan) {
		return t, nil
	}
	c := checker{group: g, owners: make(map[string][]int32)}
	for i, m := range g.Members {
		share, planned := plan[m.ID]
		if !planned {
			c.fault("member %q has no entry", m.ID)
		}
		c.share(int32(i), share)
	}
	c.strangers(plan)
	return nil, c.err()
}

// checker goes through a plan member by member and collects what is wrong.
type checker struct {
	group  Group
	owners map[string][]int32 // topic to, by partition, 1 + index of the owner; 0 for none
	faults []error
	count  int
}

func (c *checker) fault(format string, args ...any) {
	c.count++
	if len(c.faults) < checkLimit {
		c.faults = append(c.faults, fmt.Errorf(format, args...))
	}
}

func (c *checker) share(member int32, share Partitions) {
	m := c.group.Members[member]
	subscribed := sortedUnique(m.Topics)
	for _, topic := range sortedKeys(share) {
		known, ok := c.group.Topics[topic]
		if !ok {
			c.fault("member %q got topic %q, which is unknown", m.ID, topic)
			continue
		}
		if _, found := slices.BinarySearch(subscribed, topic); !found {
			c.fault("member %q got topic %q without a subscription", m.ID, topic)
		}
		if c.owners[topic] == nil {
			c.owners[topic] = make([]int32, known.Partitions)
		}
		c.topic(member, topic, share[topic])
	}
}

func (c *checker) topic(member int32, topic string, numbers []int32) {
	owners := c.owners[topic]
	id := c.group.Members[member].ID
	for _, p := range numbers {
		switch {
		case p < 0 || int(p) >= len(owners):
			c.fault("member %q got partition %d of topic %q, which has %d", id, p, topic, len(owners))
		case owners[p] != 0:
			c.fault("partition %d of topic %q was given to %q and to %q", p, topic, c.group.Members[owners[p]-1].ID, id)
		default:
			owners[p] = member + 1
		}
	}
}

// strangers finds entries of members that the group does not have.
func (c *checker) strangers(plan Plan) {
	known := make(map[string]bool, len(c.group.Members))
	for _, m := range c.group.Members {
		known[m.ID] = true
	}
	for _, id := range sortedKeys(plan) {
		if !known[id] {
			c.fault("plan has an entry for %q, which is not a member", id)
		}
	}
}

func (c *checker) err() error {
	if more := c.count - len(c.faults); more > 0 {
		c.faults = append(c.faults, fmt.Errorf("and %d more", more))
	}
	return fmt.Errorf("plan does not fit the group; check the assignor: %w", errors.Join(c.faults...))
}

// Unassigned returns the partitions of subscribed topics that plan gives to
// nobody. Ask before Withhold, which leaves partitions to nobody on purpose. What
// Check would object to in the plan is ignored.
func Unassigned(g Group, plan Plan) Partitions {
	t := newTally(g)
	for _, share := range plan {
		for name, numbers := range share {
			if topic, known := t.number[name]; known {
				t.take(topic, numbers)
			}
		}
	}
	return t.left()
}
