package groupmember

import (
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// goal is what follows once the member has left the group.
type goal uint8

const (
	stay     goal = iota
	toReturn      // back after a while
	toRest        // back when the application asks for records
	forGood       // Exit
)

// parting is what the member remembers of its leave-taking.
type parting struct {
	goal    goal
	cause   Cause // its Text is sent with the LeaveGroup (KIP-800)
	remain  bool  // without a LeaveGroup (KIP-1092)
	failure Failure
}

func (m *Member) onLeave(ev Leave) {
	if m.parting.goal == forGood {
		return
	}
	m.parting.remain = ev.Remain
	m.part(forGood, Cause{Kind: LeaveRequested, Text: ev.Why})
}

// part begins to leave: the application lets go, then the coordinator is told.
// What the present state waits for does not matter any more, except for a first
// join: its answer brings the ID to leave with.
func (m *Member) part(goal goal, c Cause) {
	m.parting.goal, m.parting.cause = goal, c
	m.disturbMembership(c)
	why := c.Text
	if m.state == Parting || m.state == Leaving {
		return
	}
	m.commits.held = false
	firstJoin := m.state == Joining && m.id == ""
	if !firstJoin {
		m.drop(&m.ask)
	}
	switch {
	case m.revoke.open():
		m.enter(Parting, why)
	case len(m.owned) > 0:
		m.enter(Parting, why)
		m.release(m.owned)
	default:
		m.depart(why)
	}
	m.restampLate() // the assignment that decides is not waited for
}

// depart tells the coordinator, or finds that there is nothing to tell.
func (m *Member) depart(why string) {
	switch {
	case m.parting.remain:
		m.gone(why)
	case m.ask.open(): // a first join
		m.enter(Leaving, why)
	case m.id == "":
		m.gone(why)
	case !m.coordinator.known:
		m.enter(Leaving, why)
		m.seek()
	default:
		m.enter(Leaving, why)
		m.sayFarewell()
	}
}

// sayFarewell sends the LeaveGroup, never behind a held request. To say it
// twice does no harm.
func (m *Member) sayFarewell() {
	if m.ask.open() {
		return
	}
	if !m.coordinator.known {
		m.seek()
		return
	}
	m.whenDue(m.commitDue(), (*Member).commit)
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group = m.cfg.Group
	req.MemberID = m.id // before version 3
	member := kmsg.NewLeaveGroupRequestMember()
	member.MemberID = m.id
	member.InstanceID = m.instance
	member.Reason = reason(m.parting.cause.Text) // KIP-800
	req.Members = append(req.Members, member)
	m.attempt(member.Reason, 0)
	m.ask = m.send(RouteControl, req)
}

// onFarewell reads the answer to LeaveGroup, or to the first join that it
// needs the ID from.
func (m *Member) onFarewell(q question, ev Replied) {
	if q.as.id == "" {
		m.onLateJoin(ev)
		return
	}
	resp, failure := answerOf[*kmsg.LeaveGroupResponse](ev)
	if failure.Failed() {
		if failure.passes() {
			m.strayed(q)
			m.sayFarewellLater()
		} else {
			m.warn("LeaveGroup failed: " + failure.Text)
			m.gone(m.parting.cause.Text)
		}
		return
	}
	switch code := kerr.TypedErrorForCode(leaveCode(resp)); code {
	case nil, kerr.UnknownMemberID, kerr.FencedInstanceID, kerr.GroupIDNotFound: // in any case we are not in it
		m.gone(m.parting.cause.Text)
	case kerr.NotCoordinator, kerr.CoordinatorNotAvailable:
		m.strayed(q)
		m.sayFarewellLater()
	case kerr.CoordinatorLoadInProgress:
		m.retryAt = m.now.Add(m.backoff(&m.coordinator.failures))
	default:
		if passing(code) {
			m.retryAt = m.now.Add(m.backoff(&m.coordinator.failures))
		} else {
			m.warn("LeaveGroup was refused: " + code.Message)
			m.gone(m.parting.cause.Text)
		}
	}
}

// leaveCode is the code for the one member that we ask to leave.
func leaveCode(resp *kmsg.LeaveGroupResponse) int16 {
	if resp.ErrorCode == 0 && len(resp.Members) > 0 { // version 3 and up (KIP-345)
		return resp.Members[0].ErrorCode
	}
	return resp.ErrorCode
}

// sayFarewellLater says it as soon as a coordinator is known, which may be so
// already.
func (m *Member) sayFarewellLater() {
	m.retryAt = time.Time{}
	if m.coordinator.known {
		m.retryAt = m.now.Add(m.backoff(&m.coordinator.failures))
	}
}

// onLateJoin takes the ID from a join whose outcome is not wanted any more.
func (m *Member) onLateJoin(ev Replied) {
	if resp, failure := answerOf[*kmsg.JoinGroupResponse](ev); !failure.Failed() {
		if resp.ErrorCode == 0 || resp.ErrorCode == kerr.MemberIDRequired.Code {
			m.id = resp.MemberID
		}
	}
	if m.state == Leaving {
		m.depart(m.parting.cause.Text)
	}
}

// gone goes on after the membership.
func (m *Member) gone(why string) {
	goal, cause, left := m.parting.goal, m.parting.cause, nobody
	switch goal {
	case forGood:
		m.exit(m.parting.failure)
		return
	case toReturn:
		m.explain(Withdrawn)
	case toRest, stay:
		m.explain(Rested)
	}
	if m.parting.remain {
		left = m.sameID() // the group has not been told, so the ID is still ours
	}
	m.forget(left)
	m.parting = parting{}
	if goal == toReturn {
		m.wait(cause)
		return
	}
	m.rounds = rounds{} // who comes back from a rest has tried nothing yet
	m.enter(Resting, why)
}

// fail ends the member because of something that will not go away. The group
// is told only if the trouble is on our side; else it would not listen.
func (m *Member) fail(failure Failure) {
	tell := failure.Kind == Rejected && m.coordinator.known
	m.parting = parting{goal: forGood, cause: Cause{Kind: MemberFailed, Text: "consumer failed"}, remain: !tell, failure: failure}
	m.disturb(Cause{Kind: MemberFailed, Code: failure.Code, Text: failure.Text})
	m.drop(&m.ask)
	m.lose()
	if m.revoke.open() {
		m.enter(Parting, failure.String())
		return
	}
	m.depart(failure.String())
}

// onAbandon ends the member without waiting for anything.
func (m *Member) onAbandon() {
	failure := m.parting.failure
	if !failure.Failed() {
		failure = Failure{Kind: Canceled, Text: "left without an answer from the coordinator, in state " + m.state.String() +
			": the group may count the member in until its session times out"}
	}
	m.disturbMembership(Cause{Kind: LeaveRequested, Text: "abandoned"})
	m.exit(failure)
}

// exit is the end.
func (m *Member) exit(failure Failure) {
	m.suspend()
	m.closeCommits()
	m.closeLookUps()
	m.ask, m.revoke, m.find, m.beat = question{}, question{}, question{}, question{}
	m.noteLost(m.owned) // what was not given back by now
	m.owned, m.ownedSince = nil, -1
	m.explain(ended(failure))
	m.enter(Exited, "done")
	m.emit(Exit{Failure: failure})
}

func ended(failure Failure) Outcome {
	switch {
	case !failure.Failed():
		return Left
	case failure.Kind == Canceled:
		return Abandoned
	}
	return Failed
}
