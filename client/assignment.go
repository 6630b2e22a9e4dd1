package client

import (
	"cmp"
	"slices"
	"time"

	"github.com/musterkafka/muster/groupmember"
)

// partitionKey names one partition of a topic.
type partitionKey struct {
	topic     string
	partition int32
}

// A stage is what stands between a partition and its records.
type stage uint8

const (
	stageCommitted stage = iota // the committed offset is to be looked up
	stageReset                  // an end of the partition is to be asked for
	stageFetch                  // the position is known: fetch
)

// ownedPartition is one partition for the time of one assignment. When it comes
// back in a later assignment it is another ownedPartition, so whatever still refers
// to this one, a late mark or a late answer, changes nothing.
//
// It never rests: unless it is going, it is asked about (busy), or it can be now, or there is
// a time from which on it can (retryAt), or an error waits for the application (telling).
type ownedPartition struct {
	key   partitionKey
	stage stage
	reset Reset // in stageReset: which end

	busy     bool      // a question is out: look-up, ListOffsets or Fetch
	question uint64    // its number, or the last one's
	retryAt  time.Time // zero: at once
	attempts int       // failed ones in a row
	said     said      // what was told of them
	resets   int       // in a row for offsets that were refused, without an answer to a fetch in between
	telling  bool      // an error about it waits in the buffer; asked about again once it was yielded
	going    bool      // is being taken back: nothing of it is handed out, nothing is asked

	position             // in stageFetch
	highWatermark int64  // of the latest answer
	served        uint64 // the round of its fetcher in which it last got records

	// Where it lies, as of the latest metadata.
	leader      int32 // -1 if nobody
	leaderEpoch int32
	topicID     [16]byte
}

// due reports whether p can be asked about now.
func (p *ownedPartition) due(now time.Time) bool {
	return !p.busy && !p.going && !p.telling && !now.Before(p.retryAt)
}

// ask notes that a question about p is out, and returns its number.
func (p *ownedPartition) ask() uint64 {
	p.busy = true
	p.question++
	return p.question
}

// answered notes that the question was answered, and well.
func (p *ownedPartition) answered() {
	p.busy, p.retryAt, p.attempts = false, time.Time{}, 0
	p.said.well()
}

// failed notes that the question has to be asked again, after a while.
func (p *ownedPartition) failed(now time.Time) {
	p.busy = false
	p.rest(now)
}

// rest puts the next question off. One that is out stays out.
func (p *ownedPartition) rest(now time.Time) {
	p.attempts++
	p.retryAt = now.Add(retryBackoff.after(p.attempts))
}

// lead notes who leads p. Another leader, or another term of the same one, may be
// asked at once. What another leader was asked before is void: it may hold the question for
// long, or never answer.
func (p *ownedPartition) lead(leader, epoch int32) {
	if leader >= 0 && (leader != p.leader || epoch != p.leaderEpoch) {
		p.retryAt = time.Time{}
	}
	if leader >= 0 && leader != p.leader && p.stage == stageFetch {
		p.busy = false
		p.question++
	}
	p.leader, p.leaderEpoch = leader, epoch
}

// tell notes that an error about p waits for the application.
func (p *ownedPartition) tell() { p.busy, p.telling = false, true }

// told notes that the application was told of an error about p.
func (p *ownedPartition) told(now time.Time) {
	p.telling = false
	p.rest(now)
}

// startAt makes p be fetched from m on.
func (p *ownedPartition) startAt(m mark, committed bool) {
	p.answered()
	p.stage = stageFetch
	p.position = startAt(m, committed)
}

// restart makes p look for an end of the partition, as policy says.
func (p *ownedPartition) restart(policy Reset) {
	p.answered()
	p.stage, p.reset = stageReset, policy
}

// assignment is everything that the member owns. It is pure: no clock, lock or
// I/O.
type assignment struct {
	parts map[partitionKey]*ownedPartition
}

// add puts partitions in that are new, and returns them.
func (a *assignment) add(partitions groupmember.Partitions) {
	if a.parts == nil {
		a.parts = make(map[partitionKey]*ownedPartition)
	}
	for topic, ids := range partitions {
		for _, id := range ids {
			key := partitionKey{topic, id}
			a.parts[key] = &ownedPartition{key: key, leader: -1, leaderEpoch: -1}
		}
	}
}

// find returns those of the partitions that are owned, in order.
func (a *assignment) find(partitions groupmember.Partitions) []*ownedPartition {
	var found []*ownedPartition
	for topic, ids := range partitions {
		for _, id := range ids {
			if p := a.parts[partitionKey{topic, id}]; p != nil {
				found = append(found, p)
			}
		}
	}
	return sortOwned(found)
}

// all returns what is owned, in order.
func (a *assignment) all() []*ownedPartition {
	all := make([]*ownedPartition, 0, len(a.parts))
	for _, p := range a.parts {
		all = append(all, p)
	}
	return sortOwned(all)
}

// replace puts another ownedPartition in the place of p, so that nothing that
// refers to p counts any more.
func (a *assignment) replace(p *ownedPartition) *ownedPartition {
	q := &ownedPartition{key: p.key, going: p.going, leader: p.leader, leaderEpoch: p.leaderEpoch, topicID: p.topicID}
	a.parts[p.key] = q
	return q
}

// owns reports whether p is of the current assignment.
func (a *assignment) owns(p *ownedPartition) bool { return p != nil && a.parts[p.key] == p }

// remove ends the assignment of those of the partitions that are going, and of what
// has taken their place meanwhile.
func (a *assignment) remove(partitions groupmember.Partitions) {
	for _, p := range a.find(partitions) {
		if p.going {
			delete(a.parts, p.key)
		}
	}
}

// route notes where partitions lie now. It returns those whose topic was deleted
// and created again: offsets of the old one mean nothing in the new one.
func (a *assignment) route(c *cluster) (recreated []*ownedPartition) {
	for _, p := range a.parts {
		t, _ := c.topic(p.key.topic)
		none := [16]byte{}
		if p.topicID != none && t.id != none && p.topicID != t.id {
			recreated = append(recreated, p)
		}
		if t.id != none {
			p.topicID = t.id
		}
		leader, epoch := int32(-1), int32(-1)
		if i := int(p.key.partition); i < len(t.partitions) {
			leader, epoch = t.partitions[i].leader, t.partitions[i].leaderEpoch
		}
		p.lead(leader, epoch)
	}
	return sortOwned(recreated)
}

// work is what is to be asked now, and when to look again.
type work struct {
	lookUp     []*ownedPartition           // at the coordinator
	reset      map[int32][]*ownedPartition // by leader
	fetch      map[int32][]*ownedPartition // by leader, everything in stageFetch, due or not
	refused    []*ownedPartition           // to start nowhere: the policy is none
	leaderless bool                        // somebody's leader is not known
	next       time.Time                   // zero: when something happens
}

// plan says what is to be asked at the time now. Everything in lookUp, reset and
// refused is taken to be asked.
func (a *assignment) plan(now time.Time) work {
	w := work{reset: make(map[int32][]*ownedPartition), fetch: make(map[int32][]*ownedPartition)}
	for _, p := range a.all() {
		if p.going {
			continue
		}
		if p.stage == stageFetch && p.leader >= 0 {
			w.fetch[p.leader] = append(w.fetch[p.leader], p)
		}
		switch {
		case p.telling:
			continue
		case p.busy && !now.Before(p.retryAt):
			continue // else the answer may come before p is due again
		case !p.due(now):
		case p.stage == stageCommitted:
			p.ask()
			w.lookUp = append(w.lookUp, p)
			continue
		case p.stage == stageReset && p.reset == ResetNone:
			p.ask()
			w.refused = append(w.refused, p)
			continue
		case p.leader < 0:
			p.failed(now)
			w.leaderless = true
		case p.stage == stageReset:
			p.ask()
			w.reset[p.leader] = append(w.reset[p.leader], p)
			continue
		default:
			continue // its fetcher asks, as soon as there is room
		}
		if w.next.IsZero() || p.retryAt.Before(w.next) {
			w.next = p.retryAt
		}
	}
	return w
}

func sortOwned(parts []*ownedPartition) []*ownedPartition {
	slices.SortFunc(parts, func(a, b *ownedPartition) int {
		return cmp.Or(cmp.Compare(a.key.topic, b.key.topic), cmp.Compare(a.key.partition, b.key.partition))
	})
	return parts
}

// asPartitions returns the keys of parts.
func asPartitions(parts []*ownedPartition) groupmember.Partitions {
	set := make(groupmember.Partitions)
	for _, p := range sortOwned(slices.Clone(parts)) {
		set[p.key.topic] = append(set[p.key.topic], p.key.partition)
	}
	return set
}
