package coordinator

import (
	"bytes"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// State is where the group stands.
type State uint8

const (
	Empty      State = iota // no members
	Preparing               // members join: JoinGroups are held
	Completing              // the leader plans: SyncGroups are held
	Stable                  // everybody has an assignment, or may fetch it
)

// newMemberPatience is how long the coordinator holds the first JoinGroup of a
// member, which cannot heartbeat yet.
const newMemberPatience = 5 * time.Minute

// Call names a request of the one who asks; it comes back with the answer.
// Zero is no call.
type Call uint64

// Answer is a response to a call, which may have been held.
type Answer struct {
	Call Call
	Resp kmsg.Response
}

// Group is one classic group. It is not safe for concurrent use.
type Group struct {
	log          *Log
	initialDelay time.Duration

	state      State
	generation int32
	protocol   string
	leader     string
	members    []*member // in the order they came
	pending    []pending // IDs given out and not joined with yet

	joinEnd     time.Time     // of Preparing
	initial     bool          // Preparing came after Empty, so it lasts for the initial delay
	initialLeft time.Duration // by which that may be extended
	grown       bool          // a member came in the last initial delay
	syncEnd     time.Time     // by when all must have sent a SyncGroup

	now time.Time
	out []Answer
}

type member struct {
	id                 string
	instance           string
	session, rebalance time.Duration
	protocols          []kmsg.JoinGroupRequestProtocol
	assignment         []byte

	isNew     bool      // its first JoinGroup is held
	join      Call      // the held JoinGroup
	sync      Call      // the held SyncGroup
	toSync    bool      // joined this generation and has not sent a SyncGroup yet
	expiresAt time.Time // the end of its session; zero while a held request keeps it
}

type pending struct {
	id        string
	expiresAt time.Time
}

// Load returns the group as the log has it, at a broker that has just become its
// coordinator. Every session starts anew. The first round of an empty group is held
// open for initialDelay.
func Load(log *Log, initialDelay time.Duration, now time.Time) *Group {
	g := &Group{log: log, initialDelay: initialDelay, now: now}
	g.restore()
	return g
}

// State returns where the group stands.
func (g *Group) State() State { return g.state }

// Generation returns the current generation; while members join it is that of
// the round before.
func (g *Group) Generation() int32 { return g.generation }

// Size returns the number of members, without those that only have an ID.
func (g *Group) Size() int { return len(g.members) }

// Has reports whether id is a member.
func (g *Group) Has(id string) bool { return g.member(id) != nil }

// Ask takes a request in and appends what can be answered now to out, perhaps
// to calls that were held.
func (g *Group) Ask(now time.Time, call Call, req kmsg.Request, out []Answer) []Answer {
	g.now, g.out = now, out
	switch req := req.(type) {
	case *kmsg.JoinGroupRequest:
		g.joinGroup(call, req)
	case *kmsg.SyncGroupRequest:
		g.syncGroup(call, req)
	case *kmsg.HeartbeatRequest:
		g.answer(call, heartbeatAnswer(g.heartbeat(req)))
	case *kmsg.LeaveGroupRequest:
		g.leaveGroup(call, req)
	case *kmsg.OffsetCommitRequest:
		g.offsetCommit(call, req)
	case *kmsg.TxnOffsetCommitRequest:
		g.txnOffsetCommit(call, req)
	case *kmsg.OffsetFetchRequest:
		g.answer(call, g.log.fetch(req))
	default:
		g.answer(call, Refuse(req, kerr.UnsupportedVersion.Code))
	}
	return g.done()
}

// Elapsed does what is due at now.
func (g *Group) Elapsed(now time.Time, out []Answer) []Answer {
	g.now, g.out = now, out
	g.expirePending()
	g.expireSessions()
	if due(g.joinEnd, now) {
		g.endJoin()
	}
	if due(g.syncEnd, now) {
		g.endSync()
	}
	return g.done()
}

func (g *Group) done() []Answer {
	out := g.out
	g.out = nil
	return out
}

// Deadline returns when Elapsed has something to do, or zero for never.
func (g *Group) Deadline() time.Time {
	first := earlier(g.joinEnd, g.syncEnd)
	for _, m := range g.members {
		first = earlier(first, m.expiresAt)
	}
	for _, p := range g.pending {
		first = earlier(first, p.expiresAt)
	}
	return first
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func due(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

func (g *Group) answer(call Call, resp kmsg.Response) {
	if call != 0 {
		g.out = append(g.out, Answer{Call: call, Resp: resp})
	}
}

func (g *Group) member(id string) *member {
	for _, m := range g.members {
		if m.id == id {
			return m
		}
	}
	return nil
}

func (g *Group) static(instance string) *member {
	for _, m := range g.members {
		if instance != "" && m.instance == instance {
			return m
		}
	}
	return nil
}

// validate finds the member that a request is from, or what is wrong with it.
func (g *Group) validate(id string, instance *string) (*member, *kerr.Error) {
	if instance != nil {
		switch holder := g.static(*instance); {
		case holder == nil:
			return nil, kerr.UnknownMemberID
		case holder.id != id:
			return nil, kerr.FencedInstanceID
		}
	}
	m := g.member(id)
	if m == nil {
		return nil, kerr.UnknownMemberID
	}
	return m, nil
}

// keepAlive starts the member's session anew.
func (g *Group) keepAlive(m *member) { m.expiresAt = g.now.Add(m.session) }

// remove takes a member out of the group, which then goes on without it.
func (g *Group) remove(m *member) {
	if m.join != 0 {
		g.answer(m.join, joinRefusal(m.id, kerr.UnknownMemberID))
		m.join = 0
	}
	g.takeOut(m)
	switch g.state {
	case Stable, Completing:
		g.prepare()
	case Preparing:
		g.maybeCompleteJoin()
	case Empty:
	}
}

func (g *Group) takeOut(m *member) {
	g.members = slices.DeleteFunc(g.members, func(other *member) bool { return other == m })
	if g.leader == m.id {
		g.leader = ""
		if len(g.members) > 0 {
			g.leader = g.members[0].id
		}
	}
}

func (g *Group) expireSessions() {
	for _, m := range slices.Clone(g.members) {
		if !due(m.expiresAt, g.now) {
			continue
		}
		m.expiresAt = time.Time{}
		held := !m.isNew && (m.join != 0 || m.sync != 0)
		if !held && g.member(m.id) == m {
			g.remove(m)
		}
	}
}

func (g *Group) expirePending() {
	before := len(g.pending)
	g.pending = slices.DeleteFunc(g.pending, func(p pending) bool { return due(p.expiresAt, g.now) })
	if len(g.pending) < before {
		g.maybeCompleteJoin()
	}
}

// offersSame reports whether a JoinGroup says nothing new.
func (m *member) offersSame(protocols []kmsg.JoinGroupRequestProtocol) bool {
	return slices.EqualFunc(m.protocols, protocols, func(a, b kmsg.JoinGroupRequestProtocol) bool {
		return a.Name == b.Name && bytes.Equal(a.Metadata, b.Metadata)
	})
}
