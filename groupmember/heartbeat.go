package groupmember

import (
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// beatDue is when the next heartbeat is to be sent. They go on through a whole
// round, so that neither a slow application nor a slow leader costs the
// membership; beside a held request they also show whether the coordinator
// that holds it is alive and knows the member. That alone is what they are for
// before the member has a generation.
func (m *Member) beatDue() time.Time {
	if m.beat.open() || !m.coordinator.known || m.id == "" || m.generation < 0 && m.state != Joining {
		return time.Time{}
	}
	if m.parting.failure.Failed() || m.revoke.open() && m.lost {
		return time.Time{} // the member has given itself up
	}
	switch m.state {
	case Waiting, Releasing, Encoding, Joining, Planning, Syncing, Decoding, Yielding, Stable, Parting:
		return m.beatAt
	case Idle, Finding, Leaving, Resting, Exited:
	}
	return time.Time{}
}

// beside reports whether the group route may be occupied by a held request.
func (m *Member) beside() bool { return m.state == Joining || m.state == Syncing }

func (m *Member) heartbeat() {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group = m.cfg.Group
	req.Generation = m.generation
	req.MemberID = m.id
	req.InstanceID = m.instance
	route := RouteGroup
	if m.beside() {
		route = RouteControl
	}
	m.beat = m.send(route, req)
	m.beatAt = m.now.Add(m.pace())
}

// onHeartbeat reads the answer. What it says of a generation is about the one
// that it was sent in: of any other it is no news.
func (m *Member) onHeartbeat(q question, ev Replied) {
	resp, failure := answerOf[*kmsg.HeartbeatResponse](ev)
	if failure.Failed() {
		m.onHeartbeatFailed(q, failure)
		return
	}
	code := kerr.TypedErrorForCode(resp.ErrorCode)
	if code == kerr.NotCoordinator || code == kerr.CoordinatorNotAvailable {
		m.onHeartbeatFailed(q, Failure{Kind: Unreachable, Text: code.Message})
		return
	}
	if q.as != m.identity {
		return
	}
	if m.generation < 0 && (code == nil || code == kerr.RebalanceInProgress || code == kerr.IllegalGeneration) {
		m.rounds.doubts = 0 // the member is known, so the JoinGroup may be held
		return
	}
	switch code {
	case nil:
		m.onAlive(q)
	case kerr.RebalanceInProgress: // a sign of life like any other
		m.accept(q)
		m.onRebalance(q)
	case kerr.CoordinatorLoadInProgress:
		m.beatAt = m.now.Add(m.backoff(&m.coordinator.failures))
	case kerr.IllegalGeneration:
		m.onStranger(q, m.sameID(), because(MemberExpelled, code, "Heartbeat"))
	case kerr.UnknownMemberID:
		m.onStranger(q, nobody, because(MemberExpelled, code, "Heartbeat"))
	case kerr.FencedInstanceID, kerr.GroupAuthorizationFailed, kerr.InvalidGroupID, kerr.UnsupportedVersion:
		m.fail(refused(resp.ErrorCode, "heartbeat"))
	default:
		if passing(code) {
			m.beatAt = m.now.Add(m.backoff(&m.coordinator.failures))
		} else {
			m.fail(refused(resp.ErrorCode, "heartbeat"))
		}
	}
}

// onHeartbeatFailed looks for the coordinator again. One that does not answer
// heartbeats will not answer what it holds either.
func (m *Member) onHeartbeatFailed(q question, failure Failure) {
	if !failure.passes() {
		m.fail(failure)
		return
	}
	m.strayed(q)
	if m.beside() && q.seq > m.ask.seq {
		m.giveUp(Cause{Kind: CoordinatorLost, Text: "coordinator lost"})
	}
}

// onAlive takes the answer that all is well, which also says that nobody is
// joining. Then a JoinGroup cannot be held.
func (m *Member) onAlive(q question) {
	if m.trust.synced {
		m.acceptCalm(q)
	} else {
		m.accept(q) // the coordinator still counts down to the end of the SyncGroups
	}
	if m.state == Joining && m.doubt(q) {
		m.giveUp(Cause{Kind: RequestUnanswered, Text: "JoinGroup is not held"})
	}
}

// onRebalance takes the answer that members are joining. In a SyncGroup that
// is held this cannot be.
func (m *Member) onRebalance(q question) {
	why := Cause{Kind: GroupRebalancing, Text: "group is already rebalancing"}
	switch m.state {
	case Stable:
		m.prepare(why)
	case Decoding, Yielding:
		m.rounds.again = why
	case Joining:
		m.rounds.doubts = 0
	case Syncing:
		if m.doubt(q) {
			m.giveUp(Cause{Kind: RequestUnanswered, Text: "SyncGroup is not held"})
		}
	case Idle, Finding, Waiting, Releasing, Encoding, Planning, Parting, Leaving, Resting, Exited:
	}
}

// onStranger takes the answer that the member is not in the generation. While
// a request is held, that request's own answer decides, since a heartbeat may
// cross it; but the wait is not for ever.
func (m *Member) onStranger(q question, left identity, c Cause) {
	if !m.beside() {
		m.expelled(left, c)
		return
	}
	if left == nobody {
		m.suspend()
	}
	if m.doubt(q) {
		m.expelled(left, c)
	}
}
