package groupmember

import (
	"math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Member is one group member that speaks the classic protocol, eager or
// cooperative. It is not safe for concurrent use.
type Member struct {
	cfg      Config
	random   *rand.Rand
	instance *string // cfg.InstanceID as requests want it

	state      State
	identity          // who the coordinator thinks the member is
	protocol   string // chosen by the coordinator for this generation
	leader     bool   // of this generation
	skips      bool   // leads, and the plan is in place already (KIP-814)
	offered    []Protocol
	subscribed []string // topics, ascending; nil if the subscription does not say
	heeded     bool     // a static member has looked whether its subscription counts

	owned      Partitions // what the application has, with what it is letting go of
	ownedSince int32      // the generation in which owned was assigned; -1 if none
	giving     Partitions // what the open Revoke takes back
	target     Partitions // what will be owned once the open Revoke is answered

	last   Seq      // highest handed out
	ask    question // what the state waits for
	revoke question // the open Revoke
	lost   bool     // whether it has Lost
	find   question // the coordinator look-up
	beat   question // the heartbeat

	coordinator coordinator
	trust       trust
	rounds      rounds
	parting     parting
	commits     commits
	lookups     lookups
	settling    settling
	explaining  explaining

	beatAt  time.Time // next heartbeat
	retryAt time.Time // end of Waiting, or the next LeaveGroup
	askedAt time.Time // when the application last asked for records

	now time.Time // only set within Step
	out []Action  // only set within Step
}

// identity is what every request of a member of a generation carries, and what
// tells whether an answer is about the present.
type identity struct {
	id         string // "" if the coordinator has given none
	generation int32  // -1 if the member is in none
}

var nobody = identity{generation: -1}

// question is one that is open, or the zero value.
type question struct {
	seq   Seq
	at    time.Time // when it was asked
	as    identity  // under which it was asked
	place int       // to which coordinator: how many had been found by then
}

func (q question) open() bool { return q.seq != 0 }

// New returns a member that waits for Start, or all that is wrong with cfg.
func New(cfg Config) (*Member, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	m := &Member{
		cfg:        cfg,
		random:     rand.New(rand.NewPCG(cfg.Seed, 0)),
		identity:   nobody,
		ownedSince: -1,
	}
	if cfg.InstanceID != "" {
		m.instance = &cfg.InstanceID
	}
	return m, nil
}

// Step applies ev, which happened at now, and appends what must be done about
// it to out. Time must not go backwards from call to call. An exited member
// does nothing.
func (m *Member) Step(now time.Time, ev Event, out []Action) []Action {
	if m.state == Exited {
		return out
	}
	m.now, m.out = now, out
	m.take(ev)
	m.tick()
	out, m.out = m.out, nil
	return out
}

// take is the one gate for staleness: an answer to a question that is not open
// changes nothing, whatever it says.
func (m *Member) take(ev Event) {
	switch ev := ev.(type) {
	case Found:
		if _, ok := m.settle(&m.find, ev.Seq); ok {
			m.onFound(ev)
		}
	case Replied:
		m.replied(ev)
	case Encoded:
		if _, ok := m.settle(&m.ask, ev.Seq); ok {
			m.onEncoded(ev)
		}
	case Planned:
		if _, ok := m.settle(&m.ask, ev.Seq); ok {
			m.onPlanned(ev)
		}
	case Decoded:
		if _, ok := m.settle(&m.ask, ev.Seq); ok {
			m.onDecoded(ev)
		}
	case Released:
		if _, ok := m.settle(&m.revoke, ev.Seq); ok {
			m.onReleased()
		}
	case Start:
		m.onStart()
	case Rejoin:
		m.onRejoin(ev)
	case Asked:
		m.onAsked()
	case Commit:
		m.onCommit(ev)
	case Withdraw:
		m.onWithdraw(ev)
	case LookUp:
		m.onLookUp(ev)
	case Leave:
		m.onLeave(ev)
	case Abandon:
		m.onAbandon()
	case Elapsed: // tick does it
	}
}

// replied finds out which of the requests is answered.
func (m *Member) replied(ev Replied) {
	if q, ok := m.settle(&m.beat, ev.Seq); ok {
		m.onHeartbeat(q, ev)
		return
	}
	if q, ok := m.settle(&m.commits.flying, ev.Seq); ok {
		m.onCommitAnswer(q, ev)
		return
	}
	if q, ok := m.settle(&m.ask, ev.Seq); ok {
		switch m.state {
		case Joining:
			m.onJoinGroup(q, ev)
		case Syncing:
			m.onSyncGroup(q, ev)
		case Parting, Leaving:
			m.onFarewell(q, ev)
		case Idle, Finding, Waiting, Releasing, Encoding, Planning, Decoding, Yielding, Stable, Resting, Exited:
			// These have no request of their own out.
		}
		return
	}
	if l := m.lookups.answered(ev.Seq); l != nil {
		m.onOffsetFetch(l, ev)
	}
}

// settle closes q if it is the question seq, and returns what it was.
func (m *Member) settle(q *question, seq Seq) (question, bool) {
	if !q.open() || q.seq != seq {
		return question{}, false
	}
	was := *q
	*q = question{}
	return was, true
}

// question numbers a new question.
func (m *Member) question() question {
	m.last++
	return question{seq: m.last, at: m.now, as: m.identity, place: m.coordinator.place}
}

// send asks the coordinator.
func (m *Member) send(route Route, req kmsg.Request) question {
	q := m.question()
	m.emit(Send{Seq: q.seq, Route: route, Req: req})
	return q
}

// drop closes q without waiting for its answer.
func (m *Member) drop(q *question) {
	if q.open() {
		m.emit(Cancel{Seq: q.seq})
		*q = question{}
	}
}

func (m *Member) emit(a Action) { m.out = append(m.out, a) }

// enter is the only writer of the state.
func (m *Member) enter(to State, why string) {
	if to == m.state {
		return
	}
	m.spend()
	from := m.state
	m.state = to
	m.emit(Moved{From: from, To: to, Why: why})
}

func (m *Member) onStart() {
	if m.state != Idle {
		return
	}
	m.askedAt = m.now
	m.prepare(Cause{Kind: MemberStarted, Text: "consumer started"})
}

// answerOf returns the response of a Replied, or the failure in its place.
func answerOf[R kmsg.Response](ev Replied) (R, Failure) {
	resp, ok := ev.Resp.(R)
	if !ok && !ev.Failure.Failed() {
		return resp, Failure{Kind: Rejected, Text: "the answer is not one to this request"}
	}
	return resp, ev.Failure
}

// passes reports whether what failed may work at another time or with another
// coordinator.
func (f Failure) passes() bool {
	switch f.Kind {
	case Unreachable, TimedOut, Canceled:
		return true
	case NoFailure, BrokerRefused, Unsupported, Rejected, Forfeited, Suspect, Closed:
		return false
	}
	return false
}

// Status returns a copy of what the member knows of itself.
func (m *Member) Status() Status {
	return Status{
		State:       m.state,
		MemberID:    m.id,
		Generation:  m.generation,
		Protocol:    m.protocol,
		Leader:      m.leader,
		Coordinator: m.coordinator.known,
		Suspended:   m.trust.suspended,
		Owned:       m.owned,
		OwnedSince:  m.ownedSince,
		Last:        m.explaining.last,
	}
}
