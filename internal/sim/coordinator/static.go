package coordinator

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// replace lets a new process take the place of a static member (KIP-345),
// under a new ID. What the old process waits for is answered: it is fenced.
func (g *Group) replace(call Call, req *kmsg.JoinGroupRequest, m *member, id string) {
	g.answer(m.join, joinRefusal(m.id, kerr.FencedInstanceID))
	g.answer(m.sync, syncRefusal(kerr.FencedInstanceID))
	leads, was := g.leader == m.id, m.id
	m.id, m.join, m.sync = id, 0, 0
	if leads {
		g.leader = id
	}
	m.offer(req)
	g.keepAlive(m)
	if g.state == Stable && g.elect() == g.protocol {
		g.save()
		g.answer(call, g.resumed(req, m, was))
		return
	}
	m.join = call
	g.prepareOrComplete()
}

// resumed is the answer that gives a static member its old place without a
// round. If it leads, the plan is in place already (KIP-814); before version 9 it is
// told that its old ID leads, so that it does not plan.
func (g *Group) resumed(req *kmsg.JoinGroupRequest, m *member, was string) *kmsg.JoinGroupResponse {
	resp := g.joined(m)
	leads := g.leader == m.id
	if leads && req.Version < 9 {
		resp.LeaderID, resp.Members = was, nil
		return resp
	}
	resp.SkipAssignment = leads
	return resp
}
