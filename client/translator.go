package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/musterkafka/muster/assign"
	"github.com/musterkafka/muster/groupmember"
)

// translator turns the group protocol's bytes into values with package assign
// (driver.Translator). It alone knows assignors.
//
// It also knows which topics the member has asked its group for and, while this
// member leads the group, what the plan was made of, and wants another round when
// that has changed.
type translator struct {
	cl  *Client
	cfg *ConsumerConfig
	log *slog.Logger

	mu       sync.Mutex
	last     claim // what an eager member had before it let go of everything to join again
	interest interest
	planned  map[string]assign.Topic // the group's topics when the current plan was made; nil if another member leads
	release  func()                  // ends the watch over those topics
	seen     *cluster                // compared with interest and planned already
}

// claim is what a member was given, and in which generation.
type claim struct {
	partitions assign.Partitions
	generation int32 // -1 if it was never given anything
}

// assigned hears of every assignment.
func (t *translator) assigned(generation int32, owned groupmember.Partitions) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = claim{assign.Partitions(owned), generation}
}

// claimed returns what user data says that this member owns: what it has, or, since
// an eager member has nothing when it joins, what it was given last. It is claimed also when it
// was lost, as Java does: whoever has got it since claims it in a later generation.
func (t *translator) claimed(owned groupmember.Partitions, generation int32) claim {
	if t.cfg.cooperative() {
		return claim{assign.Partitions(owned), generation}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// Encode implements driver.Translator.
func (t *translator) Encode(ctx context.Context, owned groupmember.Partitions, generation int32) (groupmember.Subscription, error) {
	t.follow()
	topics, err := t.choose(ctx)
	if err != nil {
		return groupmember.Subscription{}, err
	}
	m := assign.Member{Topics: topics, Owned: assign.Partitions(owned), Generation: generation, Rack: t.cfg.Rack}
	s := groupmember.Subscription{Topics: topics, Rack: t.cfg.Rack}
	claimed := t.claimed(owned, generation)
	for _, a := range t.cfg.Assignors {
		data, err := userData(a, claimed.partitions, claimed.generation)
		if err != nil {
			return groupmember.Subscription{}, err
		}
		m.UserData = data
		encode := assign.AppendEagerSubscription
		if a.Cooperative() {
			encode = assign.AppendSubscription
		}
		s.Protocols = append(s.Protocols, groupmember.Protocol{Name: a.Name(), Metadata: encode(nil, m)})
	}
	return s, nil
}

// Plan implements driver.Translator.
func (t *translator) Plan(ctx context.Context, q groupmember.Plan) ([]groupmember.Assignment, groupmember.Composition, error) {
	group, topics, err := t.group(ctx, q.Members)
	if err != nil {
		return nil, groupmember.Composition{}, err
	}
	var assignments []groupmember.Assignment
	if !q.Skip {
		if assignments, err = t.plan(q, group); err != nil {
			return nil, groupmember.Composition{}, err
		}
	}
	if context.Cause(ctx) != nil {
		return nil, groupmember.Composition{}, context.Cause(ctx) // the round is over: nobody leads by this plan
	}
	t.lead(group, topics)
	return assignments, composition(group), nil
}

// composition is the group as explanations of its rebalances want it.
func composition(g assign.Group) groupmember.Composition {
	c := groupmember.Composition{Topics: make(map[string][]string, len(g.Members)), Partitions: make(map[string]int32, len(g.Topics))}
	for _, m := range g.Members {
		c.Topics[m.ID] = m.Topics
	}
	for name, t := range g.Topics {
		c.Partitions[name] = t.Partitions
	}
	return c
}

// plan runs the assignor.
func (t *translator) plan(q groupmember.Plan, group assign.Group) ([]groupmember.Assignment, error) {
	assignor := t.assignor(q.Protocol)
	if assignor == nil {
		return nil, fmt.Errorf("the group has chosen the assignor %q, which this member does not have", q.Protocol)
	}
	plan, left, err := runAssignor(assignor, group)
	if err != nil {
		return nil, err
	}
	if n := left.Count(); n > 0 {
		t.log.Warn("the assignor has left partitions to nobody", "assignor", q.Protocol, "generation", q.Generation, "count", n)
	}
	assignments := make([]groupmember.Assignment, 0, len(plan))
	for _, e := range plan {
		assignments = append(assignments, groupmember.Assignment(e))
	}
	return assignments, nil
}

// Decode implements driver.Translator.
func (t *translator) Decode(_ context.Context, _ string, assignment []byte) (partitions, foreign groupmember.Partitions, err error) {
	assigned, err := assign.ReadAssignment(assignment)
	if err != nil {
		return nil, nil, err
	}
	partitions, foreign = make(groupmember.Partitions), make(groupmember.Partitions)
	for topic, ids := range assigned {
		if t.wants(topic) {
			partitions[topic] = ids
		} else {
			foreign[topic] = ids
		}
	}
	return partitions, foreign, nil
}

// Resolve implements driver.Translator.
func (t *translator) Resolve(context.Context, []groupmember.TopicID) (groupmember.Partitions, error) {
	return nil, errors.New("the consumer group protocol (KIP-848) is not spoken")
}

func (t *translator) assignor(name string) assign.Assignor {
	for _, a := range t.cfg.Assignors {
		if a.Name() == name {
			return a
		}
	}
	return nil
}

// group describes the group to an assignor, with what the cluster says now of all
// topics of all members.
func (t *translator) group(ctx context.Context, joined []groupmember.Joined) (assign.Group, []string, error) {
	members := make([]assign.Joined, 0, len(joined))
	for _, j := range joined {
		members = append(members, assign.Joined(j))
	}
	var g assign.Group
	var problems []error
	g.Members, problems = assign.ReadMembers(members)
	for _, problem := range problems {
		t.log.Warn("a member's subscription cannot be read", "error", problem)
	}
	topics := topicsOf(g.Members)
	cluster, err := t.cl.recent(ctx, topics)
	if err != nil {
		return assign.Group{}, nil, err
	}
	g.Topics = describeTopics(cluster, topics)
	return g, topics, nil
}

func topicsOf(members []assign.Member) []string {
	var topics []string
	for i, m := range members {
		if i == 0 || !slices.Equal(m.Topics, members[i-1].Topics) { // most members subscribe to the same
			topics = append(topics, m.Topics...)
		}
	}
	slices.Sort(topics)
	return slices.Compact(topics)
}

// runAssignor returns what the members are told by a plan that passes assign.Check, and what the plan
// leaves to nobody. The assignor may be the application's and do anything.
func runAssignor(a assign.Assignor, g assign.Group) (plan []assign.Encoded, left assign.Partitions, err error) {
	defer func() {
		if r := recover(); r != nil {
			plan, left, err = nil, nil, fmt.Errorf("assignor %q: panic: %v", a.Name(), r)
		}
	}()
	if plan, left, err = assign.Lead(a, g); err != nil {
		return nil, nil, fmt.Errorf("assignor %q: %w", a.Name(), err)
	}
	return plan, left, nil
}

func userData(a assign.Assignor, owned assign.Partitions, generation int32) (data []byte, err error) {
	encoder, ok := a.(assign.UserDataEncoder)
	if !ok {
		return nil, nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("assignor %q: panic in UserData: %v", a.Name(), r)
		}
	}()
	return encoder.UserData(owned, generation), nil
}
