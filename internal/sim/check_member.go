package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// asked takes note of a question of the member's. Each has a number of its own, and
// there is no flood of them.
func (p *process) asked(seq groupmember.Seq) {
	if seq <= p.last {
		p.world.fail("%s asks question %d after %d", p.name, seq, p.last)
	}
	p.last = seq
	p.unanswered = append(p.unanswered, seq)
	p.spoke()
}

// spoke says that a member has not too much to say.
func (p *process) spoke() {
	w := p.world
	if second := w.now.Truncate(time.Second); !second.Equal(p.second) {
		p.second, p.said = second, 0
	}
	if p.said++; p.said <= flood {
		return
	}
	w.wishes = recent(w.wishes, w.now)
	if most := flood + round*len(w.wishes); p.said > most {
		w.fail("%s asks and tells more than %d times within a second", p.name, most)
	}
}

// closed takes note of an answer, or that none is wanted, and reports whether one was.
func (p *process) closed(seq groupmember.Seq) bool {
	for k := range p.flying {
		if p.flying[k] == seq {
			p.flying[k] = 0
		}
	}
	i := slices.Index(p.unanswered, seq)
	if i < 0 {
		return false
	}
	p.unanswered = slices.Delete(p.unanswered, i, i+1)
	return true
}

// hearOf takes note of what the answer to a call says of the membership. A heartbeat
// of another generation is no news, and one beside a held request may have crossed that
// one's answer.
func (p *process) hearOf(c *call, resp kmsg.Response) {
	if !slices.Contains(p.unanswered, c.seq) {
		return // it was canceled
	}
	if accepted(resp) {
		p.heard = later(p.heard, c.sent)
	}
	p.hearOfRound(c, resp)
	var code int16
	var id string
	switch resp := resp.(type) {
	case *kmsg.JoinGroupResponse:
		code, id = resp.ErrorCode, c.req.(*kmsg.JoinGroupRequest).MemberID
	case *kmsg.SyncGroupResponse:
		code, id = resp.ErrorCode, c.req.(*kmsg.SyncGroupRequest).MemberID
	case *kmsg.HeartbeatResponse:
		beat := c.req.(*kmsg.HeartbeatRequest)
		if p.flying[joinCall] == 0 && p.flying[syncCall] == 0 && beat.Generation == p.member.Status().Generation {
			code, id = resp.ErrorCode, beat.MemberID
		}
	}
	if code == kerr.UnknownMemberID.Code && id == p.member.Status().MemberID {
		p.unknown = id
	}
}

// hearOfRound takes note of when no round was under way: a SyncGroup was answered, or
// after it a heartbeat that says so.
func (p *process) hearOfRound(c *call, resp kmsg.Response) {
	switch resp := resp.(type) {
	case *kmsg.JoinGroupResponse:
		p.synced = p.synced && resp.ErrorCode != 0
	case *kmsg.SyncGroupResponse:
		p.synced = p.synced || resp.ErrorCode == 0
		if resp.ErrorCode == 0 {
			p.calm = later(p.calm, c.sent)
		}
	case *kmsg.HeartbeatResponse:
		if resp.ErrorCode == 0 && p.synced {
			p.calm = later(p.calm, c.sent)
		}
	}
}

// doubtful says why the member must assume its loss, whatever it believes: nothing that the
// coordinator accepted is young enough, or a round that began after it last was seen at
// rest may have ended. It is "" if nothing speaks against the member.
func (p *process) doubtful() string {
	margin := p.config.SessionTimeout / 10
	if silence := p.world.now.Sub(p.heard); silence >= p.config.SessionTimeout-margin {
		return fmt.Sprintf("the coordinator has accepted nothing for %v", silence)
	}
	if unrest := p.world.now.Sub(p.calm); unrest >= p.config.RebalanceTimeout-margin {
		return fmt.Sprintf("a round may have begun %v ago", unrest)
	}
	return ""
}

// checkMove says that only legal moves are made, from where the member is.
func (p *process) checkMove(a groupmember.Moved) {
	if a.From != p.state || !slices.Contains(p.state.Next(), a.To) {
		p.world.fail("%s is %v and moves from %v to %v", p.name, p.state, a.From, a.To)
	}
}

// checkEncode says that the subscription tells the truth of what is owned, and since when.
func (p *process) checkEncode(a groupmember.Encode) {
	w := p.world
	generation := p.assignedIn
	if len(a.Owned) == 0 {
		generation = -1
	}
	if !slices.Equal(w.indexes(a.Owned), p.app.owned()) || a.Generation != generation {
		w.fail("%s joins as owner of %v since generation %d, and owns %v since %d", p.name, a.Owned, a.Generation, p.app.owned(), p.assignedIn)
	}
}

// checkAssigned says that what is handed out is what the leader gave, and that the
// application has just that.
func (p *process) checkAssigned(a groupmember.Assigned) {
	w := p.world
	all := w.indexes(a.Owned)
	if !slices.Equal(all, p.app.owned()) || !slices.Equal(all, w.indexes(p.decoded)) {
		w.fail("%s is told that it owns %v, has %v, and was assigned %v", p.name, a.Owned, p.app.owned(), p.decoded)
	}
	if a.Generation != p.syncedIn {
		w.fail("%s is assigned partitions in generation %d and has waited for those of %d", p.name, a.Generation, p.syncedIn)
	}
	p.assignedIn = a.Generation
}

// checkRevoke says that no partition is taken back twice, none is kept when all are
// lost, and that a cooperative member goes on with what it still has (KIP-429).
func (p *process) checkRevoke(a groupmember.Revoke, parts []int) {
	w := p.world
	owned := p.app.owned()
	if a.Lost && !slices.Equal(parts, owned) {
		w.fail("%s loses %v of what it owns, %v", p.name, a.Partitions, owned)
	}
	for _, i := range parts {
		at := w.parts[i]
		switch h := p.app.parts[i]; {
		case !h.owned:
			w.fail("%s: %v is taken back and was not owned", p.name, at)
		case a.Lost:
		case h.going && !p.app.canceled(i):
			w.fail("%s: %v is taken back twice", p.name, at)
		case p.config.Cooperative && p.state == groupmember.Releasing:
			w.fail("%s is cooperative and lets go of %v to join", p.name, at)
		case p.state == groupmember.Yielding && has(p.decoded, at.topic, at.id):
			w.fail("%s lets go of %v, which it was assigned again", p.name, at)
		}
	}
}

// checkStep says what holds after each step.
func (p *process) checkStep() {
	w := p.world
	if p.dead {
		return
	}
	switch free := p.leaving && len(p.app.revokes) == 0; {
	case !free:
		p.freeSince = time.Time{}
	case p.freeSince.IsZero():
		p.freeSince = w.now
	}
	if trusted := p.member.Trusted(); !w.now.Before(trusted) && !p.app.suspended && p.app.count > 0 {
		w.fail("%s must assume its loss since %v and has not been suspended", p.name, trusted.Sub(epoch))
	}
	switch p.state {
	case groupmember.Stable, groupmember.Releasing, groupmember.Yielding:
		if limit := p.config.PollInterval; limit > 0 && w.now.Sub(p.polled) > limit {
			w.fail("%s is %v, and was not asked for records for %v", p.name, p.state, w.now.Sub(p.polled))
		}
	case groupmember.Idle, groupmember.Finding, groupmember.Waiting, groupmember.Encoding, groupmember.Joining, groupmember.Planning,
		groupmember.Syncing, groupmember.Decoding, groupmember.Parting, groupmember.Leaving, groupmember.Resting, groupmember.Exited:
	}
}

// checkRest says that a member whose group is at rest sends a heartbeat an interval, and
// answers its application.
func (p *process) checkRest() {
	w := p.world
	if most := int(calmFor/p.config.HeartbeatInterval) + 2; p.beats > most || p.beats == 0 {
		w.fail("%s sends %d heartbeats in %v, one in %v", p.name, p.beats, calmFor, p.config.HeartbeatInterval)
	}
	p.checkExplained()
	for _, r := range slices.Concat(p.app.commits, p.app.lookups) {
		if w.now.Sub(r.at) > calmFor/2 {
			w.fail("%s has not answered ticket %d for %v", p.name, r.ticket, w.now.Sub(r.at))
		}
	}
}

// checkExit says that the member ends for a reason, with nothing left open, and where
// nothing is in its way soon and not without a word to the group.
func (p *process) checkExit(failure groupmember.Failure) {
	w := p.world
	if !p.leaving && !p.mayExit(failure) {
		w.fail("%s exits by itself: %v", p.name, failure)
	}
	if p.app.count == 0 { // else it is abandoned
		p.checkExplained()
	}
	if len(p.app.commits) > 0 || len(p.app.lookups) > 0 {
		w.fail("%s exits and leaves commits or look-ups unanswered", p.name)
	}
	if !w.plan.calm || failure.Failed() || p.remains || p.contested {
		return
	}
	if w.home.group.Has(p.member.Status().MemberID) {
		w.fail("%s has left, and the group has not been told", p.name)
	}
	if took := w.now.Sub(p.freeSince); !p.freeSince.IsZero() && p.leftAs != "" && took > atOnce {
		w.fail("%s takes %v to leave after it has let go", p.name, took)
	}
}

// atOnce is two round trips of a network in good order, and what applications take to
// say that they have let go.
const atOnce = 50 * time.Millisecond

// mayExit reports whether there is a reason for the end of a member that was not asked
// to leave.
func (p *process) mayExit(failure groupmember.Failure) bool {
	forgotten := p.config.InstanceID != "" && p.world.moves > p.movesBefore // its taking of an old place was not saved
	fenced := (p.contested || p.doubled || forgotten) && failure.Code == kerr.FencedInstanceID.Code
	planless := p.planless >= 3 && failure.Kind == groupmember.Rejected
	return fenced || planless
}

func has(p groupmember.Partitions, topic string, id int32) bool {
	return slices.Contains(p[topic], id)
}
