package main

import (
	"github.com/IBM/sarama"

	"github.com/musterkafka/muster/assign"
)

var saramaStrategies = map[string]func() sarama.BalanceStrategy{
	"range":              sarama.NewBalanceStrategyRange,
	"roundrobin":         sarama.NewBalanceStrategyRoundRobin,
	"sticky":             sarama.NewBalanceStrategySticky,
	"cooperative-sticky": sarama.NewBalanceStrategyCooperativeSticky,
}

func prepareSarama(assignor string, g assign.Group) (lead, error) {
	strategy := saramaStrategies[assignor]()
	var joined sarama.JoinGroupResponse
	for _, j := range subscriptions(assignor, g) {
		joined.Members = append(joined.Members, sarama.GroupMember{MemberId: j.ID, Metadata: j.Metadata})
	}
	topics := make(map[string][]int32, len(g.Topics))
	for name, t := range g.Topics {
		for p := range t.Partitions {
			topics[name] = append(topics[name], p)
		}
	}
	return func(w *stopwatch) (map[string][]byte, error) {
		members, err := joined.GetMembers()
		if err != nil {
			return nil, err
		}
		w.lap(&w.stages.Decode)
		plan, err := strategy.Plan(members, topics)
		if err != nil {
			return nil, err
		}
		w.lap(&w.stages.Assign)
		var request sarama.SyncGroupRequest
		for id := range members { // in range, members may get nothing
			data, err := strategy.AssignmentData(id, plan[id], generation+1)
			if err != nil {
				return nil, err
			}
			if err := request.AddGroupAssignmentMember(id, &sarama.ConsumerGroupMemberAssignment{Topics: plan[id], UserData: data}); err != nil {
				return nil, err
			}
		}
		w.lap(&w.stages.Encode)
		out := make(map[string][]byte, len(members))
		for _, a := range request.GroupAssignments {
			out[a.MemberId] = a.Assignment
		}
		return out, nil
	}, nil
}
