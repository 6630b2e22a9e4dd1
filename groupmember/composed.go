package groupmember

import (
	"maps"
	"slices"
)

// composed is a group as its leader has seen it.
type composed struct {
	generation int32
	members    []Joined
	of         Composition
}

// compare notes what has changed in the group since the member last led it.
func (m *Member) compare(members []Joined, of Composition) {
	was := m.explaining.led
	m.explaining.led = composed{generation: m.generation, members: members, of: of}
	r := m.explaining.open
	if r == nil {
		return
	}
	r.Group.Size = len(members)
	if was.members == nil {
		return
	}
	r.Group.Since = was.generation
	r.Group.compareMembers(was, m.explaining.led)
	if of.Partitions != nil && was.of.Partitions != nil {
		r.Group.Topics, r.Group.TopicChanges = Known, topicChanges(was.of.Partitions, of.Partitions)
	}
}

// bare returns the members without their bytes.
func bare(members []Joined) []Joined {
	all := make([]Joined, 0, len(members))
	for _, j := range members {
		all = append(all, Joined{ID: j.ID, InstanceID: j.InstanceID})
	}
	return all
}

// key is by what a member is known over generations: a static member may come
// back under another ID.
func (j Joined) key() [2]string {
	if j.InstanceID != "" {
		return [2]string{"", j.InstanceID}
	}
	return [2]string{j.ID, ""}
}

func (g *GroupChange) compareMembers(was, is composed) {
	subscribed := was.of.Topics != nil && is.of.Topics != nil
	g.Members = Known
	if subscribed {
		g.Subscriptions = Known
	}
	before := make(map[[2]string]string, len(was.members)) // to the member ID
	for _, j := range was.members {
		before[j.key()] = j.ID
	}
	for _, j := range is.members {
		id, ok := before[j.key()]
		delete(before, j.key())
		one := GroupMember{ID: j.ID, InstanceID: j.InstanceID}
		switch {
		case !ok:
			g.Joined = append(g.Joined, one)
			continue
		case id != j.ID:
			g.Returned = append(g.Returned, one)
		}
		if subscribed && !slices.Equal(was.of.Topics[id], is.of.Topics[j.ID]) {
			g.Resubscribed = append(g.Resubscribed, one)
		}
	}
	for _, j := range was.members {
		if _, left := before[j.key()]; left {
			g.Gone = append(g.Gone, GroupMember{ID: j.ID, InstanceID: j.InstanceID})
		}
	}
}

func topicChanges(was, is map[string]int32) []TopicChange {
	names := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(is))
	slices.Sort(names)
	var changes []TopicChange
	for _, name := range slices.Compact(names) {
		if was[name] != is[name] {
			changes = append(changes, TopicChange{Topic: name, Before: was[name], After: is[name]})
		}
	}
	return changes
}
