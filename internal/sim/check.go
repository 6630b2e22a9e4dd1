package sim

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// storm is how many JoinGroups of one process in one second are too many.
const storm = 15

// given notes that a partition has been assigned to p.
func (w *world) given(p *process, part int, generation int32) {
	if last := &w.lastGiven[part]; last.process == nil || generation >= last.generation {
		*last = gift{p, generation}
	}
	w.owners[part] = append(w.owners[part], p)
}

// dropped notes that the application of p does not have a partition any more.
func (w *world) dropped(p *process, part int) {
	for i, other := range w.owners[part] {
		if other == p {
			w.owners[part] = append(w.owners[part][:i], w.owners[part][i+1:]...)
			return
		}
	}
}

// excused reports whether p may be wrong about its membership for reasons that no
// member can know of: another process took its instance ID and the coordinator
// gives that one its place at once, an administrator removed it, a JoinGroup that it
// had given up came after the next one, or a broker that had not loaded the group
// accepted its heartbeat unseen.
func (p *process) excused() bool {
	return p.contested || !p.misled.IsZero() || p.removed != "" && p.removed == p.member.Status().MemberID
}

// check says that no partition has two owners that trust themselves.
func (w *world) check(p *process) {
	if p.dead || p.excused() || !p.app.trusting() {
		return
	}
	for part := range w.parts {
		if !p.app.parts[part].owned {
			continue
		}
		for _, other := range w.owners[part] {
			if other != p && !other.excused() && other.app.trusting() {
				w.fail("%s and %s both own %v and trust themselves", p.name, other.name, w.parts[part])
			}
		}
	}
}

// delivered says that p hands out a record of a partition.
func (w *world) delivered(p *process, part int) {
	if last := w.lastGiven[part]; last.process != p && !p.excused() && !last.process.excused() {
		w.fail("%s delivers from %v, which has been assigned to %s since", p.name, w.parts[part], last.process.name)
	}
}

// checkJoin says that one JoinGroup is under way at a time, and not too many
// one after the other.
func (p *process) checkJoin(seq groupmember.Seq) {
	w := p.world
	if p.joinGroup != 0 {
		w.fail("%s sends a JoinGroup while another one is open", p.name)
	}
	p.joinGroup = seq
	for len(p.joins) > 0 && w.now.Sub(p.joins[0]) > time.Second {
		p.joins = p.joins[1:]
	}
	p.joins = append(p.joins, w.now)
	if len(p.joins) > storm {
		w.fail("%s sends %d JoinGroups within a second", p.name, len(p.joins))
	}
}

// checkCommit says that only what was done, and asked for, is committed.
func (p *process) checkCommit(req *kmsg.OffsetCommitRequest) {
	w := p.world
	if !p.app.trusting() {
		w.fail("%s commits while it must assume its loss", p.name)
	}
	for _, t := range req.Topics {
		for _, at := range t.Partitions {
			h := p.app.parts[w.index(t.Topic, at.Partition)]
			if at.Offset > h.most {
				w.fail("%s commits offset %d of %s/%d, and has done less than %d", p.name, at.Offset, t.Topic, at.Partition, h.most)
			}
		}
	}
}

// offsetStored says that committed offsets do not go back.
func (w *world) offsetStored(topic string, id int32, before, next int64) {
	if next < before {
		w.fail("the committed offset of %s/%d goes back from %d to %d", topic, id, before, next)
	}
}

// needless says that without faults nobody is suspended and nothing is lost. Who
// leaves in the middle of a round may still lose what it retained.
func (w *world) needless(p *process, what string) {
	if w.plan.calm && !p.contested && !p.leaving {
		w.fail("%s is %s although nothing went wrong", p.name, what)
	}
}
