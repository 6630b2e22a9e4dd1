package groupmember

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// encode asks for the subscription. It is asked anew for every JoinGroup, so
// that what the leader reads is what is so.
func (m *Member) encode() {
	m.enter(Encoding, m.rounds.why)
	m.ask = m.question()
	m.emit(Encode{Seq: m.ask.seq, Owned: m.owned, Generation: m.ownedSince})
}

// onEncoded sends the JoinGroup.
func (m *Member) onEncoded(ev Encoded) {
	switch {
	case ev.Failure.Failed():
		m.warn("the subscription could not be encoded: " + ev.Failure.Text)
		m.wait(Cause{Kind: SubscriptionFailed, Text: "subscription not encoded"})
	case len(ev.Subscription.Protocols) == 0:
		m.fail(Failure{Kind: Rejected, Text: "the subscription names no assignor"})
	case !m.coordinator.known:
		m.approach()
	default:
		m.offered, m.subscribed = ev.Subscription.Protocols, ev.Subscription.Topics
		m.join()
	}
}

// join opens a round, or enters one: every member of the group sends a
// JoinGroup, and the coordinator answers all of them when the last one is in
// or the largest rebalance timeout among them has passed.
func (m *Member) join() {
	m.enter(Joining, m.rounds.why)
	m.rounds.doubts = 0
	if m.generation < 0 {
		m.beatAt = m.now.Add(m.cfg.HeartbeatInterval)
	}

	req := kmsg.NewPtrJoinGroupRequest()
	req.Group = m.cfg.Group
	req.SessionTimeoutMillis = int32(m.cfg.SessionTimeout.Milliseconds())
	req.RebalanceTimeoutMillis = int32(m.cfg.RebalanceTimeout.Milliseconds())
	req.MemberID = m.id
	req.InstanceID = m.instance
	req.ProtocolType = m.cfg.ProtocolType
	for _, p := range m.offered {
		protocol := kmsg.NewJoinGroupRequestProtocol()
		protocol.Name, protocol.Metadata = p.Name, p.Metadata
		req.Protocols = append(req.Protocols, protocol)
	}
	req.Reason = reason(m.rounds.why) // KIP-800
	m.attempt(req.Reason, 1)
	m.ask = m.send(RouteGroup, req)
}

// onJoinGroup reads the answer.
func (m *Member) onJoinGroup(q question, ev Replied) {
	resp, failure := answerOf[*kmsg.JoinGroupResponse](ev)
	if failure.Failed() {
		m.unanswered(q, "JoinGroup", failure)
		return
	}
	switch code := kerr.TypedErrorForCode(resp.ErrorCode); code {
	case nil:
		m.onJoined(q, resp)
	case kerr.MemberIDRequired: // KIP-394: come back with the ID you were given
		if q.as.id != "" {
			m.rounds.hurried++
		}
		m.id = resp.MemberID
		m.rounds.why = "need to re-join with the given member-id"
		m.proceed()
	case kerr.CoordinatorLoadInProgress:
		m.wait(because(RequestRefused, code, "JoinGroup"))
	case kerr.NotCoordinator, kerr.CoordinatorNotAvailable:
		m.strayed(q)
		m.hurry(because(CoordinatorLost, code, "JoinGroup"))
	case kerr.RebalanceInProgress: // the group is being converted (KIP-848), or could not be persisted
		m.hurry(because(GroupRebalancing, code, "JoinGroup"))
	case kerr.UnknownMemberID:
		m.expelled(nobody, because(MemberExpelled, code, "JoinGroup"))
	case kerr.IllegalGeneration:
		m.expelled(m.sameID(), because(MemberExpelled, code, "JoinGroup"))
	case kerr.FencedInstanceID, kerr.GroupMaxSizeReached, kerr.InconsistentGroupProtocol, kerr.InvalidSessionTimeout,
		kerr.InvalidGroupID, kerr.GroupAuthorizationFailed, kerr.UnsupportedVersion:
		m.fail(refused(resp.ErrorCode, "joining"))
	default:
		if passing(code) {
			m.wait(because(RequestRefused, code, "JoinGroup"))
		} else {
			m.fail(refused(resp.ErrorCode, "joining"))
		}
	}
}

// onJoined ends the join. A follower goes straight to SyncGroup and waits there
// for the plan; the leader is told who is in the group and makes the plan
// first.
func (m *Member) onJoined(q question, resp *kmsg.JoinGroupResponse) {
	leads := resp.LeaderID == resp.MemberID
	if resp.MemberID != "" {
		m.id = resp.MemberID // whatever else is wrong, as this one the group knows us
	}
	if resp.ProtocolType != nil && *resp.ProtocolType != m.cfg.ProtocolType { // KIP-559
		m.fail(Failure{Kind: Rejected, Text: "the group is of protocol type " + *resp.ProtocolType + ", this member of " + m.cfg.ProtocolType + ": use another group"})
		return
	}
	if problem := m.absurd(resp, leads); problem != "" {
		m.warn("JoinGroup was answered with " + problem)
		m.wait(Cause{Kind: AnswerSenseless, Text: "JoinGroup answered with " + problem})
		return
	}
	if m.missedRound(q, resp.Generation) {
		m.expelled(m.sameID(), Cause{Kind: RoundMissed, Text: "a round has ended without this member"})
		return
	}
	m.identity = identity{id: resp.MemberID, generation: resp.Generation}
	m.protocol, m.leader = *resp.Protocol, leads
	m.trust.synced, m.trust.place = false, q.place
	m.noteJoined(resp.LeaderID)
	m.accept(q)
	m.beatAt = m.now.Add(m.cfg.HeartbeatInterval)

	if leads {
		m.plan(resp)
		return
	}
	m.sync("follower", nil)
}

// missedRound reports whether a round may have ended without the member between
// its generation and the one that it joins. A static member is kept then (KIP-345),
// and what it retained may have been given away.
func (m *Member) missedRound(q question, generation int32) bool {
	last := m.generation
	if m.unsaved(q.place) {
		last = m.ownedSince
	}
	return len(m.owned) > 0 && generation > last+1
}

// unsaved reports whether the coordinator found as that place may know nothing of
// the member's generation: the one before it was lost ahead of the SyncGroup. Then the number is
// given again, and what is asked under it may pass for something else.
func (m *Member) unsaved(place int) bool {
	return !m.trust.synced && m.trust.place != place
}

// absurd says what is wrong with a join that claims to have succeeded.
func (m *Member) absurd(resp *kmsg.JoinGroupResponse, leads bool) string {
	switch {
	case resp.MemberID == "":
		return "no member ID"
	case resp.Generation < 0:
		return "a negative generation"
	case resp.Protocol == nil:
		return "no protocol name"
	case !slices.ContainsFunc(m.offered, func(p Protocol) bool { return p.Name == *resp.Protocol }):
		return "a protocol that this member did not offer"
	case leads && !slices.ContainsFunc(resp.Members, func(j kmsg.JoinGroupResponseMember) bool { return j.MemberID == resp.LeaderID }):
		return "a leader that is not in the member list"
	}
	return ""
}

// unanswered goes on after a JoinGroup or SyncGroup that failed on its way.
func (m *Member) unanswered(q question, api string, failure Failure) {
	if !failure.passes() {
		m.fail(failure)
		return
	}
	m.strayed(q)
	m.hurry(Cause{Kind: CoordinatorLost, Text: api + " was not answered"})
}

// reason is why as requests want it: Kafka takes 255 characters (KIP-800).
func reason(why string) *string {
	if len(why) > 255 {
		why = why[:255]
	}
	return &why
}

func because(kind CauseKind, code *kerr.Error, api string) Cause {
	return Cause{Kind: kind, Code: code.Code, Text: "encountered " + code.Message + " from " + api + " response"}
}

// warn tells of something once, not at each try: it is told again only after
// something else, or after the member was stable.
func (m *Member) warn(text string) {
	if text != m.rounds.warned {
		m.rounds.warned = text
		m.emit(Warned{Text: text})
	}
}
