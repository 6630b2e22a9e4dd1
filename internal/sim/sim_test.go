package sim

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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

func TestVisitsOfOneSeedAreThoseOfItsMembers(t *testing.T) {
	r := Run(1, nil)
	require.Positive(t, r.Visits[groupmember.Idle][indexOf(groupmember.Start{})])
	require.Positive(t, r.Visits[groupmember.Stable][indexOf(groupmember.Elapsed{})])
	require.Contains(t, r.Visits.Rare(1_000_000), "Start in Idle: "+strconv.Itoa(r.Visits[groupmember.Idle][indexOf(groupmember.Start{})]))
	require.Empty(t, (&Visits{}).Rare(0))
}
