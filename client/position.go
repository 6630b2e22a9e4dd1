package client

// position is where reading one partition stands. Its offsets keep this order:
//
//	committed <= done.next <= delivered <= fetched
//
// Each names the first record that it does not cover. It is a value without
// locks, clocks and I/O.
type position struct {
	fetched   int64 // where the next fetch starts
	delivered int64 // all before it have been in the application's hands, or need not be
	done      mark  // all before it are done; a new loop starts here
	committed int64 // what the coordinator has; -1 if it is not known to have any
}

// mark is an offset with the leader epoch of the record before it (KIP-320).
type mark struct {
	next  int64
	epoch int32 // -1 if unknown
}

// startAt returns the position of a partition that is read from m on, which the
// coordinator has only if committed is set.
func startAt(m mark, committed bool) position {
	p := position{fetched: m.next, delivered: m.next, done: m, committed: -1}
	if committed {
		p.committed = m.next
	}
	return p
}

// fetch notes that everything before next has arrived. It reports whether that
// is progress.
func (p *position) fetch(next int64) bool {
	if next <= p.fetched {
		return false
	}
	p.fetched = next
	return true
}

// deliver notes that everything before next was handed to the application.
func (p *position) deliver(next int64) {
	p.delivered = max(p.delivered, min(next, p.fetched))
}

// finish notes that the application is done with everything before m. What was
// never delivered cannot be done: such a mark is cut.
func (p *position) finish(m mark) {
	m.next = min(m.next, p.delivered)
	if m.next > p.done.next {
		p.done = m
	}
}

// pass notes that there is nothing for the application before m: markers of
// transactions, or what compaction removed. All before it must be done.
func (p *position) pass(m mark) {
	p.deliver(m.next)
	p.finish(m)
}

// refetch makes the next fetch start at the first record that is not done, since
// what was fetched beyond it has been thrown away.
func (p *position) refetch() {
	p.fetched, p.delivered = p.done.next, p.done.next
}

// skipTo gives up what lies before next, and what was fetched: the application
// has said that it can do without. It never goes back.
func (p *position) skipTo(next int64) {
	if next > p.done.next {
		p.done = mark{next: next, epoch: -1}
	}
	p.refetch()
}

// uncommitted returns what is worth a commit.
func (p *position) uncommitted() (mark, bool) {
	return p.done, p.done.next > p.committed
}

// commit notes that the coordinator has accepted a commit of next.
func (p *position) commit(next int64) {
	p.committed = max(p.committed, min(next, p.done.next))
}
