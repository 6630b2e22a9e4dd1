package groupmember

import (
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// sync hands in the leader's plan, or nothing as a follower, and waits for
// what this member gets. The broker holds a follower's until the plan is in.
func (m *Member) sync(why string, assignments []Assignment) {
	if !m.coordinator.known { // lost while planning: the plan is of a round that is gone
		m.hurry(Cause{Kind: CoordinatorLost, Text: "coordinator lost before SyncGroup"})
		return
	}
	m.enter(Syncing, why)
	m.rounds.doubts = 0

	req := kmsg.NewPtrSyncGroupRequest()
	req.Group = m.cfg.Group
	req.Generation = m.generation
	req.MemberID = m.id
	req.InstanceID = m.instance
	req.ProtocolType = &m.cfg.ProtocolType // KIP-559
	protocol := m.protocol
	req.Protocol = &protocol
	for _, a := range assignments {
		assignment := kmsg.NewSyncGroupRequestGroupAssignment()
		assignment.MemberID, assignment.MemberAssignment = a.MemberID, a.Bytes
		req.GroupAssignment = append(req.GroupAssignment, assignment)
	}
	m.ask = m.send(RouteGroup, req)
}

// onSyncGroup reads the answer. Only a SyncGroup that succeeded ends the
// round; after any other, the member joins again.
func (m *Member) onSyncGroup(q question, ev Replied) {
	resp, failure := answerOf[*kmsg.SyncGroupResponse](ev)
	if failure.Failed() {
		m.unanswered(q, "SyncGroup", failure)
		return
	}
	switch code := kerr.TypedErrorForCode(resp.ErrorCode); code {
	case nil:
		m.onSynced(q, resp)
	case kerr.RebalanceInProgress: // identity and partitions stay (KAFKA-13891)
		m.hurry(because(GroupRebalancing, code, "SyncGroup"))
	case kerr.IllegalGeneration:
		m.expelled(m.sameID(), because(MemberExpelled, code, "SyncGroup"))
	case kerr.UnknownMemberID:
		m.expelled(nobody, because(MemberExpelled, code, "SyncGroup"))
	case kerr.NotCoordinator, kerr.CoordinatorNotAvailable:
		m.strayed(q)
		m.hurry(because(CoordinatorLost, code, "SyncGroup"))
	case kerr.CoordinatorLoadInProgress:
		m.wait(because(RequestRefused, code, "SyncGroup"))
	case kerr.FencedInstanceID, kerr.GroupAuthorizationFailed, kerr.InconsistentGroupProtocol, kerr.InvalidGroupID,
		kerr.UnsupportedVersion:
		m.fail(refused(resp.ErrorCode, "waiting for the assignment"))
	default:
		if passing(code) {
			m.wait(because(RequestRefused, code, "SyncGroup"))
		} else {
			m.fail(refused(resp.ErrorCode, "waiting for the assignment"))
		}
	}
}

func (m *Member) onSynced(q question, resp *kmsg.SyncGroupResponse) {
	switch { // KIP-559; brokers before 2.5 say neither
	case resp.ProtocolType != nil && *resp.ProtocolType != m.cfg.ProtocolType:
		m.fail(Failure{Kind: Rejected, Text: "SyncGroup was answered for protocol type " + *resp.ProtocolType})
	case resp.Protocol != nil && *resp.Protocol != m.protocol:
		m.fail(Failure{Kind: Rejected, Text: "SyncGroup was answered for the assignor " + *resp.Protocol + ", JoinGroup for " + m.protocol})
	default:
		m.trust.synced = true
		m.acceptCalm(q)
		m.decode(resp.MemberAssignment)
	}
}
