package coordinator

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func (g *Group) leaveGroup(call Call, req *kmsg.LeaveGroupRequest) {
	resp := kmsg.NewPtrLeaveGroupResponse()
	if req.Version < 3 { // one member, without an instance
		resp.ErrorCode = codeOf(g.leave(req.MemberID, nil))
	}
	for _, leaving := range req.Members {
		one := kmsg.NewLeaveGroupResponseMember()
		one.MemberID, one.InstanceID = leaving.MemberID, leaving.InstanceID
		one.ErrorCode = codeOf(g.leave(leaving.MemberID, leaving.InstanceID))
		resp.Members = append(resp.Members, one)
	}
	g.answer(call, resp)
}

func (g *Group) leave(id string, instance *string) *kerr.Error {
	if g.isPending(id) {
		g.pending = slices.DeleteFunc(g.pending, func(p pending) bool { return p.id == id })
		g.maybeCompleteJoin()
		return nil
	}
	if id == "" && instance != nil { // removed by an administrator
		if holder := g.static(*instance); holder != nil {
			id = holder.id
		}
	}
	m, problem := g.validate(id, instance)
	if problem == nil {
		g.remove(m)
	}
	return problem
}
