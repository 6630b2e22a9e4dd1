package integration

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// A Verdict is what a judge finds in the events of a group.
type Verdict struct {
	// Problems are the broken promises, one a line: a partition assigned while
	// another member owns it, or twice in one generation; a revocation by a
	// member that owns nothing; a record read by another than its owner, or out of order;
	// a record that nobody read.
	Problems []string

	Read       int                  // records read, each offset counted once
	Duplicates int                  // reads beyond those
	Owners     map[Partition]string // who owns what after the last event
}

// Judge examines events in their order. ends are the offsets after the last
// record of each partition, of which every one from 0 must have been read.
// Reading twice is counted and no problem: a crash may cause it.
func Judge(events []Event, ends map[Partition]int64) Verdict {
	j := judge{
		owners:  map[Partition]stint{},
		gone:    map[string]bool{},
		given:   map[grant]string{},
		read:    map[Partition]map[int64]bool{},
		verdict: Verdict{Owners: map[Partition]string{}},
	}
	for _, e := range events {
		switch e.Kind {
		case Assigned:
			j.assigned(e)
		case Revoked:
			j.revoked(e)
		case Gone:
			j.memberGone(e)
		case Read:
			j.recordRead(e)
		}
	}
	j.unread(ends)
	for p, s := range j.owners {
		j.verdict.Owners[p] = s.member
	}
	return j.verdict
}

// Require fails the test if there are problems, and shows the first of them.
func (v Verdict) Require(t testing.TB) {
	t.Helper()
	if len(v.Problems) > 0 {
		const shown = 20
		first := v.Problems[:min(shown, len(v.Problems))]
		t.Fatalf("%d problems of ownership:\n%s", len(v.Problems), strings.Join(first, "\n"))
	}
}

type judge struct {
	owners  map[Partition]stint
	gone    map[string]bool
	given   map[grant]string // to whom
	read    map[Partition]map[int64]bool
	verdict Verdict
}

// A stint is the time from Assigned to Revoked.
type stint struct {
	member string
	since  time.Duration
	next   int64 // the lowest offset that it may read
}

// A grant is given once: per generation, a partition has one owner.
type grant struct {
	generation int32
	partition  Partition
}

func (j *judge) problem(e Event, format string, args ...any) {
	at := e.At.Round(time.Millisecond)
	j.verdict.Problems = append(j.verdict.Problems, fmt.Sprintf("at %v: ", at)+fmt.Sprintf(format, args...))
}

func (j *judge) assigned(e Event) {
	delete(j.gone, e.Member)
	if e.Generation >= 0 {
		g := grant{e.Generation, e.Partition}
		if other, taken := j.given[g]; taken && other != e.Member {
			j.problem(e, "%s assigned to %s in generation %d, in which %s got it", e.Partition, e.Member, e.Generation, other)
		}
		j.given[g] = e.Member
	}
	owner, owned := j.owners[e.Partition]
	if owned && owner.member == e.Member {
		return // kept
	}
	if owned {
		j.problem(e, "%s assigned to %s while %s owns it since %v", e.Partition, e.Member, owner.member, owner.since)
	}
	j.owners[e.Partition] = stint{member: e.Member, since: e.At}
}

func (j *judge) revoked(e Event) {
	if j.owners[e.Partition].member == e.Member {
		delete(j.owners, e.Partition)
		return
	}
	// One that was cut off learns late what it has lost.
	if !j.gone[e.Member] {
		j.problem(e, "%s revoked from %s, which does not own it", e.Partition, e.Member)
	}
}

func (j *judge) memberGone(e Event) {
	j.gone[e.Member] = true
	maps.DeleteFunc(j.owners, func(_ Partition, s stint) bool { return s.member == e.Member })
}

func (j *judge) recordRead(e Event) {
	owner, owned := j.owners[e.Partition]
	switch {
	case !owned:
		j.problem(e, "%s at offset %d read by %s while nobody owns it", e.Partition, e.Offset, e.Member)
	case owner.member != e.Member:
		j.problem(e, "%s at offset %d read by %s while %s owns it", e.Partition, e.Offset, e.Member, owner.member)
	case e.Offset < owner.next:
		j.problem(e, "%s at offset %d read by %s after offset %d", e.Partition, e.Offset, e.Member, owner.next-1)
	default:
		owner.next = e.Offset + 1
		j.owners[e.Partition] = owner
	}
	if j.read[e.Partition] == nil {
		j.read[e.Partition] = map[int64]bool{}
	}
	if j.read[e.Partition][e.Offset] {
		j.verdict.Duplicates++
		return
	}
	j.read[e.Partition][e.Offset] = true
	j.verdict.Read++
}

// unread reports, per partition, the records that nobody read.
func (j *judge) unread(ends map[Partition]int64) {
	byName := func(a, b Partition) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Number, b.Number))
	}
	for _, p := range slices.SortedFunc(maps.Keys(ends), byName) {
		missing, first := 0, int64(0)
		for offset := range ends[p] {
			if !j.read[p][offset] {
				if missing == 0 {
					first = offset
				}
				missing++
			}
		}
		if missing > 0 {
			j.verdict.Problems = append(j.verdict.Problems,
				fmt.Sprintf("%s: %d of %d records never read, the first at offset %d", p, missing, ends[p], first))
		}
	}
}
