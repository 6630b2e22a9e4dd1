package coordinator

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func (g *Group) syncGroup(call Call, req *kmsg.SyncGroupRequest) {
	m, problem := g.validate(req.MemberID, req.InstanceID)
	switch {
	case problem != nil:
	case req.Generation != g.generation:
		problem = kerr.IllegalGeneration
	case g.state == Preparing:
		problem = kerr.RebalanceInProgress
	case req.Protocol != nil && *req.Protocol != g.protocol:
		problem = kerr.InconsistentGroupProtocol
	}
	if problem != nil {
		g.answer(call, syncRefusal(problem))
		return
	}
	m.toSync = false
	if g.state == Stable {
		g.keepAlive(m)
		g.answer(call, g.synced(m))
		return
	}
	m.sync = call
	if g.leader == m.id {
		g.distribute(req.GroupAssignment)
	}
}

// distribute saves the leader's plan and hands it out. A member that the plan
// leaves out gets no bytes at all.
func (g *Group) distribute(plan []kmsg.SyncGroupRequestGroupAssignment) {
	for _, m := range g.members {
		m.assignment = nil
		for _, share := range plan {
			if share.MemberID == m.id {
				m.assignment = share.MemberAssignment
			}
		}
	}
	g.state = Stable
	g.save()
	for _, m := range g.members {
		g.answer(m.sync, g.synced(m))
		m.sync = 0
		g.keepAlive(m)
	}
}

func (g *Group) synced(m *member) *kmsg.SyncGroupResponse {
	resp := kmsg.NewPtrSyncGroupResponse()
	protocolType, protocol := "consumer", g.protocol
	resp.ProtocolType, resp.Protocol = &protocolType, &protocol
	resp.MemberAssignment = m.assignment
	return resp
}

func syncRefusal(code *kerr.Error) *kmsg.SyncGroupResponse {
	resp := kmsg.NewPtrSyncGroupResponse()
	resp.ErrorCode = code.Code
	return resp
}
