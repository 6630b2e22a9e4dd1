package sim

import (
	"slices"
	"time"

	"github.com/musterkafka/muster/groupmember"
)

// app is the application of a process: it reads what the member owns, commits
// what is done, and lets go when it is told to, sometimes slowly.
type app struct {
	p         *process
	parts     []holding // by index of the partition in world.parts
	count     int       // of those owned
	suspended bool
	idle      bool     // every other time: it does not commit then
	offered   []string // topics of the last subscription sent
	tickets   groupmember.Ticket
	lookups   []request // asked and not answered
	commits   []request
	revokes   []*revoke // the first runs
	producer  producer
	stuckTill time.Time // it does not ask for records
	slowTill  time.Time // it takes its time to let go
}

// holding is one partition of one application.
type holding struct {
	owned bool  // from Assigned until it has been let go of
	going bool  // it is being taken back: nothing new is handed out
	ready bool  // the position is known
	done  int64 // the offset of the next record to be done
	asked int64 // the highest that a commit was asked for
	most  int64 // the highest that was ever done
	hadIn int32 // the generation in which it was given back in good order
}

type request struct {
	ticket groupmember.Ticket
	parts  []int
	idle   bool      // a look-up that nothing depends on
	stored []int64   // what was committed when it was asked
	at     time.Time // when it was asked

	// Of a commit:
	offsets  []groupmember.Offset // of parts
	owned    []int                // when it was asked
	producer *groupmember.Producer
}

// revoke is one Revoke that the application is working on.
type revoke struct {
	seq      groupmember.Seq
	parts    []int
	lost     bool
	canceled bool
	ticket   groupmember.Ticket // of the commit it waits for; 0 if none
}

func (a *app) begin(p *process) {
	a.p = p
	a.parts = make([]holding, len(p.world.parts))
	if p.seat.transacts {
		a.producer.id = int64(p.world.started)
	}
	a.beat()
}

// beat lets the application work now and then.
func (a *app) beat() {
	w := a.p.world
	w.after(time.Duration(300+w.random.IntN(900))*time.Millisecond, func() {
		if a.p.dead {
			return
		}
		if !a.p.paused {
			a.work()
		}
		a.beat()
	})
}

// trusting reports whether the application may hand records out.
func (a *app) trusting() bool {
	return !a.suspended && a.p.world.now.Before(a.p.member.Trusted())
}

// work asks for records and does some, and may commit.
func (a *app) work() {
	w := a.p.world
	if !w.now.Before(a.stuckTill) && a.p.config.PollInterval > 0 {
		a.p.step(groupmember.Asked{})
	}
	if a.p.dead {
		return
	}
	a.p.watch()
	for i := range a.parts {
		h := &a.parts[i]
		if h.owned && h.ready && !h.going && a.trusting() && (w.settling || w.random.IntN(3) > 0) {
			w.delivered(a.p, i)
			h.do()
		}
	}
	if a.idle = !a.idle; w.random.IntN(4) == 0 || w.settling && !a.idle {
		a.commit(func(i int) bool { return a.parts[i].owned && !a.parts[i].going })
	}
	if !w.settling {
		a.meddle()
	}
}

// meddle asks now and then for what an application has no business with.
func (a *app) meddle() {
	w := a.p.world
	if w.random.IntN(20) == 0 {
		a.commit(func(i int) bool { return true }) // also of partitions that are not its own any more
	}
	if w.random.IntN(20) == 0 {
		i := w.random.IntN(len(a.parts))
		a.ask([]int{i}, true)
	}
	if n := len(a.commits); n > 0 && w.random.IntN(20) == 0 {
		a.p.step(groupmember.Withdraw{Ticket: a.commits[w.random.IntN(n)].ticket})
	}
	if w.random.IntN(40) == 0 && a.tickets > 0 {
		a.p.step(groupmember.Withdraw{Ticket: groupmember.Ticket(1 + w.random.IntN(int(a.tickets)))}) // maybe answered
	}
}

func (h *holding) do() {
	h.done++
	h.most = max(h.most, h.done)
}

// commit asks for what is done and not asked for yet. It returns the ticket, or 0.
func (a *app) commit(which func(part int) bool) groupmember.Ticket {
	if a.producer.open {
		return 0
	}
	var offsets []groupmember.Offset
	var parts []int
	for i := range a.parts {
		h := &a.parts[i]
		if which(i) && h.ready && h.done > h.asked {
			at := a.p.world.parts[i]
			offsets = append(offsets, groupmember.Offset{Topic: at.topic, Partition: at.id, Next: h.done, LeaderEpoch: -1})
			h.asked = h.done
			parts = append(parts, i)
		}
	}
	if len(offsets) == 0 {
		return 0
	}
	a.tickets++
	ticket := a.tickets
	a.commits = append(a.commits, request{
		ticket: ticket, parts: parts, offsets: offsets, at: a.p.world.now, owned: a.owned(), producer: a.beginTransaction(),
	})
	a.p.step(groupmember.Commit{Ticket: ticket, Offsets: offsets, Producer: a.commits[len(a.commits)-1].producer})
	return ticket
}

func (a *app) committed(ev groupmember.Committed) {
	w := a.p.world
	done, ok := take(&a.commits, ev.Ticket)
	if !ok {
		w.fail("%s: ticket %d is answered but not open", a.p.name, ev.Ticket)
		return
	}
	inTransaction := a.inTransaction(ev, done)
	for _, r := range ev.Results {
		if inTransaction {
			break // it is committed when that ends
		}
		overtaken := a.parts[w.index(r.Offset.Topic, r.Offset.Partition)].asked < r.Offset.Next // by a later one that is lower
		if stored := w.log.Offset(r.Offset.Topic, r.Offset.Partition); r.Code == 0 && !overtaken && stored < r.Offset.Next {
			w.fail("%s is told that %d is committed for %s/%d, which is at %d", a.p.name, r.Offset.Next, r.Offset.Topic, r.Offset.Partition, stored)
		}
	}
	if ev.Failure.Failed() || len(ev.Results) == 0 || ev.Results[0].Code != 0 {
		for _, i := range done.parts {
			a.parts[i].asked = 0 // to be asked for again
		}
	}
	for _, r := range a.revokes {
		if r.ticket == ev.Ticket {
			w.after(0, func() { a.p.run(func() { a.release(r) }) })
		}
	}
}

// assigned takes new partitions in. Their positions are looked up.
func (a *app) assigned(ev groupmember.Assigned) {
	w := a.p.world
	for _, i := range w.indexes(ev.Added) {
		if a.parts[i].owned {
			w.fail("%s: %v is added and was owned", a.p.name, w.parts[i])
		}
		a.parts[i] = holding{owned: true, most: a.parts[i].most, hadIn: -1}
		a.count++
		w.given(a.p, i, ev.Generation)
	}
	if len(ev.Added) > 0 {
		w.after(0, func() { a.p.run(a.lookUp) })
	}
}

// lookUp asks for the positions that are not known and not asked for.
func (a *app) lookUp() {
	var parts []int
	for i := range a.parts {
		if h := &a.parts[i]; h.owned && !h.ready && !a.looking(i) {
			parts = append(parts, i)
		}
	}
	if len(parts) > 0 {
		a.ask(parts, false)
	}
}

func (a *app) ask(parts []int, idle bool) {
	which := groupmember.Partitions{}
	for _, i := range parts {
		at := a.p.world.parts[i]
		which[at.topic] = append(which[at.topic], at.id)
	}
	a.tickets++
	one := request{ticket: a.tickets, parts: parts, idle: idle, at: a.p.world.now}
	for _, i := range parts {
		at := a.p.world.parts[i]
		one.stored = append(one.stored, a.p.world.log.Offset(at.topic, at.id))
	}
	a.lookups = append(a.lookups, one)
	a.p.step(groupmember.LookUp{Ticket: a.tickets, Partitions: which})
}

func (a *app) looking(part int) bool {
	for _, l := range a.lookups {
		for _, i := range l.parts {
			if i == part && !l.idle {
				return true
			}
		}
	}
	return false
}

func (a *app) lookedUp(ev groupmember.LookedUp) {
	w := a.p.world
	asked, ok := take(&a.lookups, ev.Ticket)
	if !ok {
		w.fail("%s: ticket %d is answered but not open", a.p.name, ev.Ticket)
	}
	for _, r := range ev.Results {
		i := slices.Index(asked.parts, w.index(r.Offset.Topic, r.Offset.Partition))
		if now := w.log.Offset(r.Offset.Topic, r.Offset.Partition); r.Code == 0 && (r.Offset.Next < asked.stored[i] || r.Offset.Next > now) {
			w.fail("%s is told that %s/%d is at %d, and %d was committed, then %d", a.p.name, r.Offset.Topic, r.Offset.Partition, r.Offset.Next, asked.stored[i], now)
		}
	}
	if asked.idle {
		return
	}
	for _, r := range ev.Results {
		h := &a.parts[w.index(r.Offset.Topic, r.Offset.Partition)]
		if r.Code == 0 && h.owned && !h.ready {
			h.ready, h.done = true, max(0, r.Offset.Next)
			h.asked = h.done
		}
	}
	w.after(100*time.Millisecond, func() { a.p.run(a.lookUp) })
}

func take(all *[]request, ticket groupmember.Ticket) (request, bool) {
	for i, one := range *all {
		if one.ticket == ticket {
			*all = append((*all)[:i], (*all)[i+1:]...)
			return one, true
		}
	}
	return request{}, false
}

// end forgets everything: the process is gone.
func (a *app) end() {
	for i := range a.parts {
		if a.parts[i].owned {
			a.drop(i)
		}
	}
}

// drop ends the ownership of a partition, in good order or because it is lost.
func (a *app) drop(part int) {
	a.parts[part].owned = false
	a.count--
	a.p.world.dropped(a.p, part)
}

// owned returns the partitions that the application has, in ascending order.
func (a *app) owned() []int {
	var all []int
	for i := range a.parts {
		if a.parts[i].owned {
			all = append(all, i)
		}
	}
	return all
}

// suspend takes Suspended and Resumed in, which take turns.
func (a *app) suspend(suspended bool) {
	if a.suspended == suspended || suspended && a.count == 0 {
		a.p.world.fail("%s is suspended or resumed for nothing", a.p.name)
	}
	a.suspended = suspended
}

// asksFor reports whether an offset is that of an open commit.
func (a *app) asksFor(part int, next int64) bool {
	for _, c := range a.commits {
		for i, p := range c.parts {
			if p == part && c.offsets[i].Next == next {
				return true
			}
		}
	}
	return false
}
