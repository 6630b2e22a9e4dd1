package assign_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/musterkafka/muster/assign"
)

// A chooser returns a number from 0 to n-1, at random or as a test tool likes.
type chooser func(n int) int

// oneOf returns true once in n times.
func (choose chooser) oneOf(n int) bool { return choose(n) == n-1 }

// smallGroup makes a group of at most 6 members and 12 partitions, of every kind that
// may make a difference: uneven subscriptions, racks, some of them unknown, claims
// that are settled, stale, doubled or of partitions that have gone.
func smallGroup(choose chooser) assign.Group {
	group := assign.Group{Topics: choose.topics()}
	uneven := choose(3)
	racks := choose(3)
	for i := range choose(7) {
		m := assign.Member{ID: fmt.Sprint("m", i), Topics: choose.subscription(uneven), Generation: -1}
		if racks > 0 && !choose.oneOf(4) {
			m.Rack = choose.rack()
		}
		if choose.oneOf(4) {
			m.InstanceID = fmt.Sprint("i", (i*5+3)%7)
		}
		group.Members = append(group.Members, m)
	}
	if len(group.Members) > 0 {
		choose.claims(group)
	}
	return group
}

var smallTopics = []string{"t0", "t1", "t2", "t3", "gone"}

func (choose chooser) topics() map[string]assign.Topic {
	topics := map[string]assign.Topic{}
	left := 12
	racks := choose(3)
	for _, name := range smallTopics[:choose(5)] {
		topic := assign.Topic{Partitions: int32(choose(min(left, 8) + 1))}
		left -= int(topic.Partitions)
		for range topic.Partitions {
			if racks > 0 && !choose.oneOf(8) {
				topic.Racks = append(topic.Racks, choose.replicas(racks))
			}
		}
		topics[name] = topic
	}
	return topics
}

func (choose chooser) rack() string { return []string{"a", "b", "c"}[choose(3)] }

// replicas returns racks of which some may be the same, as of brokers that share one.
func (choose chooser) replicas(most int) (racks []string) {
	for range most {
		if rack := choose.rack(); !choose.oneOf(6) {
			racks = append(racks, rack)
		}
	}
	return racks
}

// subscription returns all topics, or any of them, or mostly all.
func (choose chooser) subscription(uneven int) []string {
	if uneven == 0 || uneven == 2 && !choose.oneOf(3) {
		return smallTopics
	}
	var topics []string
	for _, name := range smallTopics {
		if choose.oneOf(2) {
			topics = append(topics, name)
		}
	}
	return topics
}

func (choose chooser) claims(group assign.Group) {
	switch choose(4) {
	case 0: // a new group
	case 1: // members have joined since, or partitions have gone or come
		choose.settled(group, 1+choose(len(group.Members)))
	case 2: // a member comes back from an earlier generation
		choose.settled(group, len(group.Members))
		choose.wild(&group.Members[choose(len(group.Members))])
	case 3: // anything
		for i := range group.Members {
			choose.wild(&group.Members[i])
		}
	}
}

// settled lets the first members claim what one plan may have given them.
func (choose chooser) settled(group assign.Group, members int) {
	for i := range members {
		group.Members[i].Generation = 5
		group.Members[i].Owned = assign.Partitions{}
	}
	for _, topic := range smallTopics {
		more := int32(choose(3)) - 1
		for number := range group.Topics[topic].Partitions + more {
			m := group.Members[choose(members)]
			if slices.Contains(m.Topics, topic) || choose.oneOf(6) {
				m.Owned[topic] = append(m.Owned[topic], number)
			}
		}
	}
}

// wild lets a member claim anything since any generation, or since nobody knows.
func (choose chooser) wild(m *assign.Member) {
	m.Generation = int32(3+choose(4)) * int32(choose(2))
	if choose.oneOf(3) {
		m.Generation = -1 - int32(choose(2))
	}
	m.Owned = assign.Partitions{}
	for _, topic := range smallTopics {
		for number := range int32(8) {
			if choose.oneOf(4) {
				m.Owned[topic] = append(m.Owned[topic], number)
			}
		}
	}
}

func orDash(words []string) string {
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, ",")
}

func escapeID(id string) string { return strings.Trim(strconv.QuoteToASCII(id), `"`) }

func describeClaims(m assign.Member) (text string) {
	if m.InstanceID != "" {
		text += " instance=" + m.InstanceID
	}
	if m.Rack != "" {
		text += " rack=" + m.Rack
	}
	if m.Generation != -1 {
		text += fmt.Sprintf(" generation=%d", m.Generation)
	}
	if m.Owned.Count() > 0 {
		text += " owns="
	}
	previous := ""
	for topic, number := range m.Owned.All() {
		switch previous {
		case topic:
			text += fmt.Sprintf(",%d", number)
		case "":
			text += fmt.Sprintf("%s:%d", topic, number)
		default:
			text += fmt.Sprintf("/%s:%d", topic, number)
		}
		previous = topic
	}
	return text
}
