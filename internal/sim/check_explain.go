package sim

import "github.com/musterkafka/muster/groupmember"

// parts is a set of partitions by their index.
type parts uint64

// unexplained is what has become of a process's partitions since its last explanation.
type unexplained struct {
	number   int   // of the last explanation
	before   parts // owned then
	released parts
	lost     parts
}

func (w *world) set(p groupmember.Partitions) parts {
	var s parts
	for _, i := range w.indexes(p) {
		s |= 1 << i
	}
	return s
}

func (a *app) set() parts {
	var s parts
	for i := range a.parts {
		if a.parts[i].owned {
			s |= 1 << i
		}
	}
	return s
}

// checkRebalanced says that an explanation tells what has become of each partition since
// the one before.
func (p *process) checkRebalanced(r *groupmember.Rebalance) {
	w, u, now := p.world, p.unexplained, p.app.set()
	if r.Outcome == groupmember.Abandoned { // what the application still has is lost with it
		u.lost, now = u.lost|now, 0
	}
	gained := now &^ (u.before &^ u.lost)
	switch {
	case r.Number != u.number+1:
		w.fail("%s explains rebalance %d after %d", p.name, r.Number, u.number)
	case w.set(r.Gained) != gained, w.set(r.Kept) != now&^gained:
		w.fail("%s has gained %v and kept %v, it says, and has %b of %b, having lost %b", p.name, r.Gained, r.Kept, now, u.before, u.lost)
	case w.set(r.Revoked) != u.released, w.set(r.Lost) != u.lost:
		w.fail("%s has given back %v and lost %v, it says, and it was %b and %b", p.name, r.Revoked, r.Lost, u.released, u.lost)
	}
	p.unexplained = unexplained{number: r.Number, before: now}
}

// checkExplained says that nothing has happened to the partitions that is not explained.
func (p *process) checkExplained() {
	if u := p.unexplained; u.released != 0 || u.lost != 0 || u.before != p.app.set() {
		p.world.fail("%s does not explain what became of its partitions", p.name)
	}
}
