package groupmember

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// coordinator is what the member knows of its coordinator. Where it is, only
// the driver knows.
type coordinator struct {
	known    bool
	moved    bool      // the last one found is not, or no longer, right
	place    int       // how many have been found
	at       time.Time // the next look-up; zero if none is planned
	failures int       // in a row, until the coordinator accepts something
	warned   bool      // of failures in a row
}

// seek plans a look-up of the coordinator if it is needed.
func (m *Member) seek() {
	if !m.coordinator.known && !m.find.open() && m.coordinator.at.IsZero() {
		m.coordinator.at = m.now
	}
}

func (m *Member) findDue() time.Time { return m.coordinator.at }

func (m *Member) lookForCoordinator() {
	m.coordinator.at = time.Time{}
	m.find = m.question()
	m.emit(Find{Seq: m.find.seq, Forget: m.coordinator.moved})
}

// onFound reads the outcome of a look-up.
func (m *Member) onFound(ev Found) {
	if ev.Failure.Failed() {
		if ev.Failure.passes() {
			m.seekLater(ev.Failure.Text)
		} else {
			m.fail(ev.Failure)
		}
		return
	}
	switch code := kerr.TypedErrorForCode(ev.Code); code {
	case nil:
		m.onLocated()
	case kerr.CoordinatorNotAvailable, kerr.CoordinatorLoadInProgress, kerr.NotCoordinator:
		m.seekLater(code.Message)
	case kerr.GroupAuthorizationFailed, kerr.InvalidGroupID:
		m.fail(refused(ev.Code, "looking up the coordinator"))
	default:
		if passing(code) {
			m.seekLater(code.Message)
		} else {
			m.fail(refused(ev.Code, "looking up the coordinator"))
		}
	}
}

// seekLater plans the next look-up after one that found nothing, and says so
// once.
func (m *Member) seekLater(why string) {
	m.coordinator.at = m.now.Add(m.backoff(&m.coordinator.failures))
	m.warnOfCoordinator("no coordinator found", why)
}

// warnOfCoordinator says once that the coordinator fails again and again, until it accepts
// something.
func (m *Member) warnOfCoordinator(what, why string) {
	if m.coordinator.failures >= 3 && !m.coordinator.warned {
		m.coordinator.warned = true
		m.emit(Warned{Text: fmt.Sprintf("%s in %d attempts, trying on: %s", what, m.coordinator.failures, why)})
	}
}

// works notes that the coordinator does its work.
func (c *coordinator) works() { c.failures, c.warned = 0, false }

// onLocated goes on with what waited for a coordinator. A member of a
// generation stays one: the new coordinator has read of it in the log.
func (m *Member) onLocated() {
	m.coordinator.known = true
	m.coordinator.place++
	m.commits.at = m.now
	m.lookups.hasten(m.now)
	switch m.state {
	case Finding:
		m.encode()
	case Leaving:
		m.sayFarewell()
	case Idle, Waiting, Releasing, Encoding, Joining, Planning, Syncing, Decoding, Yielding, Stable, Parting, Resting, Exited:
		m.beatAt = m.now
	}
}

// strayed says that the request q did not reach the group's coordinator. The
// member keeps its generation and partitions; only a new look-up follows, at
// once the first time. News of an earlier coordinator is no news.
func (m *Member) strayed(q question) {
	if !m.coordinator.known || q.place != m.coordinator.place {
		return
	}
	m.coordinator.known, m.coordinator.moved = false, true
	m.coordinator.at = m.now
	if m.coordinator.failures > 0 {
		m.coordinator.at = m.now.Add(m.backoff(&m.coordinator.failures))
		m.warnOfCoordinator("no answer of the group's coordinator", "the broker that is found cannot be reached or says that it is another")
	} else {
		m.coordinator.failures = 1
	}
}

// passing reports whether the protocol says of code that it may go away.
// UNKNOWN_SERVER_ERROR is counted in: it is what a broker answers to its own
// troubles.
func passing(code *kerr.Error) bool {
	return code.Retriable || code == kerr.UnknownServerError
}

func refused(code int16, doing string) Failure {
	return Failure{Kind: BrokerRefused, Code: code, Text: doing}
}
