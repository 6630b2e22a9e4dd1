package groupmember

import "time"

// extraBeats is how many heartbeats one change in the group may cost beyond those of
// every interval.
const extraBeats = 8

// settling is the series of heartbeats with which a member looks out for the next
// round right after one: the second one of a cooperative rebalance, or the next
// member that comes or goes. They are sent at Settle, twice, four times ... Settle after the
// round, up to the interval between heartbeats.
type settling struct {
	wait time.Duration // until the next one; zero if the series is over
	left int           // how many may follow
}

// quicken begins the series.
func (m *Member) quicken() {
	m.settling = settling{}
	if m.cfg.Settle < 0 || m.cfg.Settle >= m.cfg.HeartbeatInterval {
		return
	}
	m.settling = settling{wait: m.cfg.Settle, left: extraBeats - 1}
	m.beatAt = earliest(m.beatAt, m.now.Add(m.cfg.Settle))
}

// pace returns how long after this heartbeat the next one follows. In a round
// there is nothing to look out for.
func (m *Member) pace() time.Duration {
	s := &m.settling
	if m.state != Stable || s.left <= 0 || s.wait >= m.cfg.HeartbeatInterval {
		*s = settling{}
		return m.cfg.HeartbeatInterval
	}
	wait := s.wait // since the round: as long as the time that has passed
	s.wait *= 2
	s.left--
	return wait
}
