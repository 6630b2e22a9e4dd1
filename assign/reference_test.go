package assign_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
)

// A question is a group as the objective of the sticky assignors sees it. It is
// read from the group by rules that are written down here a second time, on purpose.
type question struct {
	members    []assign.Member
	partitions []partitionInPlay
}

// A partitionInPlay exists and has a subscriber, so somebody must get it.
// Members are known by their index.
type partitionInPlay struct {
	topic   string
	number  int32
	readers []int  // who subscribes
	far     []bool // by member: reading it from there is a rack mismatch
	holder  int    // who has the one valid claim; -1 if nobody
}

func newQuestion(group assign.Group) question {
	q := question{members: group.Members}
	for _, topic := range slices.Sorted(maps.Keys(group.Topics)) {
		readers := subscribers(group, topic)
		for number := range group.Topics[topic].Partitions {
			if len(readers) > 0 {
				q.partitions = append(q.partitions, partitionInPlay{topic: topic, number: number, readers: readers})
			}
		}
	}
	aware := racksMatter(group, q.partitions)
	for i := range q.partitions {
		p := &q.partitions[i]
		p.holder = holder(group, *p)
		for _, m := range group.Members {
			racks := racksOf(group, *p)
			p.far = append(p.far, aware && m.Rack != "" && len(racks) > 0 && !slices.Contains(racks, m.Rack))
		}
	}
	return q
}

func subscribers(group assign.Group, topic string) (readers []int) {
	for i, m := range group.Members {
		if slices.Contains(m.Topics, topic) {
			readers = append(readers, i)
		}
	}
	return readers
}

func racksOf(group assign.Group, p partitionInPlay) []string {
	racks := group.Topics[p.topic].Racks
	if int(p.number) >= len(racks) {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(racks[p.number])))
}

// racksMatter is Kafka's rule of when to look at racks at all: some member's rack
// holds a replica of something, and not every partition is in every rack.
func racksMatter(group assign.Group, partitions []partitionInPlay) bool {
	used := map[string]bool{}
	for _, p := range partitions {
		for _, rack := range racksOf(group, p) {
			used[rack] = true
		}
	}
	inReach := func(m assign.Member) bool { return m.Rack != "" && used[m.Rack] }
	partial := func(p partitionInPlay) bool { return len(racksOf(group, p)) < len(used) }
	return slices.ContainsFunc(group.Members, inReach) && slices.ContainsFunc(partitions, partial)
}

// holder returns whose claim on p counts: the one of the highest generation,
// if only one member has it and still subscribes to the topic.
func holder(group assign.Group, p partitionInPlay) int {
	newest := int32(-1)
	var claimants []int
	for i, m := range group.Members {
		generation := max(m.Generation, -1)
		if !slices.Contains(m.Owned[p.topic], p.number) || generation < newest {
			continue
		}
		if generation > newest {
			claimants = nil
		}
		newest, claimants = generation, append(claimants, i)
	}
	if len(claimants) != 1 || !slices.Contains(p.readers, claimants[0]) {
		return -1
	}
	return claimants[0]
}

// A score says how good a plan is; the least is the best.
type score struct {
	loads      []int // partitions by member, descending
	mismatches int
	moves      int
}

func compareScores(a, b score) int {
	return cmp.Or(
		slices.Compare(a.loads, b.loads),
		cmp.Compare(a.mismatches, b.mismatches),
		cmp.Compare(a.moves, b.moves),
	)
}

// owners returns, by partition, the index of the member that plan gives it to. The
// plan is one that passes Check and leaves nothing over.
func (q question) owners(plan assign.Plan) []int {
	owners := make([]int, len(q.partitions))
	for i, p := range q.partitions {
		owners[i] = slices.IndexFunc(q.members, func(m assign.Member) bool {
			return slices.Contains(plan[m.ID][p.topic], p.number)
		})
	}
	return owners
}

func (q question) score(owners []int) score {
	s := score{loads: make([]int, len(q.members))}
	for i, p := range q.partitions {
		s.loads[owners[i]]++
		if p.far[owners[i]] {
			s.mismatches++
		}
		if p.holder >= 0 && p.holder != owners[i] {
			s.moves++
		}
	}
	slices.Sort(s.loads)
	slices.Reverse(s.loads)
	return s
}

// planned runs an assignor and requires a plan that is valid and complete.
func planned(t require.TestingT, assignor assign.Assignor, group assign.Group) assign.Plan {
	plan, err := assignor.Assign(claimed(assignor, group))
	if err == nil {
		err = assign.Check(group, plan)
	}
	left := assign.Unassigned(group, plan)
	if err != nil || left.Count() > 0 {
		require.Fail(t, "not a plan", "%s: %v, unassigned %v\n%s", assignor.Name(), err, left, describeGroup(group))
	}
	return plan
}

func stickyKinds() []assign.Assignor {
	return []assign.Assignor{assign.Sticky(), assign.CooperativeSticky()}
}

// claimed returns group with the ownership claims where the assignor looks for
// them: sticky, which is eager, only in the user data.
func claimed(assignor assign.Assignor, group assign.Group) assign.Group {
	if assignor.Name() != "sticky" {
		return group
	}
	group.Members = slices.Clone(group.Members)
	for i := range group.Members {
		m := &group.Members[i]
		if m.Owned != nil {
			m.UserData = stickyUserData(m.Owned, m.Generation)
		}
		m.Owned, m.Generation = nil, -1
	}
	return group
}

// describeGroup writes group as a script would, to be pasted into one.
func describeGroup(group assign.Group) string {
	var text strings.Builder
	text.WriteString("group\n")
	for _, name := range slices.Sorted(maps.Keys(group.Topics)) {
		topic := group.Topics[name]
		text.WriteString(fmt.Sprintf("topic %s %d", name, topic.Partitions))
		for _, racks := range topic.Racks {
			text.WriteString(" " + orDash(racks))
		}
		text.WriteString("\n")
	}
	for _, m := range group.Members {
		text.WriteString(fmt.Sprintf("member %s %s", escapeID(m.ID), orDash(m.Topics)))
		text.WriteString(describeClaims(m) + "\n")
	}
	return text.String()
}
