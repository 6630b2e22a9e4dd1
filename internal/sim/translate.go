package sim

import (
	"slices"
	"time"

	"github.com/musterkafka/muster/assign"
	"github.com/musterkafka/muster/groupmember"
)

// The assignors of the simulated groups. Both give every topic's partitions out
// in ranges of equal size; the second is for groups with cooperative members.
const (
	eagerProtocol       = "range"
	cooperativeProtocol = "cooperative-range"
)

var made = groupmember.Failure{Kind: groupmember.Rejected, Text: "made to fail"}

var gone = groupmember.Failure{Kind: groupmember.Canceled, Text: "not wanted any more"}

// portDelay is how long the process takes for a question of its member.
func (w *world) portDelay() time.Duration {
	if w.faulty {
		switch n := w.random.IntN(100); {
		case n < 10:
			return w.between(0, 1500*time.Millisecond)
		case n < 15 || w.plan.sluggish && n < 40:
			return w.between(0, 8*time.Second)
		}
	}
	return w.between(0, 2*time.Millisecond)
}

func (p *process) encode(a groupmember.Encode) {
	p.answer(a.Seq, p.world.portDelay(), func() groupmember.Event {
		p.app.offered = p.seat.topics
		bytes := assign.AppendSubscription(nil, assign.Member{
			Topics: p.seat.topics, Owned: assign.Partitions(a.Owned), Generation: a.Generation,
		})
		ev := groupmember.Encoded{Seq: a.Seq}
		for _, name := range p.seat.protocols {
			ev.Subscription.Protocols = append(ev.Subscription.Protocols, groupmember.Protocol{Name: name, Metadata: bytes})
		}
		return ev
	}, groupmember.Encoded{Seq: a.Seq, Failure: gone})
}

func (p *process) makePlan(a groupmember.Plan) {
	failing := p.world.faulty && p.world.random.IntN(40) == 0
	p.answer(a.Seq, p.world.portDelay(), func() groupmember.Event {
		if failing {
			p.planless++
			return groupmember.Planned{Seq: a.Seq, Failure: made}
		}
		p.planned = p.world.counts
		return groupmember.Planned{Seq: a.Seq, Assignments: p.world.planFor(a)}
	}, groupmember.Planned{Seq: a.Seq, Failure: gone})
}

// planFor is the leader's work.
func (w *world) planFor(a groupmember.Plan) []groupmember.Assignment {
	joined := make([]assign.Joined, 0, len(a.Members))
	for _, j := range a.Members {
		joined = append(joined, assign.Joined(j))
	}
	members, problems := assign.ReadMembers(joined)
	if len(problems) > 0 {
		w.fail("the leader cannot read a subscription: %v", problems[0])
	}
	group := assign.Group{Members: members, Topics: map[string]assign.Topic{}}
	for i, count := range w.counts {
		group.Topics[topicNames[i]] = assign.Topic{Partitions: count}
	}
	plan := w.ranges(group)
	if a.Protocol == cooperativeProtocol {
		plan = assign.Withhold(group, plan)
	}
	out := make([]groupmember.Assignment, 0, len(members))
	for _, m := range members {
		out = append(out, groupmember.Assignment{MemberID: m.ID, Bytes: assign.AppendAssignment(nil, plan[m.ID])})
	}
	return out
}

// ranges gives each subscribed topic out in ranges, to members in the order of
// their IDs.
func (w *world) ranges(g assign.Group) assign.Plan {
	plan := make(assign.Plan, len(g.Members))
	for _, m := range g.Members {
		plan[m.ID] = assign.Partitions{}
	}
	for _, topic := range topicNames {
		var takers []string
		for _, m := range g.Members {
			if contains(m.Topics, topic) {
				takers = append(takers, m.ID)
			}
		}
		count := int(g.Topics[topic].Partitions)
		for i := range count {
			if len(takers) > 0 {
				id := takers[i*len(takers)/count]
				plan[id][topic] = append(plan[id][topic], int32(i))
			}
		}
	}
	return plan
}

func (p *process) decode(a groupmember.Decode) {
	d := p.world.portDelay()
	if p.world.faulty && p.world.plan.sluggish {
		d = max(d, p.world.between(0, 6*time.Second))
	}
	p.answer(a.Seq, d, func() groupmember.Event {
		all, err := assign.ReadAssignment(a.Assignment)
		if err != nil {
			p.world.fail("%s cannot read its assignment: %v", p.name, err)
		}
		ev := groupmember.Decoded{Seq: a.Seq, Partitions: groupmember.Partitions{}, Foreign: groupmember.Partitions{}}
		for topic, ids := range all {
			if contains(p.seat.topics, topic) {
				ev.Partitions[topic] = ids
			} else {
				ev.Foreign[topic] = ids
			}
		}
		return ev
	}, groupmember.Decoded{Seq: a.Seq, Failure: gone})
}

func contains(topics []string, topic string) bool {
	return slices.Contains(topics, topic)
}
