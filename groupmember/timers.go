package groupmember

import "time"

// Deadline returns when to Step an Elapsed, or zero for never. It may have
// passed already.
func (m *Member) Deadline() time.Time {
	if m.state == Exited {
		return time.Time{}
	}
	return earliest(
		m.suspendDue(), m.releaseDue(), m.pollDue(), m.findDue(),
		m.retryDue(), m.askAgainDue(), m.beatDue(), m.commitDue(), m.lookUpDue(),
	)
}

// tick does what has become due. What one of these makes due in an earlier one
// is seen by the next Deadline.
func (m *Member) tick() {
	m.whenDue(m.suspendDue(), (*Member).onSilence)
	m.whenDue(m.releaseDue(), (*Member).onReleaseOverdue)
	m.whenDue(m.pollDue(), (*Member).onPollOverdue)
	m.whenDue(m.findDue(), (*Member).lookForCoordinator)
	m.whenDue(m.retryDue(), (*Member).onRetry)
	m.whenDue(m.askAgainDue(), (*Member).askAgain)
	m.whenDue(m.beatDue(), (*Member).heartbeat)
	m.whenDue(m.commitDue(), (*Member).commit)
	m.whenDue(m.lookUpDue(), (*Member).lookUp)
}

func (m *Member) whenDue(at time.Time, do func(*Member)) {
	if !at.IsZero() && !m.now.Before(at) && m.state != Exited {
		do(m)
	}
}

// backoff returns the next wait of a series of failures: it doubles from
// MinBackoff to MaxBackoff and is spread by 20 % to both sides (KIP-580).
func (m *Member) backoff(failures *int) time.Duration {
	wait := m.cfg.MinBackoff
	for range *failures {
		if wait = min(2*wait, m.cfg.MaxBackoff); wait == m.cfg.MaxBackoff {
			break
		}
	}
	*failures++
	return time.Duration(float64(wait) * (0.8 + 0.4*m.random.Float64()))
}

func earliest(times ...time.Time) time.Time {
	var first time.Time
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}
