package groupmember

import "time"

// hurries is how many attempts to join may follow one another at once before
// back-off sets in. Without it a broker that keeps forgetting its members
// would be asked thousands of times a second.
const hurries = 3

// failedRounds is how many rounds in a row may fail for want of a plan, or of
// an assignment that can be read, before the member gives up.
const failedRounds = 3

// rounds is what the member remembers from one attempt to join to the next.
type rounds struct {
	why      string // sent with the JoinGroup (KIP-800)
	again    Cause  // why another round shall follow this one; zero if none shall
	hurried  int    // attempts made at once, since last Stable
	failures int    // for back-off, since last Stable
	failed   int    // in a row, for want of a plan or a readable assignment
	foreign  int    // in a row, with partitions that were not asked for
	warned   string // the last warning, since last Stable
	doubts   int    // heartbeats that contradict the held request
}

// onRejoin notes that another round is wanted. A round that has not asked for
// the subscription yet will do; one that has is finished first, since a second
// JoinGroup on top of the first would mix up both.
func (m *Member) onRejoin(ev Rejoin) {
	switch m.state {
	case Stable:
		m.prepare(Cause{Kind: RejoinRequested, Text: ev.Why})
	case Encoding, Joining, Planning, Syncing, Decoding, Yielding:
		m.rounds.again = Cause{Kind: RejoinRequested, Text: ev.Why}
	case Idle, Finding, Waiting, Releasing, Parting, Leaving, Resting, Exited:
	}
}

// prepare begins a round. An eager member gives everything back first, while
// it is still a member and may commit.
func (m *Member) prepare(c Cause) {
	m.disturb(c)
	m.rounds.why, m.rounds.again = c.Text, Cause{}
	if m.revoke.open() {
		m.enter(Releasing, c.Text)
		return
	}
	if !m.cfg.Cooperative && len(m.owned) > 0 {
		m.enter(Releasing, c.Text)
		m.release(m.owned)
		return
	}
	m.proceed()
}

// hurry begins a round without the wait that otherwise follows a failure.
func (m *Member) hurry(c Cause) {
	m.rounds.hurried++
	m.prepare(c)
}

// proceed goes on with a round once nothing has to be given back any more.
func (m *Member) proceed() {
	if m.rounds.hurried > hurries {
		m.pause()
		return
	}
	m.approach()
}

// approach goes on with a round now.
func (m *Member) approach() {
	if m.coordinator.known {
		m.encode()
		return
	}
	m.enter(Finding, m.rounds.why)
	m.seek()
}

// wait puts the next attempt off.
func (m *Member) wait(c Cause) {
	m.disturb(c)
	m.rounds.why = c.Text
	m.pause()
}

func (m *Member) pause() {
	m.enter(Waiting, m.rounds.why)
	m.retryAt = m.now.Add(m.backoff(&m.rounds.failures))
}

func (m *Member) retryDue() time.Time {
	if m.state == Waiting || m.state == Leaving {
		return m.retryAt
	}
	return time.Time{}
}

func (m *Member) onRetry() {
	m.retryAt = time.Time{}
	if m.state == Leaving {
		m.sayFarewell()
		return
	}
	m.approach()
}

// doubt counts answers to heartbeats that cannot be true while the broker
// holds our JoinGroup or SyncGroup. The first may have crossed its answer; a
// second, an interval later, shows that the answer will not come. A heartbeat that was
// sent before the request says nothing of it.
func (m *Member) doubt(beat question) bool {
	if beat.seq < m.ask.seq {
		return false
	}
	m.rounds.doubts++
	return m.rounds.doubts >= 2
}

// giveUp stops waiting for a held request and tries again, with the same
// member ID.
func (m *Member) giveUp(c Cause) {
	m.drop(&m.ask)
	m.hurry(c)
}

// askAgainDue is when a held request is asked again. The broker may have forgotten
// it without a sign: one that was given up earlier came later and took its place,
// or its answer was lost on a connection that looks alive. To ask again with the same
// ID changes nothing for a group that holds it; without one, another member would
// be asking.
func (m *Member) askAgainDue() time.Time {
	if m.beside() && m.ask.open() && m.id != "" {
		return m.ask.at.Add(m.cfg.RebalanceTimeout)
	}
	return time.Time{}
}

func (m *Member) askAgain() {
	m.drop(&m.ask)
	m.prepare(Cause{Kind: RequestUnanswered, Text: "no answer within the rebalance timeout"})
}

// expelled says that the coordinator does not count the member in any more:
// what it owned may be another's already. What is left of the identity says as
// whom to come back.
func (m *Member) expelled(left identity, c Cause) {
	m.disturb(c)
	m.drop(&m.ask)
	m.forget(left)
	m.lose()
	switch m.state {
	case Parting, Leaving:
		if !m.revoke.open() {
			m.depart(c.Text)
		}
	case Idle, Finding, Waiting, Releasing, Encoding, Joining, Planning, Syncing, Decoding, Yielding, Stable, Resting, Exited:
		m.hurry(c)
	}
}

// forget ends the membership in a generation, and with it every commit that
// was asked for in it.
func (m *Member) forget(left identity) {
	m.identity = left
	m.protocol, m.leader = "", false
	m.trust.accepted, m.trust.calm, m.trust.synced = time.Time{}, time.Time{}, false
	m.beatAt = time.Time{}
	m.forfeitCommits()
}

// sameID is who to come back as after ILLEGAL_GENERATION; after
// UNKNOWN_MEMBER_ID it is nobody.
func (m *Member) sameID() identity { return identity{id: m.id, generation: -1} }
