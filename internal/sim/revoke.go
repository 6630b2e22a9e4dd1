package sim

import (
	"slices"
	"time"

	"github.com/musterkafka/muster/groupmember"
)

// revoke takes a Revoke in. One is worked on at a time, as the driver sees to.
func (a *app) revoke(ev groupmember.Revoke) {
	w := a.p.world
	r := &revoke{seq: ev.Seq, lost: ev.Lost, parts: w.indexes(ev.Partitions)}
	a.p.checkRevoke(ev, r.parts)
	for _, i := range r.parts {
		a.parts[i].going = true
		if ev.Lost {
			a.p.unexplained.lost |= 1 << i
			a.drop(i)
		}
	}
	if ev.Lost {
		a.suspended, a.p.decoded = false, nil
		w.needless(a.p, "lost")
	}
	a.revokes = append(a.revokes, r)
	if len(a.revokes) == 1 {
		a.hurry(r)
	}
}

// hurry lets the application finish what it has in hand.
func (a *app) hurry(r *revoke) {
	w := a.p.world
	w.after(w.inHand(a), func() { a.p.run(func() { a.finish(r) }) })
}

// inHand is how long the application has to do with what it has in hand.
func (w *world) inHand(a *app) time.Duration {
	d := time.Duration(w.random.IntN(20)) * time.Millisecond
	switch {
	case !w.now.Before(a.slowTill):
		if w.faulty && w.plan.sluggish {
			d += w.between(0, 3*time.Second)
		}
	case w.plan.calm: // long, but within what the group allows
		d += w.between(0, 11*time.Second)
	default:
		d += time.Duration(w.random.Int64N(int64(a.p.config.RebalanceTimeout) * 3 / 2))
	}
	return d
}

// finish is reached when nothing is in hand any more: what is done is
// committed, unless the partitions are lost.
func (a *app) finish(r *revoke) {
	if !a.running(r) {
		return
	}
	if !r.lost && !r.canceled {
		for _, i := range r.parts {
			if h := &a.parts[i]; h.ready && a.trusting() {
				h.do()
			}
		}
		ticket := a.commit(func(i int) bool { return slices.Contains(r.parts, i) })
		if ticket != 0 && a.waits(ticket) {
			r.ticket = ticket
			return
		}
	}
	a.release(r)
}

func (a *app) waits(ticket groupmember.Ticket) bool {
	for _, c := range a.commits {
		if c.ticket == ticket {
			return true
		}
	}
	return false
}

func (a *app) running(r *revoke) bool { return len(a.revokes) > 0 && a.revokes[0] == r }

// release lets go, and answers.
func (a *app) release(r *revoke) {
	if !a.running(r) {
		return
	}
	a.revokes = a.revokes[1:]
	for _, i := range r.parts {
		if !r.lost && !r.canceled && a.parts[i].owned {
			a.p.unexplained.released |= 1 << i
			a.parts[i].hadIn = a.p.syncedIn
			a.drop(i)
		}
	}
	a.p.step(groupmember.Released{Seq: r.seq})
	if len(a.revokes) > 0 {
		a.hurry(a.revokes[0])
	}
}

// canceled reports whether a partition is being taken back by a Revoke that was canceled,
// and by no other.
func (a *app) canceled(part int) bool {
	for _, r := range a.revokes {
		if !r.canceled && slices.Contains(r.parts, part) {
			return false
		}
	}
	return true
}

// cancel tells the application that there is no time left. The partitions are
// the next Revoke's.
func (a *app) cancel(seq groupmember.Seq) bool {
	for _, r := range a.revokes {
		if r.seq == seq {
			r.canceled = true
			w := a.p.world
			w.after(time.Duration(w.random.IntN(5))*time.Millisecond, func() { a.p.run(func() { a.release(r) }) })
			return true
		}
	}
	return false
}
