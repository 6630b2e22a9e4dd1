package groupmember

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetFetch is capped below version 10, which wants topic IDs.
type offsetFetch struct{ *kmsg.OffsetFetchRequest }

func (offsetFetch) MaxVersion() int16 { return 9 }

// lookups are those that the application waits for.
type lookups struct{ waiting []*lookup }

// lookup is one LookUp of the application.
type lookup struct {
	ticket   Ticket
	left     Partitions // without an outcome yet
	results  []OffsetResult
	flying   question
	at       time.Time // not to be asked before
	failures int
}

// onLookUp takes a LookUp in.
func (m *Member) onLookUp(ev LookUp) {
	m.lookups.waiting = append(m.lookups.waiting, &lookup{ticket: ev.Ticket, left: ev.Partitions, at: m.now})
	m.seek()
	m.answerLookUps()
}

func (m *Member) lookUpDue() time.Time {
	if !m.coordinator.known {
		return time.Time{}
	}
	var first time.Time
	for _, l := range m.lookups.waiting {
		if !l.flying.open() && !m.commits.concern(l.left) {
			first = earliest(first, l.at)
		}
	}
	return first
}

// lookUp sends an OffsetFetch for each that is due. It asks for stable offsets:
// those of open transactions are not committed yet (KIP-447).
func (m *Member) lookUp() {
	for _, l := range m.lookups.waiting {
		if l.flying.open() || m.now.Before(l.at) || m.commits.concern(l.left) {
			continue
		}
		req := kmsg.NewPtrOffsetFetchRequest()
		req.Group = m.cfg.Group
		req.RequireStable = true
		group := kmsg.NewOffsetFetchRequestGroup() // version 8 and up (KIP-709)
		group.Group = m.cfg.Group
		for _, name := range l.left.topics() {
			topic := kmsg.NewOffsetFetchRequestTopic()
			topic.Topic, topic.Partitions = name, l.left[name]
			req.Topics = append(req.Topics, topic)
			groupTopic := kmsg.NewOffsetFetchRequestGroupTopic()
			groupTopic.Topic, groupTopic.Partitions = name, l.left[name]
			group.Topics = append(group.Topics, groupTopic)
		}
		req.Groups = append(req.Groups, group)
		l.flying = m.send(RouteControl, offsetFetch{req})
	}
}

// answered closes the question seq and returns whose it was.
func (l *lookups) answered(seq Seq) *lookup {
	for _, one := range l.waiting {
		if one.flying.open() && one.flying.seq == seq {
			return one
		}
	}
	return nil
}

// onOffsetFetch reads the answer. An error of the whole answer, of the group or
// of a partition is never taken for "nothing committed".
func (m *Member) onOffsetFetch(l *lookup, ev Replied) {
	q := l.flying
	l.flying = question{}
	resp, failure := answerOf[*kmsg.OffsetFetchResponse](ev)
	if failure.Failed() {
		if failure.passes() {
			m.strayed(q)
			m.lookUpLater(l)
		} else {
			m.failLookUp(l, failure)
		}
		return
	}
	whole, found := fetchedOffsets(resp, m.cfg.Group)
	switch code := kerr.TypedErrorForCode(whole); code {
	case nil:
		m.coordinator.works()
		m.onOffsets(l, found)
	case kerr.NotCoordinator, kerr.CoordinatorNotAvailable:
		m.strayed(q)
		m.lookUpLater(l)
	case kerr.CoordinatorLoadInProgress, kerr.UnstableOffsetCommit:
		m.lookUpLater(l)
	case kerr.GroupAuthorizationFailed, kerr.InvalidGroupID, kerr.GroupIDNotFound:
		m.failLookUp(l, refused(whole, "looking up committed offsets"))
	default:
		if passing(code) {
			m.lookUpLater(l)
		} else {
			m.failLookUp(l, refused(whole, "looking up committed offsets"))
		}
	}
}

// onOffsets takes the partitions' outcomes and asks again for those that have
// none yet.
func (m *Member) onOffsets(l *lookup, found map[partition]OffsetResult) {
	done := Partitions{}
	for _, topic := range l.left.topics() {
		for _, id := range l.left[topic] {
			result, ok := found[partition{topic, id}]
			if !ok {
				result = OffsetResult{Offset: noOffset(topic, id), Code: kerr.UnknownServerError.Code} // left out
			}
			if lookUpAgain(result.Code) {
				continue
			}
			l.results = append(l.results, result)
			done[topic] = append(done[topic], id)
		}
	}
	l.left = subtract(l.left, done)
	if len(l.left) > 0 {
		m.lookUpLater(l)
	}
	m.answerLookUps()
}

// lookUpAgain reports whether a partition's code may go away. A topic that the
// broker does not know may be news to it; whether to wait is up to who asks.
func lookUpAgain(number int16) bool {
	switch code := kerr.TypedErrorForCode(number); code {
	case nil, kerr.TopicAuthorizationFailed, kerr.UnknownServerError:
		return false
	case kerr.UnstableOffsetCommit, kerr.UnknownTopicOrPartition:
		return true
	default:
		return code.Retriable
	}
}

func (m *Member) lookUpLater(l *lookup) {
	l.at = m.now.Add(m.backoff(&l.failures))
}

// hasten ends the back-off of all.
func (l *lookups) hasten(now time.Time) {
	for _, one := range l.waiting {
		one.at = now
	}
}

func (m *Member) failLookUp(l *lookup, failure Failure) {
	m.lookups.waiting = slices.DeleteFunc(m.lookups.waiting, func(other *lookup) bool { return other == l })
	m.emit(LookedUp{Ticket: l.ticket, Failure: failure})
}

func (m *Member) answerLookUps() {
	m.lookups.waiting = slices.DeleteFunc(m.lookups.waiting, func(l *lookup) bool {
		if len(l.left) > 0 {
			return false
		}
		m.emit(LookedUp{Ticket: l.ticket, Results: l.results})
		return true
	})
}

// forfeitLookUps answers what nobody needs to know any more.
func (m *Member) forfeitLookUps(gone Partitions) {
	for _, l := range m.lookups.waiting {
		kept := subtract(l.left, gone)
		dropped := subtract(l.left, kept)
		for _, topic := range dropped.topics() {
			for _, id := range dropped[topic] {
				l.results = append(l.results, OffsetResult{Offset: noOffset(topic, id), Code: kerr.IllegalGeneration.Code})
			}
		}
		l.left = kept
	}
	m.answerLookUps()
}

func (m *Member) closeLookUps() {
	for _, l := range m.lookups.waiting {
		m.drop(&l.flying)
		m.emit(LookedUp{Ticket: l.ticket, Failure: Failure{Kind: Closed, Text: "the member has left the group"}})
	}
	m.lookups = lookups{}
}
