package groupmember

import "time"

// trust is what the member's liveness hangs on. Every time is that of sending,
// since the coordinator's clock starts after it.
type trust struct {
	accepted  time.Time // the last request that the coordinator accepted; zero if the member is in no generation
	calm      time.Time // the last one whose answer shows that no rebalance was under way
	suspended bool
}

// Trusted returns until when the member may assume its membership without
// another word from the coordinator; zero if it is not a member. While the
// application lets go of partitions in a rebalance, it is also bounded by when
// the coordinator will have them taken without us.
func (m *Member) Trusted() time.Time {
	if m.trust.accepted.IsZero() {
		return time.Time{}
	}
	return earliest(m.sessionEnd(), m.releaseDue())
}

// accept notes that the coordinator accepted q, which was asked under the
// present identity.
func (m *Member) accept(q question) {
	m.coordinator.failures = 0
	if q.at.After(m.trust.accepted) {
		m.trust.accepted = q.at
	}
	if m.trust.suspended && m.now.Before(m.Trusted()) {
		m.trust.suspended = false
		m.emit(Resumed{})
	}
}

// acceptCalm is accept for an answer that shows the group to be at rest.
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

func (m *Member) suspendDue() time.Time {
	if m.trust.suspended || m.trust.accepted.IsZero() || len(m.owned) == 0 {
		return time.Time{}
	}
	return m.sessionEnd()
}

// suspend makes the application assume that the partitions are lost, until the
// coordinator says what is so.
func (m *Member) suspend() {
	if !m.trust.suspended && len(m.owned) > 0 {
		m.trust.suspended = true
		m.emit(Suspended{})
	}
}
