package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/internal/sim/coordinator"
)

// world is one simulation.
type world struct {
	clock
	random   *rand.Rand
	plan     scenario
	faulty   bool // things go wrong
	owing    bool // a round may be owed by a static member that was away
	settling bool // nothing goes wrong any more
	trace    func(string)
	record   func() Recorder // nil if nobody wants to

	log          coordinator.Log
	brokers      []*broker
	home         *broker // that is, or is about to be, the coordinator; nil if none can be
	seats        []*seat
	processes    []*process // that run
	started      int
	confusedTill time.Time // the coordinator does not know the IDs that it gives out
	moves        int       // of the group from one broker to another
	calls        int
	wishes       []time.Time // for a new round, within the last second

	counts    counts  // of the partitions that there are
	parts     []place // all that there can be
	lastGiven []gift  // by partition
	owners    [][]*process

	visits    Visits
	violation string
}

// place is a partition.
type place struct {
	topic string
	id    int32
}

// gift says to whom a partition was assigned in the highest generation so far.
type gift struct {
	process    *process
	generation int32
}

func (p place) String() string { return fmt.Sprintf("%s/%d", p.topic, p.id) }

// seat is a place in the group that one process after another takes.
type seat struct {
	id        int
	config    groupmember.Config
	protocols []string
	topics    []string
	pattern   bool     // topics are all that exist
	transacts bool     // it commits in transactions
	process   *process // nil while nobody is there
	contested bool     // there are two
	doubled   bool     // a process left a JoinGroup behind that may arrive late
}

// Result is what came of one seed.
type Result struct {
	Seed      uint64
	Violation string // "" if none
	Visits    Visits
}

// Run simulates one seed. If trace is not nil it is given the history, line by
// line. Equal seeds give equal histories.
func Run(seed uint64, trace func(line string)) Result {
	w := newWorld(seed, trace)
	w.live()
	return Result{Seed: seed, Violation: w.violation, Visits: w.visits}
}

func newWorld(seed uint64, trace func(string)) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 0)), trace: trace}
	w.now = epoch
	w.plan = w.makeScenario()
	w.counts = w.plan.beginning
	for i, count := range w.plan.partitions {
		for id := range count {
			w.parts = append(w.parts, place{topicNames[i], id})
		}
	}
	w.lastGiven = make([]gift, len(w.parts))
	w.owners = make([][]*process, len(w.parts))
	w.log.Committed = w.offsetStored
	for id := range 2 {
		w.brokers = append(w.brokers, &broker{id: id, up: true})
	}
	return w
}

// live runs a stormy time, then a calm one in which the group must recover, then one in
// which nothing may happen any more.
func (w *world) live() {
	w.note("%+v", w.plan)
	w.faulty = !w.plan.calm
	w.appoint(w.brokers[0], 0)
	for _, s := range w.seats {
		w.after(w.between(0, 5*time.Second), func() { w.occupy(s) })
	}
	w.trouble()
	w.until(w.plan.storm)
	if w.violation != "" {
		return
	}
	w.heal()
	w.recover()
}

// until lets d pass, or less if something goes wrong.
func (w *world) until(d time.Duration) {
	end := w.now.Add(d)
	for w.violation == "" && w.next(end) {
		if w.spins > 1000 {
			w.fail("time does not go on")
		}
	}
	w.now = end
}

// between returns a random duration.
func (w *world) between(least, most time.Duration) time.Duration {
	return least + time.Duration(w.random.Int64N(int64(most-least)+1))
}

func (w *world) index(topic string, id int32) int {
	for i, at := range w.parts {
		if at.topic == topic && at.id == id {
			return i
		}
	}
	panic(fmt.Sprintf("BUG: no partition %s/%d", topic, id))
}

// indexes returns the indexes of partitions, in ascending order.
func (w *world) indexes(p groupmember.Partitions) []int {
	var all []int
	for _, topic := range topicNames {
		for _, id := range p[topic] {
			all = append(all, w.index(topic, id))
		}
	}
	return all
}

// tell writes an event into the history.
func (w *world) tell(p *process, ev groupmember.Event) {
	if w.trace != nil {
		w.trace(fmt.Sprintf("%10.3f %s %v: %s", w.now.Sub(epoch).Seconds(), p.name, p.state, groupmember.DescribeEvent(ev)))
	}
}

// note writes into the history what happened outside the members.
func (w *world) note(format string, args ...any) {
	if w.trace != nil {
		w.trace(fmt.Sprintf("%10.3f -- ", w.now.Sub(epoch).Seconds()) + fmt.Sprintf(format, args...))
	}
}

// fail notes the first violation. The simulation ends with it.
func (w *world) fail(format string, args ...any) {
	if w.violation == "" {
		w.violation = fmt.Sprintf("at %.3f s: ", w.now.Sub(epoch).Seconds()) + fmt.Sprintf(format, args...)
		w.note("VIOLATION %s", w.violation)
	}
}
