package integration

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/client"
)

// A member that is cut off need not know it, but it must have stopped reading
// by the time that its partitions are given to another. What it reads until
// then it cannot commit, so that is read twice, and nothing else.
func TestMusterMemberCutOffIsSilentBeforeOthersTakeOver(t *testing.T) {
	t.Parallel()
	const partitions, produced = 12, 12_000
	c := Shared(t)
	topic, group := c.CreateTopic(t, partitions), UniqueName(t, "group")
	r := NewRecorder()
	c.FranzProduce(t, topic, "none", spread(produced, partitions))

	// The body takes its time, so that much is buffered when the cut comes.
	hurry := make(chan struct{})
	ann := c.MusterMember(t, r, "ann", group, topic, func(cfg *MusterConfig) {
		cfg.Consumer.CommitInterval = 200 * time.Millisecond
		cfg.Body = func(*client.Record) {
			select {
			case <-hurry:
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	c.MusterMember(t, r, "bob", group, topic)
	awaitShares(t, c, r, group, map[string]int{"ann": 6, "bob": 6})
	awaitReads(t, r, produced/2) // bob has read its half

	cut := time.Since(r.begin)
	ann.Network.Cut()
	awaitBrokerShares(t, c, group, map[string]int{"bob": 12})
	takeover := assignedAfter(t, r, "bob", cut)
	requireSessionTimeout(t, r.Events()[takeover].At-cut)

	require.Positive(t, readsSince(r.Events()[:takeover], "ann", cut), "ann reads on for a while after the cut")
	require.Less(t, readsSince(r.Events()[:takeover], "ann", 0), produced/2, "ann had more to read when it fell silent")

	close(hurry)
	ann.Network.Heal()
	awaitShares(t, c, r, group, map[string]int{"ann": 6, "bob": 6})
	awaitReads(t, r, produced)
	ends, err := c.Ends(t.Context(), topic, partitions)
	require.NoError(t, err)
	events := r.Events()
	verdict := Judge(slices.Insert(slices.Clone(events), takeover, Event{At: cut, Kind: Gone, Member: "ann"}), ends)
	verdict.Require(t)
	require.Equal(t, produced, verdict.Read)

	require.Equal(t, verdict.Duplicates, rereads(events)["ann"], "only what ann had read is read twice")
	commitTime := time.Second // the interval, and time for the last answer
	require.LessOrEqual(t, verdict.Duplicates, readsSince(events[:takeover], "ann", cut-commitTime))
}

// requireSessionTimeout requires that a takeover came when the broker had missed
// heartbeats for long enough: the last came up to an interval before the crash,
// and the others learn of it with one of theirs.
func requireSessionTimeout(t *testing.T, takeover time.Duration) {
	t.Helper()
	require.Greater(t, takeover, sessionTimeout-time.Second)
	require.Less(t, takeover, sessionTimeout+5*time.Second)
}

// assignedAfter returns the index of the first event after a moment that
// assigns something to a member.
func assignedAfter(t *testing.T, r *Recorder, member string, after time.Duration) int {
	t.Helper()
	index := -1
	require.Eventually(t, func() bool {
		index = slices.IndexFunc(r.Events(), func(e Event) bool {
			return e.Kind == Assigned && e.Member == member && e.At > after
		})
		return index >= 0
	}, time.Minute, 10*time.Millisecond)
	return index
}

// readsSince counts the records that a member has read since a moment.
func readsSince(events []Event, member string, since time.Duration) int {
	n := 0
	for _, e := range events {
		if e.Kind == Read && e.Member == member && e.At >= since {
			n++
		}
	}
	return n
}
