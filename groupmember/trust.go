package groupmember

import "time"

// trust is what the member's liveness hangs on. Every time is that of sending,
// since the coordinator's clock starts after it.
type trust struct {
	accepted  time.Time // the last request that the coordinator accepted; zero if the member is in no generation
	calm      time.Time // the last one whose answer shows that no round of before is still open
	synced    bool      // the SyncGroup of the present generation was answered
	place     int       // the coordinator that answered the JoinGroup of the present generation
	suspended bool
}

// Trusted returns until when the member may assume its membership without
// another word from the coordinator; zero if it is not a member. Then either
// its session may have ended, or a round that began right after the group was last
// seen at rest may have ended without it.
func (m *Member) Trusted() time.Time {
	if m.trust.accepted.IsZero() {
		return time.Time{}
	}
	return earliest(m.sessionEnd(), m.roundEnd())
}

// accept notes that the coordinator accepted q, which was asked under the
// present identity.
func (m *Member) accept(q question) {
	m.coordinator.works()
	if q.at.After(m.trust.accepted) {
		m.trust.accepted = q.at
	}
	if m.trust.suspended && m.now.Before(m.Trusted()) {
		m.trust.suspended = false
		m.emit(Resumed{})
	}
}

// acceptCalm is accept for an answer that shows that no round began before q was
// asked which is still open.
func (m *Member) acceptCalm(q question) {
	if q.at.After(m.trust.calm) {
		m.trust.calm = q.at
	}
	m.accept(q)
}

// sessionEnd is when the coordinator may have removed the member for its
// silence.
func (m *Member) sessionEnd() time.Time {
	return m.trust.accepted.Add(m.cfg.SessionTimeout - m.cfg.Margin)
}

// roundEnd is when the coordinator may have ended a round without the member:
// its rebalance timeout after the group was last seen at rest. Whether a
// JoinGroup that is out is held there is not known, and a heartbeat that is
// accepted says nothing of it.
func (m *Member) roundEnd() time.Time {
	if m.trust.calm.IsZero() {
		return time.Time{}
	}
	return m.trust.calm.Add(m.cfg.RebalanceTimeout - m.cfg.Margin)
}

// onSilence suspends the member at its liveness deadline.
func (m *Member) onSilence() {
	if r := m.explaining.open; r != nil {
		m.setBack(r, silence)
	}
	m.suspend()
}

func (m *Member) suspendDue() time.Time {
	if m.trust.suspended || m.trust.accepted.IsZero() || len(m.owned) == 0 {
		return time.Time{}
	}
	return m.Trusted()
}

// suspend makes the application assume that the partitions are lost, until the
// coordinator says what is so.
func (m *Member) suspend() {
	if !m.trust.suspended && len(m.owned) > 0 {
		m.trust.suspended = true
		m.emit(Suspended{})
	}
}
