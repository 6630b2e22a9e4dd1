package sim

import (
	"slices"

	"github.com/musterkafka/muster/groupmember"
)

// A topic may get more partitions, and a topic that had none is new then. Whoever leads
// the group looks after that, and whoever subscribes to a pattern looks for new topics.

// topicNames are ascending.
var topicNames = []string{"orders", "payments"}

// counts are the partitions of each topic.
type counts [2]int32

func (c counts) of(topic string) int32 { return c[slices.Index(topicNames, topic)] }

// existing returns the topics that there are.
func (c counts) existing() []string {
	var names []string
	for i, name := range topicNames {
		if c[i] > 0 {
			names = append(names, name)
		}
	}
	return names
}

// grow adds a partition to a topic that has not got all that it is to have.
func (w *world) grow() {
	i := w.random.IntN(len(w.counts))
	if w.counts[i] == w.plan.partitions[i] {
		return
	}
	w.counts[i]++
	w.note("topic %s has %d partitions now", topicNames[i], w.counts[i])
}

// exists reports whether a partition has been created.
func (w *world) exists(at place) bool { return at.id < w.counts.of(at.topic) }

// watch has the process look at the metadata.
func (p *process) watch() {
	w, s := p.world, p.seat
	if s.pattern && !slices.Equal(s.topics, w.counts.existing()) {
		s.topics = w.counts.existing()
		p.step(groupmember.Rejoin{Why: "subscription has changed"})
	}
	if p.member.Status().Leader && p.planned != w.counts {
		p.planned = w.counts
		p.step(groupmember.Rejoin{Why: "metadata of subscribed topics has changed"})
	}
}
