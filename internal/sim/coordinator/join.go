package coordinator

import (
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func (g *Group) joinGroup(call Call, req *kmsg.JoinGroupRequest) {
	switch {
	case !g.supports(req.Protocols):
		g.answer(call, joinRefusal(req.MemberID, kerr.InconsistentGroupProtocol))
	case req.MemberID == "":
		g.joinUnknown(call, req)
	case g.isPending(req.MemberID):
		g.pending = slices.DeleteFunc(g.pending, func(p pending) bool { return p.id == req.MemberID })
		g.add(call, req, req.MemberID)
	default:
		g.joinKnown(call, req)
	}
}

// joinUnknown gives an ID to a member that has none: a dynamic one has to come
// back with it (KIP-394, version 4), a static one is taken in at once (KIP-345).
func (g *Group) joinUnknown(call Call, req *kmsg.JoinGroupRequest) {
	if req.InstanceID == nil && req.Version < 4 {
		g.add(call, req, g.log.newID("consumer"))
		return
	}
	if req.InstanceID == nil {
		id := g.log.newID("consumer")
		g.pending = append(g.pending, pending{id, g.now.Add(millis(req.SessionTimeoutMillis))})
		g.answer(call, joinRefusal(id, kerr.MemberIDRequired))
		return
	}
	id := g.log.newID(*req.InstanceID)
	if holder := g.static(*req.InstanceID); holder != nil {
		g.replace(call, req, holder, id)
		return
	}
	g.add(call, req, id)
}

func (g *Group) isPending(id string) bool {
	return slices.ContainsFunc(g.pending, func(p pending) bool { return p.id == id })
}

func (g *Group) joinKnown(call Call, req *kmsg.JoinGroupRequest) {
	m, problem := g.validate(req.MemberID, req.InstanceID)
	if problem != nil {
		g.answer(call, joinRefusal(req.MemberID, problem))
		return
	}
	same := m.offersSame(req.Protocols)
	switch g.state {
	case Preparing:
		g.rejoin(call, req, m)
	case Completing:
		if same { // a JoinGroup whose answer was lost
			g.answer(call, g.joined(m))
			return
		}
		g.rejoin(call, req, m)
	case Stable:
		if same && g.leader != m.id {
			g.answer(call, g.joined(m))
			return
		}
		g.rejoin(call, req, m)
	case Empty:
		g.answer(call, joinRefusal(req.MemberID, kerr.UnknownMemberID))
	}
}

// add takes a new member in. Its session is long, since it cannot heartbeat
// before it has its ID.
func (g *Group) add(call Call, req *kmsg.JoinGroupRequest, id string) {
	m := &member{id: id, isNew: true}
	if req.InstanceID != nil {
		m.instance = *req.InstanceID
	}
	g.members = append(g.members, m)
	if g.leader == "" {
		g.leader = id
	}
	g.grown = true
	m.offer(req)
	m.join = call
	m.expiresAt = g.now.Add(newMemberPatience)
	g.prepareOrComplete()
}

func (g *Group) rejoin(call Call, req *kmsg.JoinGroupRequest, m *member) {
	m.offer(req)
	m.join = call // one that was held before is never answered
	g.prepareOrComplete()
}

func (m *member) offer(req *kmsg.JoinGroupRequest) {
	m.session = millis(req.SessionTimeoutMillis)
	m.rebalance = millis(req.RebalanceTimeoutMillis)
	m.protocols = req.Protocols
}

func (g *Group) prepareOrComplete() {
	if g.state == Preparing {
		g.maybeCompleteJoin()
		return
	}
	g.prepare()
}

// joined is the answer to a JoinGroup that succeeded. The leader alone is told
// who is in the group.
func (g *Group) joined(m *member) *kmsg.JoinGroupResponse {
	resp := kmsg.NewPtrJoinGroupResponse()
	protocolType, protocol := "consumer", g.protocol
	resp.Generation, resp.MemberID, resp.LeaderID = g.generation, m.id, g.leader
	resp.ProtocolType, resp.Protocol = &protocolType, &protocol
	if g.leader == m.id {
		for _, other := range g.members {
			one := kmsg.NewJoinGroupResponseMember()
			one.MemberID, one.ProtocolMetadata = other.id, other.metadata(g.protocol)
			if instance := other.instance; instance != "" {
				one.InstanceID = &instance
			}
			resp.Members = append(resp.Members, one)
		}
	}
	return resp
}

func (m *member) metadata(protocol string) []byte {
	for _, p := range m.protocols {
		if p.Name == protocol {
			return p.Metadata
		}
	}
	return nil
}

func joinRefusal(id string, code *kerr.Error) *kmsg.JoinGroupResponse {
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.MemberID, resp.ErrorCode = id, code.Code
	return resp
}

func millis(n int32) time.Duration { return time.Duration(n) * time.Millisecond }

// supports reports whether all members have one of the protocols in common.
func (g *Group) supports(protocols []kmsg.JoinGroupRequestProtocol) bool {
	if len(g.members) == 0 {
		return len(protocols) > 0
	}
	return slices.ContainsFunc(protocols, func(p kmsg.JoinGroupRequestProtocol) bool { return g.common(p.Name) })
}

func (g *Group) common(protocol string) bool {
	for _, m := range g.members {
		if !slices.ContainsFunc(m.protocols, func(p kmsg.JoinGroupRequestProtocol) bool { return p.Name == protocol }) {
			return false
		}
	}
	return true
}

// elect returns the protocol with the most votes: each member votes for the
// first one in its own list that all have in common. Of equals the first to
// get a vote is taken.
func (g *Group) elect() string {
	var names []string
	var votes []int
	for _, m := range g.members {
		i := slices.IndexFunc(m.protocols, func(p kmsg.JoinGroupRequestProtocol) bool { return g.common(p.Name) })
		if i < 0 {
			panic(fmt.Sprintf("BUG: member %s has no protocol in common with its group", m.id))
		}
		at := slices.Index(names, m.protocols[i].Name)
		if at < 0 {
			at = len(names)
			names, votes = append(names, m.protocols[i].Name), append(votes, 0)
		}
		votes[at]++
	}
	return names[slices.Index(votes, slices.Max(votes))]
}
