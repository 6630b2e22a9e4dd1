package groupmember

import "time"

// extraBeats is how many heartbeats one change in the group may cost beyond those of
// every interval.
const extraBeats = 8

// freeSeries is how many rounds may follow one another before the series begin
// later and later.
const freeSeries = 8

// settling is the series of heartbeats with which a member looks out for the next
// round right after one: the second one of a cooperative rebalance, or the next
// member that comes or goes. They are sent at Settle, twice, four times ... Settle after the
// round, up to the interval between heartbeats.
//
// In a group that does not come to rest they must not make a storm: after some rounds in
// a row each series begins after twice the time of the last, up to MaxBackoff, until
// the group has been at rest for two intervals.
type settling struct {
	wait time.Duration // until the next one; zero if the series is over
	left int           // how many may follow

	since time.Time // the end of the last round
	row   int       // rounds since the group was at rest
}

// quicken begins the series.
func (m *Member) quicken() {
	s := &m.settling
	if m.now.Sub(s.since) < 2*m.cfg.HeartbeatInterval {
		s.row++
	} else {
		s.row = 0
	}
	s.since, s.wait, s.left = m.now, 0, 0
	first := m.cfg.Settle
	for i := freeSeries; i <= s.row && first < m.cfg.MaxBackoff; i++ {
		first = min(2*first, m.cfg.MaxBackoff)
	}
	if first < 0 || first >= m.cfg.HeartbeatInterval {
		return
	}
	s.wait, s.left = first, extraBeats-1
	m.beatAt = earliest(m.beatAt, m.now.Add(first))
}

// pace returns how long after this heartbeat the next one follows. In a round
// there is nothing to look out for.
func (m *Member) pace() time.Duration {
	s := &m.settling
	if m.state != Stable || s.left <= 0 || s.wait >= m.cfg.HeartbeatInterval {
		s.wait, s.left = 0, 0
		return m.cfg.HeartbeatInterval
	}
	wait := s.wait // since the round: as long as the time that has passed
	s.wait *= 2
	s.left--
	return wait
}
