package sim

import (
	"fmt"
	"time"

	"github.com/musterkafka/muster/groupmember"
)

// process is one run of a program with a member in it, from its start to its
// exit or crash. Another run in the same seat is another process.
type process struct {
	world  *world
	seat   *seat
	name   string
	config groupmember.Config
	member *groupmember.Member
	state  groupmember.State
	timer  time.Time
	out    []groupmember.Action
	record Recorder // nil if nobody wants to

	coordinator *broker // last found
	links       []*link
	open        []question // asked of the process, not of the coordinator
	cutOff      bool       // from all brokers
	paused      bool
	backlog     []func() // what happened while it was paused
	dead        bool     // crashed or exited

	app app

	leaving     bool      // Leave was asked for
	contested   bool      // another process has had its instance ID, and it may be fenced
	doubled     bool      // a JoinGroup without a member ID was not answered, and may arrive after the next one
	removed     string    // the member ID under which an administrator removed it
	misled      time.Time // since when it may be wrong about its membership; zero if it is not
	movesBefore int       // of the coordinator, when it started
	planless    int       // plans that failed
	planned     counts    // of partitions, when it last made a plan
	generations int       // Assigned seen

	seen
}

// seen is what the checks remember of a process.
type seen struct {
	last       groupmember.Seq            // the last question's
	unanswered []groupmember.Seq          // and wanted
	flying     [callKinds]groupmember.Seq // the open request of each kind, but look-ups
	heard      time.Time                  // when the last request that the coordinator accepted was sent
	calm       time.Time                  // and the last one whose answer shows that no round was under way
	synced     bool                       // the SyncGroup of the present generation was answered
	polled     time.Time                  // when the application last asked for records
	decoded    groupmember.Partitions     // the last assignment
	syncedIn   int32                      // the generation of the last SyncGroup
	assignedIn int32                      // and of the last Assigned
	joins      []time.Time                // within the last second
	second     time.Time                  // the present one
	said       int                        // questions and warnings in it
	beats      int                        // heartbeats sent
	remains    bool                       // it leaves without a word
	unexplained
	unknown   string    // a member ID that the coordinator has said it does not know
	leftAs    string    // its member ID when it was asked to leave
	freeSince time.Time // since when nothing but the coordinator keeps it from leaving
}

func (w *world) start(s *seat) *process {
	w.started++
	p := &process{world: w, seat: s, name: fmt.Sprintf("m%d", w.started), config: s.config, movesBefore: w.moves, doubled: s.doubled}
	p.config.Seed = w.random.Uint64()
	member, err := groupmember.New(p.config)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	p.member = member
	if w.record != nil {
		p.record = w.record()
		p.record.Begin(w.now, p.config)
	}
	p.app.begin(p)
	s.process = p
	w.processes = append(w.processes, p)
	w.contest(s)
	w.note("%s starts in seat %d, instance %q, cooperative %v", p.name, s.id, p.config.InstanceID, p.config.Cooperative)
	p.step(groupmember.Start{})
	return p
}

// step gives the member one event and does what it answers. Nothing of that
// comes back before step has returned.
func (p *process) step(ev groupmember.Event) {
	if p.dead {
		return
	}
	w := p.world
	p.meet(ev)
	w.tell(p, ev)
	p.told(ev)
	p.out = p.member.Step(w.now, ev, p.out[:0])
	if p.record != nil {
		p.record.Step(w.now, ev, p.out)
	}
	for _, a := range p.out {
		if w.trace != nil {
			w.trace("      " + groupmember.DescribeAction(a))
		}
		if p.dead {
			w.fail("%s has exited and goes on", p.name)
		}
		p.perform(a)
	}
	p.arm()
	p.checkStep()
	w.check(p)
}

// told takes note of what the member is told.
func (p *process) told(ev groupmember.Event) {
	w := p.world
	switch ev := ev.(type) {
	case groupmember.Found:
		p.closed(ev.Seq)
	case groupmember.Replied:
		p.closed(ev.Seq)
	case groupmember.Encoded:
		p.closed(ev.Seq)
	case groupmember.Planned:
		p.closed(ev.Seq)
	case groupmember.Decoded:
		if p.closed(ev.Seq) && !ev.Failure.Failed() {
			p.decoded = ev.Partitions
		}
	case groupmember.Released:
		p.closed(ev.Seq)
	case groupmember.Start, groupmember.Asked:
		p.polled = w.now
	case groupmember.Rejoin:
		w.wishes = append(w.wishes, w.now)
	case groupmember.Leave:
		p.remains = ev.Remain
		if !p.leaving {
			p.leaving, p.leftAs = true, p.member.Status().MemberID
		}
	case groupmember.Commit, groupmember.Withdraw, groupmember.LookUp, groupmember.Abandon, groupmember.Elapsed:
	}
}

// arm sees to it that the member is stepped at its deadline.
func (p *process) arm() {
	at := p.member.Deadline()
	if p.dead || at.IsZero() || at.Equal(p.timer) {
		return
	}
	p.timer = at
	p.world.at(at, func() {
		if p.timer.Equal(at) {
			p.timer = time.Time{}
			p.run(func() { p.step(groupmember.Elapsed{}) })
		}
	})
}

// run does something in the process, once it is not paused.
func (p *process) run(do func()) {
	switch {
	case p.dead:
	case p.paused:
		p.backlog = append(p.backlog, do)
	default:
		do()
	}
}

// deliver brings the member an event. c is the call that it answers, if a broker
// did.
func (p *process) deliver(ev groupmember.Event, c *call) {
	if p.paused {
		p.run(func() { p.receive(ev, c) })
		return
	}
	p.receive(ev, c)
}

func (p *process) receive(ev groupmember.Event, c *call) {
	if replied, ok := ev.(groupmember.Replied); ok {
		switch {
		case c == nil || c.by == outsider:
		case c.by == blindfold:
			p.misled = p.world.now
		case c.sent.After(p.misled):
			p.misled = time.Time{}
		}
		if c != nil {
			p.hearOf(c, replied.Resp)
		}
		if replied.Seq == p.flying[joinCall] {
			p.closeJoin(replied.Failure.Failed() && !replied.Failure.Unsent)
		}
	}
	p.step(ev)
}

// closeJoin notes that no JoinGroup is open any more.
func (p *process) closeJoin(unanswered bool) {
	p.flying[joinCall] = 0
	p.doubled = p.doubled || unanswered && p.member.Status().MemberID == ""
}

func (p *process) answerLater(d time.Duration, ev groupmember.Event) {
	p.world.after(d, func() { p.deliver(ev, nil) })
}

// perform does one action, as the driver does.
func (p *process) perform(a groupmember.Action) {
	switch a := a.(type) {
	case groupmember.Find:
		p.asked(a.Seq)
		p.find(a)
	case groupmember.Send:
		p.asked(a.Seq)
		p.send(a)
	case groupmember.Encode:
		p.asked(a.Seq)
		p.checkEncode(a)
		p.encode(a)
	case groupmember.Plan:
		p.asked(a.Seq)
		p.makePlan(a)
	case groupmember.Decode:
		p.asked(a.Seq)
		p.decode(a)
	case groupmember.Resolve:
		p.world.fail("%s: the classic protocol has no topic IDs", p.name)
	case groupmember.Revoke:
		p.asked(a.Seq)
		p.app.revoke(a)
	case groupmember.Cancel:
		p.onCancel(a.Seq)
	case groupmember.Assigned:
		p.generations++
		p.app.assigned(a)
		p.checkAssigned(a)
	case groupmember.Suspended:
		p.app.suspend(true)
		p.world.needless(p, "suspended")
	case groupmember.Resumed:
		p.app.suspend(false)
	case groupmember.Committed:
		p.app.committed(a)
	case groupmember.LookedUp:
		p.app.lookedUp(a)
	case groupmember.Warned:
		p.spoke()
	case groupmember.Rebalanced:
		p.checkRebalanced(a.Rebalance)
	case groupmember.Moved:
		p.checkMove(a)
		p.moved(a.To)
	case groupmember.Exit:
		p.exit(a.Failure)
	}
}

func (p *process) send(a groupmember.Send) {
	req := p.world.plan.era.request(a.Req)
	p.checkRequest(a, req)
	p.request(a.Seq, a.Route, req)
}

func (p *process) onCancel(seq groupmember.Seq) {
	if seq == p.flying[joinCall] {
		p.closeJoin(true)
	}
	if !p.closed(seq) {
		p.world.fail("%s cancels question %d, which is not open", p.name, seq)
	}
	for i := range p.open {
		if p.open[i].seq == seq {
			p.open[i].canceled = true
			return
		}
	}
	if p.cancel(seq) || p.app.cancel(seq) {
		return
	}
}

// exit is the end of the member, which must have a reason.
func (p *process) exit(failure groupmember.Failure) {
	p.checkExit(failure)
	p.world.note("%s exits: %v", p.name, failure)
	p.end()
}

// crash ends the process without a word to anybody.
func (p *process) crash() {
	p.world.note("%s crashes", p.name)
	p.end()
}

func (p *process) end() {
	w := p.world
	p.dead = true
	if p.flying[joinCall] != 0 {
		p.closeJoin(true)
	}
	p.seat.doubled = p.seat.doubled || p.doubled
	p.app.end()
	for len(p.links) > 0 {
		l := p.links[0]
		w.breakLink(l, 0)
		l.closed = true
		p.links = p.links[1:]
	}
	for i, other := range w.processes {
		if other == p {
			w.processes = append(w.processes[:i], w.processes[i+1:]...)
			break
		}
	}
	if p.seat.process == p {
		p.seat.process = nil
	}
	w.contest(p.seat)
}

// contest finds out who has rivals in a seat. Whoever joins with an instance ID and
// without a member ID fences the one before, so it need not be the younger that
// stays.
func (w *world) contest(s *seat) {
	var here []*process
	for _, p := range w.processes {
		if p.seat == s {
			here = append(here, p)
			s.process = p
		}
	}
	for _, p := range here {
		p.contested = p.contested || len(here) > 1
	}
	s.contested = len(here) > 1
}

func (p *process) pause() {
	p.world.note("%s is stopped", p.name)
	p.paused = true
}

// resume lets a stopped process go on. Its application may run before it has
// noticed anything.
func (p *process) resume() {
	if !p.paused || p.dead {
		return
	}
	p.world.note("%s goes on", p.name)
	p.paused = false
	if p.world.random.IntN(2) == 0 {
		p.app.work()
	}
	backlog := p.backlog
	p.backlog = nil
	for _, do := range backlog {
		p.run(do)
	}
}
