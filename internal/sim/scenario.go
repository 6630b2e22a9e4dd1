package sim

import (
	"fmt"
	"time"

	"github.com/musterkafka/muster/groupmember"
)

// scenario is what a seed makes of the group before anything happens.
type scenario struct {
	partitions   counts // that there can be
	beginning    counts // that there are from the start
	calm         bool   // no faults: members only come, go and change their minds
	sluggish     bool   // processes take long for what their members ask of them
	initialDelay time.Duration
	storm        time.Duration // how long there is trouble
	rhythm       time.Duration // the mean time between two troubles
	rebalance    time.Duration // the largest rebalance timeout
	session      time.Duration // the largest session timeout
	era          *era          // of the brokers
}

// kinds of groups by which members they have.
const (
	eagerGroup = iota
	cooperativeGroup
	mixedGroup // on the way from one to the other (KIP-429)
	kinds
)

func (w *world) makeScenario() scenario {
	r := w.random
	s := scenario{
		partitions: counts{int32(1 + r.IntN(5)), int32(r.IntN(3))},
		calm:       r.IntN(8) == 0,
		sluggish:   r.IntN(4) == 0,
		storm:      w.between(15*time.Second, 40*time.Second),
		rhythm:     w.between(300*time.Millisecond, 5*time.Second),
	}
	s.beginning = s.partitions
	if r.IntN(3) == 0 {
		s.beginning = counts{1, 0}
	}
	if r.IntN(3) == 0 {
		s.initialDelay = time.Second
	}
	s.era = [...]*era{&present, &present, &present, &present, &eraOf24, &eraOf20}[r.IntN(6)]
	kind := r.IntN(kinds)
	for id := range 1 + r.IntN(4) {
		seat := w.makeSeat(id, kind, s.era)
		if s.calm {
			seat.config.RebalanceTimeout += 15 * time.Second // longer than members take to hear of a round
		}
		s.rebalance = max(s.rebalance, seat.config.RebalanceTimeout)
		s.session = max(s.session, seat.config.SessionTimeout)
		if seat.config.InstanceID != "" {
			unwatched := s.beginning != s.partitions // what grows while the leader is away is news to nobody
			w.owing = w.owing || seat.config.Cooperative || unwatched
		}
		w.seats = append(w.seats, seat)
	}
	return s
}

func (w *world) makeSeat(id, kind int, era *era) *seat {
	r := w.random
	transacts := era == &present && r.IntN(4) == 0
	cooperative := kind == cooperativeGroup || kind == mixedGroup && r.IntN(2) == 0
	s := &seat{id: id, transacts: transacts, topics: w.subscription(), config: groupmember.Config{
		Group:             "g",
		SessionTimeout:    w.between(6*time.Second, 10*time.Second),
		RebalanceTimeout:  w.between(4*time.Second, 12*time.Second),
		HeartbeatInterval: w.between(time.Second, 2*time.Second),
		Settle:            [...]time.Duration{50 * time.Millisecond, 50 * time.Millisecond, -1}[r.IntN(3)],
		Cooperative:       cooperative,
	}}
	if era != &eraOf20 && r.IntN(3) == 0 {
		s.config.InstanceID = fmt.Sprintf("i%d", id)
	}
	if r.IntN(2) == 0 {
		s.config.PollInterval = w.between(4*time.Second, 10*time.Second)
	}
	if s.config.InstanceID == "" && r.IntN(4) == 0 {
		s.pattern, s.topics = true, nil
	}
	switch {
	case cooperative:
		s.protocols = []string{cooperativeProtocol}
	case kind == mixedGroup:
		s.protocols = []string{cooperativeProtocol, eagerProtocol}
	default:
		s.protocols = []string{eagerProtocol}
	}
	return s
}

func (w *world) subscription() []string {
	return topicNames[:1+w.random.IntN(2)]
}
