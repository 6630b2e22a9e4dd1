package client

import (
	"slices"

	"github.com/musterkafka/muster/assign"
)

// describeTopics returns what an assignor may know of those topics that exist.
func describeTopics(c *cluster, names []string) map[string]assign.Topic {
	topics := make(map[string]assign.Topic, len(names))
	for _, name := range names {
		if t, ok := c.topic(name); ok && t.count() > 0 {
			topics[name] = assign.Topic{Partitions: t.count(), Racks: racksOf(c, t.partitions)}
		}
	}
	return topics
}

// racksOf returns the racks of each partition's replicas, nil if none is known
// (KIP-881).
func racksOf(c *cluster, partitions []partition) [][]string {
	racks := make([][]string, len(partitions))
	known := false
	for i, p := range partitions {
		for _, node := range p.replicas {
			if rack, ok := c.racks[node]; ok {
				racks[i] = append(racks[i], rack)
				known = true
			}
		}
	}
	if !known {
		return nil
	}
	return racks
}

// lead remembers what the plan is made of, and keeps watching it: topics that do
// not exist yet too.
func (t *translator) lead(g assign.Group, topics []string) {
	planned := make(map[string]assign.Topic, len(topics))
	for _, name := range topics {
		planned[name] = g.Topics[name]
	}
	release := t.cl.watch(topics)
	t.mu.Lock()
	before := t.release
	t.planned, t.release, t.seen = planned, release, nil
	t.mu.Unlock()
	if before != nil {
		before()
	}
}

// follow forgets the plan: a new round has begun.
func (t *translator) follow() {
	t.mu.Lock()
	release := t.release
	t.planned, t.release = nil, nil
	t.mu.Unlock()
	if release != nil {
		release()
	}
}

// changed asks for a new round if c shows that the current one is not made for
// what there is.
func (t *translator) changed(c *cluster, rejoin func(why string)) {
	t.mu.Lock()
	why := ""
	if c != t.seen {
		t.seen = c
		switch {
		case t.outdated(c):
			why = "cached metadata has changed"
			t.planned = nil // asked once; the watch goes on until the round begins
		case t.interest.grows(c):
			why = "there are more topics that match the subscription"
			t.interest.told = true
		}
	}
	t.mu.Unlock()
	if why != "" {
		rejoin(why)
	}
}

// outdated reports whether this member leads and a topic of the group was created or
// deleted, has got more partitions, or lies in other racks. It is called with the
// mutex held.
func (t *translator) outdated(c *cluster) bool {
	for name, before := range t.planned {
		now, known := c.topic(name)
		switch {
		case !known:
		case now.count() != before.Partitions:
			return true
		case t.cfg.Rack != "" && !sameRacks(racksOf(c, now.partitions), before.Racks): // as in Java, others do not look
			return true
		}
	}
	return false
}

// sameRacks reports whether each partition lies in the same racks. The order of
// its replicas does not matter.
func sameRacks(now, before [][]string) bool {
	return slices.EqualFunc(now, before, func(a, b []string) bool {
		return slices.Equal(distinct(a), distinct(b))
	})
}

func distinct(names []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names)))
}
