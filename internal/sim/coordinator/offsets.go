package coordinator

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func (g *Group) offsetCommit(call Call, req *kmsg.OffsetCommitRequest) {
	m, problem := g.validate(req.MemberID, req.InstanceID)
	switch {
	case problem != nil:
	case req.Generation != g.generation:
		problem = kerr.IllegalGeneration
	case g.state == Completing:
		problem = kerr.RebalanceInProgress
	default:
		g.keepAlive(m)
		g.log.commit(req)
	}
	g.answer(call, commitAnswer(req, problem))
}

func commitAnswer(req *kmsg.OffsetCommitRequest, problem *kerr.Error) *kmsg.OffsetCommitResponse {
	resp := kmsg.NewPtrOffsetCommitResponse()
	for _, t := range req.Topics {
		topic := kmsg.NewOffsetCommitResponseTopic()
		topic.Topic = t.Topic
		for _, p := range t.Partitions {
			partition := kmsg.NewOffsetCommitResponseTopicPartition()
			partition.Partition, partition.ErrorCode = p.Partition, codeOf(problem)
			topic.Partitions = append(topic.Partitions, partition)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}
