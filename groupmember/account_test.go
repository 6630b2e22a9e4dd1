package groupmember_test

import (
	"maps"
	"slices"
	"time"

	"github.com/musterkafka/muster/groupmember"
)

// account is what a watch has seen change hands since the last explanation.
type account struct {
	number     int
	at         time.Time      // of the last explanation
	generation int32          // of the last Assigned
	before     map[int32]bool // owned at the last explanation
	revoked    map[int32]bool
	lost       map[int32]bool
}

func newAccount() account {
	return account{at: epoch, before: map[int32]bool{}, revoked: map[int32]bool{}, lost: map[int32]bool{}}
}

// explained compares an explanation with what the application has been through
// since the last one.
func (w *watch) explained(r *groupmember.Rebalance) {
	a := &w.account
	w.holds(r.Number == a.number+1, "explanations are numbered in a row")
	if r.Outcome == groupmember.Settled {
		w.holds(r.After == a.generation, "a settled member is of the generation of its assignment")
	} else { // what was not given back by now is lost
		w.holds(r.After == -1, "a member that is out is of no generation")
		maps.Copy(a.lost, w.owned)
	}
	owned := map[int32]bool{}
	if r.Outcome == groupmember.Settled {
		maps.Copy(owned, w.owned)
	}
	w.holdsSet(r.Kept, owned, func(id int32) bool { return a.before[id] && !a.lost[id] }, "kept is what was and is")
	w.holdsSet(r.Gained, owned, func(id int32) bool { return !a.before[id] || a.lost[id] }, "gained is what was not and is")
	w.holdsSet(r.Revoked, a.revoked, func(int32) bool { return true }, "revoked is what was released")
	w.holdsSet(r.Lost, a.lost, func(int32) bool { return true }, "lost is what was taken")
	for id := range a.before {
		w.holds(owned[id] || a.revoked[id] || a.lost[id], "what is not owned any more was revoked or lost")
	}
	s := r.Spent
	spent := s.Finding + s.Waiting + s.Releasing + s.Encoding + s.Joining + s.Planning + s.Syncing + s.Decoding + s.Yielding + s.Parting + s.Leaving
	w.holds(spent == r.Took && r.Took <= w.now.Sub(a.at), "the time of the phases is that of the whole")
	w.holds(r.Trigger.Kind != groupmember.NoCause, "there is a trigger")
	w.holds(r.String() != "", "it can be told")
	*a = account{number: r.Number, at: w.now, before: owned, revoked: map[int32]bool{}, lost: map[int32]bool{}}
}

// holdsSet compares partitions of the one topic with those of a set that are
// wanted.
func (w *watch) holdsSet(got groupmember.Partitions, all map[int32]bool, wanted func(int32) bool, promise string) {
	var want []int32
	for id := range all {
		if wanted(id) {
			want = append(want, id)
		}
	}
	slices.Sort(want)
	w.holds(slices.Equal(got["orders"], want) && len(got) <= 1, "%s: %v, not %v", promise, want, got)
}
