package sim

import (
	"time"

	"github.com/musterkafka/muster/groupmember"
)

// Recorder is given all that one member is told and answers, as one of package
// driver is.
type Recorder interface {
	Begin(now time.Time, cfg groupmember.Config)
	Step(now time.Time, ev groupmember.Event, actions []groupmember.Action)
}

// Record simulates one seed with a Recorder for each process, asked for as it
// starts.
func Record(seed uint64, next func() Recorder) Result {
	w := newWorld(seed, nil)
	w.record = next
	w.live()
	return Result{Seed: seed, Violation: w.violation, Visits: w.visits}
}
