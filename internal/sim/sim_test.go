package sim

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// seeds is how many are simulated: a few in the short mode, as many as
// SIM_SEEDS says, or else what takes some seconds.
func seeds(t *testing.T) uint64 {
	if text := os.Getenv("SIM_SEEDS"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, "SIM_SEEDS is a number")
		return n
	}
	if testing.Short() {
		return 100
	}
	return 500 // the race detector makes them ten times as slow
}

func TestGroupsHoldTheirPromisesUnderFaults(t *testing.T) {
	sum := RunAll(0, seeds(t), runtime.GOMAXPROCS(0))
	if len(sum.Failed) > 0 {
		first := sum.Failed[0]
		require.Fail(t, first.Violation, "seed %d and %d more; its history ends with\n%s", first.Seed, len(sum.Failed)-1, lastLines(first.Seed, 40))
	}
}

func lastLines(seed uint64, count int) string {
	lines := history(seed)
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}

func history(seed uint64) []string {
	var lines []string
	Run(seed, func(line string) { lines = append(lines, line) })
	return lines
}

func TestOneSeedIsOneHistory(t *testing.T) {
	for seed := range uint64(5) {
		require.Equal(t, history(seed), history(seed))
		require.NotEqual(t, history(seed), history(seed+1))
	}
}

func TestWatchingChangesNothing(t *testing.T) {
	for seed := range uint64(5) {
		require.Equal(t, Run(seed, nil), Run(seed, func(string) {}))
	}
}

// The checks find what they are for: each is shown a world in which it is
// broken.
func TestChecksFindWhatTheyAreFor(t *testing.T) {
	for _, c := range []struct {
		name string
		harm func(w *world, a, b *process)
		want string
	}{
		{"two owners", func(w *world, a, b *process) {
			part := ownedBy(t, a)
			b.app.parts[part].owned = true
			w.given(b, part, 99)
			w.check(b)
		}, "both own"},
		{"delivery after a loss", func(w *world, a, b *process) {
			part := ownedBy(t, a)
			w.given(b, part, 99)
			w.delivered(a, part)
		}, "delivers from"},
		{"undone offset", func(w *world, a, _ *process) {
			a.checkCommit(commitOf(w.parts[ownedBy(t, a)], 1_000_000))
		}, "has done less"},
		{"offset going back", func(w *world, _, _ *process) { w.offsetStored("orders", 0, 5, 4) }, "goes back"},
		{"second JoinGroup", func(_ *world, a, _ *process) { a.checkJoin(1); a.checkJoin(2) }, "while another one is open"},
		{"join storm", func(_ *world, a, _ *process) {
			for range storm + 1 {
				a.checkJoin(1)
				a.joinGroup = 0
			}
		}, "within a second"},
		{"exit without a reason", func(_ *world, a, _ *process) {
			a.exit(groupmember.Failure{Kind: groupmember.Unreachable})
		}, "exits by itself"},
		{"needless loss", func(w *world, a, _ *process) { w.needless(a, "lost") }, "nothing went wrong"},
		{"unowned partition", func(w *world, a, _ *process) {
			part := ownedBy(t, a)
			w.dropped(a, part)
			w.recover()
		}, "does not have one owner"},
		{"group without rest", func(w *world, a, _ *process) {
			a.pause()
			w.recover()
		}, "although nothing happens"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := calmWorld(t)
			c.harm(w, w.processes[0], w.processes[1])
			require.Contains(t, w.violation, c.want)
		})
	}
}

// calmWorld returns a group without faults that has come to rest, of two members or
// more that own something.
func calmWorld(t *testing.T) *world {
	for seed := range uint64(10_000) {
		w := newWorld(seed, nil)
		if !w.plan.calm || len(w.seats) < 2 || w.plan.partitions[0] < 4 {
			continue
		}
		w.appoint(w.brokers[0], 0)
		for _, s := range w.seats {
			w.occupy(s)
		}
		w.until(w.patience())
		require.Empty(t, w.violation)
		require.Empty(t, w.unrest())
		return w
	}
	require.FailNow(t, "no such group")
	return nil
}

func ownedBy(t *testing.T, p *process) int {
	for i := range p.app.parts {
		if p.app.parts[i].owned {
			return i
		}
	}
	require.FailNow(t, p.name+" owns nothing")
	return 0
}

func commitOf(at place, next int64) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Topic = at.topic
	partition := kmsg.NewOffsetCommitRequestTopicPartition()
	partition.Partition, partition.Offset = at.id, next
	topic.Partitions = append(topic.Partitions, partition)
	req.Topics = append(req.Topics, topic)
	return req
}

func TestVisitsOfOneSeedAreThoseOfItsMembers(t *testing.T) {
	r := Run(1, nil)
	require.Positive(t, r.Visits[groupmember.Idle][indexOf(groupmember.Start{})])
	require.Positive(t, r.Visits[groupmember.Stable][indexOf(groupmember.Elapsed{})])
	require.Contains(t, r.Visits.Rare(1_000_000), "Start in Idle: "+strconv.Itoa(r.Visits[groupmember.Idle][indexOf(groupmember.Start{})]))
	require.Empty(t, (&Visits{}).Rare(0))
}
