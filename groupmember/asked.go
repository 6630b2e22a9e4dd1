package groupmember

import "time"

// onAsked takes the application's sign of life (KIP-62).
func (m *Member) onAsked() {
	m.askedAt = m.now
	switch {
	case m.state == Resting:
		m.prepare(Cause{Kind: ApplicationBack, Text: "application asks for records again"})
	case m.parting.goal == toRest:
		m.parting.goal = toReturn
	}
}

// pollDue is when the application counts as stuck. While a round is in flight
// it does not: what the round brings is looked at once it is there
// (KAFKA-8104).
func (m *Member) pollDue() time.Time {
	if m.cfg.PollInterval == 0 {
		return time.Time{}
	}
	switch m.state {
	case Releasing, Yielding, Stable:
		return m.askedAt.Add(m.cfg.PollInterval)
	case Idle, Finding, Waiting, Encoding, Joining, Planning, Syncing, Decoding, Parting, Leaving, Resting, Exited:
	}
	return time.Time{}
}

// onPollOverdue gives the partitions to members that work. A static member
// only falls silent, and its session decides (KIP-345).
func (m *Member) onPollOverdue() {
	m.warn("the application has not asked for records for " + m.cfg.PollInterval.String() + "; leaving the group until it does")
	m.parting.remain = m.instance != nil
	silent := Cause{Kind: ApplicationSilent, Text: "max poll interval exceeded"}
	m.disturb(silent)
	m.lose()
	m.part(toRest, silent)
}
