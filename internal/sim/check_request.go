package sim

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// kind is what a request is for.
type kind uint8

const (
	joinCall kind = iota
	syncCall
	beatCall
	leaveCall
	commitCall
	txnCall
	fetchCall
	otherCall
	callKinds
)

func kindOf(req kmsg.Request) kind {
	switch req.(type) {
	case *kmsg.JoinGroupRequest:
		return joinCall
	case *kmsg.SyncGroupRequest:
		return syncCall
	case *kmsg.HeartbeatRequest:
		return beatCall
	case *kmsg.LeaveGroupRequest:
		return leaveCall
	case *kmsg.OffsetCommitRequest:
		return commitCall
	case *kmsg.TxnOffsetCommitRequest:
		return txnCall
	case *kmsg.OffsetFetchRequest:
		return fetchCall
	}
	return otherCall
}

// checkRequest says what holds for each request that a member sends: one of its
// kind at a time, nothing behind what a broker may hold, and that it is the member's own.
func (p *process) checkRequest(a groupmember.Send, req kmsg.Request) {
	w, k := p.world, kindOf(req)
	name := kmsg.NameForKey(req.Key())
	held := p.flying[joinCall] != 0 || p.flying[syncCall] != 0
	ofGroup := mayBeHeld(req) || k == beatCall && !held
	switch {
	case k == otherCall:
		w.fail("%s sends a %s, which no member of a classic group does", p.name, name)
	case k != fetchCall && p.flying[k] != 0, k == commitCall && p.flying[txnCall] != 0, k == txnCall && p.flying[commitCall] != 0:
		w.fail("%s sends a %s while another one is open", p.name, name)
	case mayBeHeld(req) && held:
		w.fail("%s sends a %s while a JoinGroup or SyncGroup is open", p.name, name)
	case ofGroup != (a.Route == groupmember.RouteGroup):
		w.fail("%s sends a %s over the %v connection", p.name, name, a.Route)
	}
	p.flying[k] = a.Seq
	switch req := req.(type) {
	case *kmsg.JoinGroupRequest:
		p.checkJoin(req)
	case *kmsg.SyncGroupRequest:
		p.syncedIn = req.Generation
		p.checkIdentity(name, req.InstanceID, req.MemberID, req.Generation)
	case *kmsg.HeartbeatRequest:
		p.beats++
		p.checkIdentity(name, req.InstanceID, req.MemberID, max(req.Generation, 0)) // -1 beside a first JoinGroup
	case *kmsg.LeaveGroupRequest:
		p.checkLeave(req)
	case *kmsg.OffsetCommitRequest:
		p.checkIdentity(name, req.InstanceID, req.MemberID, req.Generation)
		for _, t := range req.Topics {
			for _, at := range t.Partitions {
				p.checkCommit(w.index(t.Topic, at.Partition), at.Offset, req.Generation)
			}
		}
	case *kmsg.TxnOffsetCommitRequest:
		p.checkIdentity(name, req.InstanceID, req.MemberID, req.Generation)
		for _, t := range req.Topics {
			for _, at := range t.Partitions {
				p.checkCommit(w.index(t.Topic, at.Partition), at.Offset, req.Generation)
			}
		}
	case *kmsg.OffsetFetchRequest:
		p.checkLookUp(req)
	}
}

// checkLookUp says that nobody is told of an offset while a higher one is on its way.
func (p *process) checkLookUp(req *kmsg.OffsetFetchRequest) {
	for _, t := range req.Topics {
		for _, id := range t.Partitions {
			part := p.world.index(t.Topic, id)
			for _, c := range p.app.commits {
				if slices.Contains(c.parts, part) && slices.Contains(c.owned, part) {
					p.world.fail("%s looks up %v and has not answered commit %d of it", p.name, p.world.parts[part], c.ticket)
				}
			}
		}
	}
}

// checkIdentity says that a request is that of a member of some generation, and of the
// right instance.
func (p *process) checkIdentity(name string, instance *string, id string, generation int32) {
	if id == "" || generation < 0 {
		p.world.fail("%s sends a %s as member %q of generation %d", p.name, name, id, generation)
	}
	p.checkInstance(name, instance)
}

func (p *process) checkInstance(name string, instance *string) {
	said := ""
	if instance != nil {
		said = *instance
	}
	if said != p.config.InstanceID || (instance == nil) != (said == "") {
		p.world.fail("%s sends a %s as instance %q, and is %q", p.name, name, said, p.config.InstanceID)
	}
}

// storm is how many JoinGroups of one process in one second are too many, flood is how
// much of anything, and round is how much of that is a wish for a round, of any member.
const (
	storm = 15
	flood = 80
	round = 10
)

// checkJoin says that a JoinGroup is as configured, that an eager member has let go of
// everything before it, and that there are not too many one after the other but for wishes.
func (p *process) checkJoin(req *kmsg.JoinGroupRequest) {
	w := p.world
	p.checkInstance("JoinGroup", req.InstanceID)
	p.checkReason("JoinGroup", req.Reason)
	if req.MemberID != "" && req.MemberID == p.unknown {
		w.fail("%s joins as %s, whom the coordinator does not know", p.name, req.MemberID)
	}
	if owned := p.app.owned(); !p.config.Cooperative && len(owned) > 0 {
		w.fail("%s is eager and joins while it owns %v", p.name, w.parts[owned[0]])
	}
	session, rebalance := millis(req.SessionTimeoutMillis), millis(req.RebalanceTimeoutMillis)
	if session != p.config.SessionTimeout.Truncate(time.Millisecond) || rebalance != p.config.RebalanceTimeout.Truncate(time.Millisecond) {
		w.fail("%s joins with a session timeout of %v and a rebalance timeout of %v", p.name, session, rebalance)
	}
	p.joins, w.wishes = recent(p.joins, w.now), recent(w.wishes, w.now)
	p.joins = append(p.joins, w.now)
	if len(p.joins) > storm+len(w.wishes) {
		w.fail("%s sends %d JoinGroups within a second", p.name, len(p.joins))
	}
}

func millis(n int32) time.Duration { return time.Duration(n) * time.Millisecond }

// recent returns those of the times that are not older than a second.
func recent(times []time.Time, now time.Time) []time.Time {
	for len(times) > 0 && now.Sub(times[0]) > time.Second {
		times = times[1:]
	}
	return times
}

func (p *process) checkLeave(req *kmsg.LeaveGroupRequest) {
	if req.Version < 3 {
		p.checkIdentity("LeaveGroup", nil, req.MemberID, 0)
		return
	}
	if len(req.Members) != 1 {
		p.world.fail("%s makes %d members leave", p.name, len(req.Members))
		return
	}
	p.checkIdentity("LeaveGroup", req.Members[0].InstanceID, req.Members[0].MemberID, 0)
	p.checkReason("LeaveGroup", req.Members[0].Reason)
}

// checkReason says that coming and going have reasons (KIP-800).
func (p *process) checkReason(name string, reason *string) {
	if p.world.plan.era.whole && (reason == nil || *reason == "" || len(*reason) > 255) {
		p.world.fail("%s sends a %s without a reason", p.name, name)
	}
}

// checkCommit says that only what was done, and asked for, is committed, and only of
// what the member has, had in this generation or has just been assigned.
func (p *process) checkCommit(part int, next int64, generation int32) {
	w, h := p.world, p.app.parts[part]
	switch at := w.parts[part]; {
	case !p.app.trusting():
		w.fail("%s commits while it must assume its loss", p.name)
	case p.doubtful() != "":
		w.fail("%s commits, and %s", p.name, p.doubtful())
	case next > h.most:
		w.fail("%s commits offset %d of %v, and has done less than %d", p.name, next, at, h.most)
	case !p.app.asksFor(part, next):
		w.fail("%s commits offset %d of %v, which was not asked for", p.name, next, at)
	case !h.owned && h.hadIn != generation && !has(p.decoded, at.topic, at.id):
		w.fail("%s commits offset %d of %v, which it does not have", p.name, next, at)
	}
}
