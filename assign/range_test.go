package assign_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/musterkafka/muster/assign"
)

func TestRangeFitsEveryGroup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		group := drawGroup(t)
		plan, err := assign.Range().Assign(group)
		require.NoError(t, err)
		require.NoError(t, assign.Check(group, plan))
		require.Zero(t, assign.Unassigned(group, plan).Count())
	})
}

func TestRangeDoesNotDependOnMemberOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		group := drawGroup(t)
		plan, err := assign.Range().Assign(group)
		require.NoError(t, err)
		group.Members = rapid.Permutation(group.Members).Draw(t, "other order")
		again, err := assign.Range().Assign(group)
		require.NoError(t, err)
		require.Equal(t, plan, again)
	})
}

func TestRangeEqualsItsSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		group := drawGroup(t)
		plan, err := assign.Range().Assign(group)
		require.NoError(t, err)
		require.Equal(t, slowRange(group), plan)
	})
}

// slowRange is range as one would explain it, step by step, with no thought for
// time. It shares no code with Range.
func slowRange(group assign.Group) assign.Plan {
	plan := assign.Plan{}
	for _, m := range group.Members {
		plan[m.ID] = assign.Partitions{}
	}
	var topics []*slowTopic
	aware := false
	for name, known := range group.Topics {
		topic := newSlowTopic(name, known, group.Members)
		if len(topic.members) > 0 && known.Partitions > 0 {
			topics = append(topics, topic)
			aware = aware || topic.rackAware()
		}
	}
	for _, topic := range topics {
		if !aware || topic.done {
			continue
		}
		together := slices.DeleteFunc(slices.Clone(topics), func(other *slowTopic) bool { return other.kind() != topic.kind() })
		slowRacks(together)
	}
	for _, topic := range topics {
		topic.take(func(assign.Member, int) bool { return true })
		for partition, owner := range topic.owner {
			plan[owner][topic.name] = append(plan[owner][topic.name], int32(partition))
		}
	}
	return plan
}

func slowRacks(together []*slowTopic) {
	for _, topic := range together {
		topic.done = true
	}
	if len(together) == 1 {
		if together[0].rackAware() {
			together[0].take(together[0].near)
		}
		return
	}
	for partition := range together[0].owner {
		for _, m := range together[0].members {
			suits := func(topic *slowTopic) bool { return topic.near(m, partition) && topic.room(m) > 0 }
			if slices.ContainsFunc(together, func(topic *slowTopic) bool { return !suits(topic) }) {
				continue
			}
			for _, topic := range together {
				topic.give(m, partition)
			}
			break
		}
	}
}

type slowTopic struct {
	name    string
	known   assign.Topic
	members []assign.Member
	owner   []string
	given   map[string]int
	extra   int
	done    bool
}

func newSlowTopic(name string, known assign.Topic, members []assign.Member) *slowTopic {
	topic := &slowTopic{name: name, known: known, given: map[string]int{}}
	for _, m := range members {
		if slices.Contains(m.Topics, name) {
			topic.members = append(topic.members, m)
		}
	}
	slices.SortFunc(topic.members, func(a, b assign.Member) int {
		if (a.InstanceID == "") != (b.InstanceID == "") {
			return cmp.Compare(b.InstanceID, a.InstanceID)
		}
		if a.InstanceID != "" {
			return slices.Compare(utf16.Encode([]rune(a.InstanceID)), utf16.Encode([]rune(b.InstanceID)))
		}
		return slices.Compare(utf16.Encode([]rune(a.ID)), utf16.Encode([]rune(b.ID)))
	})
	topic.owner = make([]string, known.Partitions)
	if len(topic.members) > 0 {
		topic.extra = int(known.Partitions) % len(topic.members)
	}
	return topic
}

// kind is equal for topics that are handed out together.
func (s *slowTopic) kind() string {
	racked := 0
	var kind strings.Builder
	for _, m := range s.members {
		fmt.Fprintf(&kind, "%q in %q,", m.ID, m.Rack)
		if m.Rack != "" {
			racked = int(s.known.Partitions)
		}
	}
	return fmt.Sprintf("%s %d", kind.String(), racked)
}

func (s *slowTopic) racksOf(partition int) map[string]bool {
	racks := map[string]bool{}
	if partition < len(s.known.Racks) {
		for _, rack := range s.known.Racks[partition] {
			racks[rack] = true
		}
	}
	return racks
}

func (s *slowTopic) rackAware() bool {
	all := map[string]bool{}
	for partition := range s.owner {
		for rack := range s.racksOf(partition) {
			all[rack] = true
		}
	}
	common := slices.ContainsFunc(s.members, func(m assign.Member) bool { return m.Rack != "" && all[m.Rack] })
	for partition := range s.owner {
		if len(s.racksOf(partition)) < len(all) {
			return common
		}
	}
	return false
}

func (s *slowTopic) near(m assign.Member, partition int) bool {
	return m.Rack == "" || s.racksOf(partition)[m.Rack]
}

func (s *slowTopic) room(m assign.Member) int {
	room := len(s.owner)/len(s.members) - s.given[m.ID]
	if s.extra > 0 {
		room++
	}
	return max(room, 0)
}

func (s *slowTopic) give(m assign.Member, partition int) {
	s.owner[partition] = m.ID
	s.given[m.ID]++
	if s.given[m.ID] > len(s.owner)/len(s.members) {
		s.extra--
	}
}

func (s *slowTopic) take(allowed func(assign.Member, int) bool) {
	for _, m := range s.members {
		room := s.room(m)
		for partition, owner := range s.owner {
			if owner == "" && room > 0 && allowed(m, partition) {
				s.give(m, partition)
				room--
			}
		}
	}
}

func TestRangeLeavesTheGroupAlone(t *testing.T) {
	group := assign.Group{
		Members: []assign.Member{{ID: "b", Topics: []string{"U", "T"}}, {ID: "a", Topics: []string{"T"}}},
		Topics:  map[string]assign.Topic{"T": {Partitions: 2}, "U": {Partitions: 1}},
	}
	_, err := assign.Range().Assign(group)
	require.NoError(t, err)
	require.Equal(t, "b", group.Members[0].ID)
	require.Equal(t, []string{"U", "T"}, group.Members[0].Topics)
}

func BenchmarkRange(b *testing.B) {
	for _, racks := range []bool{false, true} {
		b.Run(fmt.Sprintf("partitions=100000/members=1000/racks=%t", racks), func(b *testing.B) {
			group := largeGroup(racks)
			b.ReportAllocs()
			for b.Loop() {
				_, err := assign.Range().Assign(group)
				require.NoError(b, err)
			}
		})
	}
}

// largeGroup has 1,000 members that all subscribe to 100 topics of 1,000
// partitions.
func largeGroup(racks bool) assign.Group {
	group := assign.Group{Topics: map[string]assign.Topic{}}
	var names []string
	for i := range 100 {
		topic := assign.Topic{Partitions: 1000}
		for p := 0; racks && p < 1000; p++ {
			topic.Racks = append(topic.Racks, []string{fmt.Sprint("rack", p%5), fmt.Sprint("rack", (p+1+p%3)%5)})
		}
		names = append(names, fmt.Sprintf("topic-%03d", i))
		group.Topics[names[i]] = topic
	}
	for i := range 1000 {
		m := assign.Member{ID: fmt.Sprintf("member-%04d", i), Topics: names}
		if racks {
			m.Rack = fmt.Sprint("rack", i%5)
		}
		group.Members = append(group.Members, m)
	}
	return group
}
