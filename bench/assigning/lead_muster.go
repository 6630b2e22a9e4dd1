package main

import (
	"errors"
	"fmt"

	"github.com/musterkafka/muster/assign"
)

// prepareMuster does what client does as a leader.
func prepareMuster(assignor string, g assign.Group) (lead, error) {
	joined, topics, a := subscriptions(assignor, g), g.Topics, assignorOf(assignor)
	return func(w *stopwatch) (map[string][]byte, error) {
		members, problems := assign.ReadMembers(joined)
		if problems != nil {
			return nil, errors.Join(problems...)
		}
		w.lap(&w.stages.Decode)
		group := assign.Group{Members: members, Topics: topics}
		assignments, left, err := assign.Lead(a, group)
		if err != nil {
			return nil, err
		}
		if n := left.Count(); n > 0 {
			return nil, fmt.Errorf("%d partitions are left to nobody", n)
		}
		w.lap(&w.stages.Assign)
		out := make(map[string][]byte, len(members))
		for _, e := range assignments {
			out[e.MemberID] = e.Bytes
		}
		return out, nil
	}, nil
}
