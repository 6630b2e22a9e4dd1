package groupmember

import "time"

// release takes partitions back while the member still owns them, so the
// application may commit.
func (m *Member) release(partitions Partitions) {
	m.revoke, m.lost = m.question(), false
	m.giving = partitions
	m.emit(Revoke{Seq: m.revoke.seq, Partitions: partitions})
}

// lose takes everything back at once: another member may have it already. An
// open Revoke turns into this one; the application hears by Suspended that
// there is no time left.
func (m *Member) lose() {
	if len(m.owned) == 0 {
		return
	}
	if m.revoke.open() {
		m.suspend()
		m.drop(&m.revoke)
	}
	all := m.owned
	m.revoke, m.lost = m.question(), true
	m.noteLost(all)
	m.owned, m.ownedSince, m.giving, m.target = nil, -1, nil, nil
	m.trust.suspended = false
	m.emit(Revoke{Seq: m.revoke.seq, Partitions: all, Lost: true})
	m.forfeitCommits()
	m.forfeitLookUps(all)
}

// onReleased goes on once the application has let go.
func (m *Member) onReleased() {
	gone := m.giving
	m.owned, m.giving = subtract(m.owned, gone), nil
	if len(m.owned) == 0 {
		m.owned, m.ownedSince = nil, -1
	}
	m.noteGivenBack(gone)
	m.forfeitLookUps(gone)
	switch m.state {
	case Releasing:
		m.proceed()
	case Yielding:
		m.rounds.again = Cause{Kind: PartitionsYielded, Text: "need to revoke partitions and re-join"}
		m.settleDown(m.target)
	case Parting:
		if len(m.owned) > 0 {
			m.release(m.owned)
			return
		}
		m.depart(m.parting.cause.Text)
	case Idle, Finding, Waiting, Encoding, Joining, Planning, Syncing, Decoding, Stable, Leaving, Resting, Exited:
		// No Revoke is open in these.
	}
}

// releaseDue is when the coordinator will have removed the member if it has
// not joined the rebalance by then: its rebalance timeout after the group was
// last seen at rest.
func (m *Member) releaseDue() time.Time {
	if !m.revoke.open() || m.lost || m.trust.calm.IsZero() {
		return time.Time{}
	}
	return m.roundEnd()
}

// onReleaseOverdue gives up on the application: others will be given the
// partitions now.
func (m *Member) onReleaseOverdue() {
	m.warn("the application did not let go of its partitions within the rebalance timeout; they are lost")
	m.expelled(m.sameID(), Cause{Kind: ReleaseOverdue, Text: "partitions were not released in time"})
}
