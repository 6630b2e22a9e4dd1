package driver

import (
	"log/slog"
	"time"

	"github.com/musterkafka/muster/groupmember"
)

// logRebalance writes the one line that a rebalance is worth. One that ends the
// member is told by logEnd.
func (l *loop) logRebalance(r *groupmember.Rebalance) {
	if !endsMember(r.Outcome) {
		l.log(slog.LevelInfo, "group member rebalanced", describe(r)...)
	}
}

// endsMember reports whether a line about the member's end follows.
func endsMember(o groupmember.Outcome) bool {
	return o == groupmember.Failed || o == groupmember.Abandoned
}

// describe makes attributes of an explanation, without what is empty.
func describe(r *groupmember.Rebalance) []any {
	attributes := []any{
		"rebalance", r.Number, "outcome", r.Outcome.String(), "trigger", r.Trigger.String(), "took", r.Took.Round(time.Microsecond),
		"before", r.Before, "after", r.After,
	}
	if r.Outcome == groupmember.Settled {
		attributes = append(attributes, "protocol", r.Protocol, "leader", r.Leader)
	}
	for _, one := range []struct {
		name       string
		partitions groupmember.Partitions
	}{{"gained", r.Gained}, {"lost", r.Lost}, {"revoked", r.Revoked}, {"kept", r.Kept}} {
		if len(one.partitions) > 0 {
			attributes = append(attributes, one.name, groupmember.DescribePartitions(one.partitions))
		}
	}
	for _, one := range []struct{ name, text string }{
		{"setbacks", r.DescribeSetbacks()}, {"spent", r.Spent.String()}, {"change", r.Group.String()},
	} {
		if one.text != "" {
			attributes = append(attributes, one.name, one.text)
		}
	}
	return attributes
}
