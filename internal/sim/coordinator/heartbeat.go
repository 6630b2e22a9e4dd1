package coordinator

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func (g *Group) heartbeat(req *kmsg.HeartbeatRequest) *kerr.Error {
	m, problem := g.validate(req.MemberID, req.InstanceID)
	switch {
	case problem != nil:
		return problem
	case req.Generation != g.generation:
		return kerr.IllegalGeneration
	case g.state == Preparing:
		g.keepAlive(m)
		return kerr.RebalanceInProgress
	}
	g.keepAlive(m)
	return nil
}

func heartbeatAnswer(problem *kerr.Error) *kmsg.HeartbeatResponse {
	resp := kmsg.NewPtrHeartbeatResponse()
	resp.ErrorCode = codeOf(problem)
	return resp
}

func codeOf(problem *kerr.Error) int16 {
	if problem == nil {
		return 0
	}
	return problem.Code
}
