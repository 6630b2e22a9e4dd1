package sim

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

// delivered says that p hands out a record of a partition. Whether it may is not
// left to what the member says.
func (w *world) delivered(p *process, part int) {
	if why := p.doubtful(); why != "" {
		w.fail("%s delivers from %v, and %s", p.name, w.parts[part], why)
	}
	if last := w.lastGiven[part]; last.process != p && !p.excused() && !last.process.excused() {
		w.fail("%s delivers from %v, which has been assigned to %s since", p.name, w.parts[part], last.process.name)
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
