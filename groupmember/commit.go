package groupmember

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetCommit is capped below version 10, which wants topic IDs.
type offsetCommit struct{ *kmsg.OffsetCommitRequest }

func (offsetCommit) MaxVersion() int16 { return 9 }

// topicTries is how often a commit is tried for a topic that the broker says
// it does not know, which may be news to it or gone for good.
const topicTries = 10

// commit sends all that is waiting in one request, or as much as is of one kind:
// plain, or of one producer. There is never a second one under way, and of two
// offsets for one partition the later is sent, so that no commit can overtake
// another.
func (m *Member) commit() {
	producer, offsets := m.commits.board()
	if m.commits.txn = producer != nil; m.commits.txn {
		m.commits.flying = m.send(RouteControl, m.txnOffsetCommit(*producer, offsets))
		return
	}
	m.commits.flying = m.send(RouteControl, m.offsetCommit(offsets))
}

func (m *Member) offsetCommit(offsets []Offset) offsetCommit {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group = m.cfg.Group
	req.Generation = m.generation
	req.MemberID = m.id
	req.InstanceID = m.instance
	for _, offset := range offsets {
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != offset.Topic {
			topic := kmsg.NewOffsetCommitRequestTopic()
			topic.Topic = offset.Topic
			req.Topics = append(req.Topics, topic)
		}
		topic := &req.Topics[len(req.Topics)-1]
		topic.Partitions = append(topic.Partitions, commitPartition(offset))
	}
	return offsetCommit{req}
}

func commitPartition(offset Offset) kmsg.OffsetCommitRequestTopicPartition {
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Partition, p.Offset, p.LeaderEpoch = offset.Partition, offset.Next, offset.LeaderEpoch
	metadata := offset.Metadata
	p.Metadata = &metadata
	return p
}

func (m *Member) onCommitAnswer(q question, ev Replied) {
	if m.commits.txn {
		m.onTxnOffsetCommit(q, ev)
		return
	}
	m.onOffsetCommit(q, ev)
}

// onOffsetCommit reads the answer. It never ends the membership by itself,
// save for a fenced instance: what looks like its end is asked of a heartbeat.
func (m *Member) onOffsetCommit(q question, ev Replied) {
	aboard := m.commits.land()
	resp, failure := answerOf[*kmsg.OffsetCommitResponse](ev)
	if failure.Failed() {
		m.onCommitFailed(q, aboard, failure)
		return
	}
	m.onCommitCodes(q, aboard, commitCodes(resp), verdictOf)
}

// onCommitCodes takes the outcome of each offset.
func (m *Member) onCommitCodes(q question, aboard []*commit, codes map[partition]int16, verdict func(int16) commitVerdict) {
	var seen [verdicts]bool
	for _, c := range aboard {
		c.tries++
		c.left = slices.DeleteFunc(c.left, func(i int) bool {
			result := &c.results[i]
			code, ok := codes[partitionOf(result.Offset)]
			if !ok {
				code = kerr.UnknownServerError.Code // the broker left it out
			}
			v := verdict(code)
			seen[v] = true
			if m.settles(v, code, c) {
				result.Code = code
				return true
			}
			return false
		})
	}
	m.afterCommit(q, seen)
}

// commitVerdict says what an error code of OffsetCommit means.
type commitVerdict uint8

const (
	committed   commitVerdict = iota
	refusal                   // the asker must know
	again                     // later, at the same coordinator
	topicGone                 // later, but not for ever
	astray                    // later, at another coordinator
	rebalancing               // after the SyncGroup
	outdated                  // not of this generation
	fenced                    // another process has our instance ID
)

const verdicts = int(fenced) + 1

func verdictOf(code int16) commitVerdict {
	switch code := kerr.TypedErrorForCode(code); code {
	case nil:
		return committed
	case kerr.CoordinatorLoadInProgress:
		return again
	case kerr.UnknownTopicOrPartition:
		return topicGone
	case kerr.NotCoordinator, kerr.CoordinatorNotAvailable, kerr.RequestTimedOut:
		return astray
	case kerr.RebalanceInProgress:
		return rebalancing
	case kerr.IllegalGeneration, kerr.UnknownMemberID, kerr.GroupIDNotFound, kerr.StaleMemberEpoch:
		return outdated
	case kerr.FencedInstanceID:
		return fenced
	case kerr.GroupAuthorizationFailed, kerr.TopicAuthorizationFailed, kerr.OffsetMetadataTooLarge,
		kerr.InvalidCommitOffsetSize, kerr.InvalidGroupID:
		return refusal
	default:
		if code.Retriable {
			return again
		}
		return refusal
	}
}

// settles reports whether a verdict is final for the offsets of c.
func (m *Member) settles(v commitVerdict, code int16, c *commit) bool {
	switch v {
	case committed, refusal, fenced:
		return true
	case topicGone:
		return c.tries >= topicTries
	case rebalancing:
		// The application holds the round up until it has its answer, so
		// it cannot wait for the end of the round.
		return m.state == Releasing || m.state == Parting || m.state == Leaving
	case again, astray, outdated:
	}
	return false
}

// afterCommit does what the verdicts of one answer call for.
func (m *Member) afterCommit(q question, seen [verdicts]bool) {
	present := q.as == m.identity
	m.commits.at = m.now
	if seen[again] || seen[topicGone] || seen[astray] || seen[outdated] || seen[rebalancing] {
		m.commits.at = m.now.Add(m.backoff(&m.commits.failures))
	} else {
		m.commits.failures = 0
	}
	switch {
	case !seen[committed]:
	case m.commits.txn: // the coordinator takes only a plain commit for a sign of life
		m.coordinator.failures = 0
	case present:
		m.accept(q)
	}
	if seen[astray] {
		m.strayed(q)
	}
	if !present {
		m.restampLate()
	}
	m.answerCommits()
	if !present {
		return
	}
	if (seen[outdated] || seen[rebalancing]) && m.inRound() {
		m.commits.held = true
	}
	switch {
	case seen[fenced]:
		m.fail(refused(kerr.FencedInstanceID.Code, "committing offsets"))
	case seen[rebalancing]:
		m.onRebalance(q)
	case seen[outdated]:
		m.beatAt = m.now // and the coordinator will say
	}
}

// onCommitFailed handles a request that got no answer: it may have been
// carried out or not, and is sent again, with what is newest by then.
func (m *Member) onCommitFailed(q question, aboard []*commit, failure Failure) {
	if failure.passes() {
		m.strayed(q)
		m.commits.at = m.now.Add(m.backoff(&m.commits.failures))
		m.restampLate() // a round may have passed meanwhile
		return
	}
	for _, c := range aboard {
		m.commits.remove(c)
		m.emit(Committed{Ticket: c.ticket, Failure: failure})
	}
}

func commitCodes(resp *kmsg.OffsetCommitResponse) map[partition]int16 {
	codes := make(map[partition]int16)
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			codes[partition{t.Topic, p.Partition}] = p.ErrorCode
		}
	}
	return codes
}
