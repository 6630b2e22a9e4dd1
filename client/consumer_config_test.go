package client

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
)

func TestAllProblemsOfAConsumerConfigAreReportedAtOnce(t *testing.T) {
	cl, err := New(Config{Brokers: []string{"b1:9092"}})
	require.NoError(t, err)
	defer cl.Close()
	_, err = cl.Consumer(ConsumerConfig{
		Topics:       []string{"a", "", "a"},
		Reset:        7,
		AtClose:      7,
		Assignors:    []assign.Assignor{assign.Range(), nil, assign.Range()},
		FetchMaxWait: -1,
		BufferBytes:  -1,
		Classic:      ClassicConfig{SessionTimeout: time.Second, HeartbeatInterval: 2 * time.Second},
	})
	for _, part := range []string{
		"Group is empty", "Topics[1] is empty", `"a" twice`, "Reset is 7", "AtClose is 7", "Assignors[1] is nil", `two that are named "range"`,
		"FetchMaxWait is -1ns", "BufferBytes is -1", "Classic.HeartbeatInterval (2s)",
	} {
		require.ErrorContains(t, err, part)
	}
}

// The values that do not fit the wire, or make no sense there.
func TestAConsumerConfigThatCannotBeSentIsRefused(t *testing.T) {
	for want, cfg := range map[string]ConsumerConfig{
		"FetchMaxWait is 2400h0m0s":             {FetchMaxWait: 100 * 24 * time.Hour},
		"FetchMaxWait is 1\u00b5s":              {FetchMaxWait: time.Microsecond},
		"Classic.SessionTimeout is 2400h0m0s":   {Classic: ClassicConfig{SessionTimeout: 100 * 24 * time.Hour}},
		"Classic.RebalanceTimeout is 2400h0m0s": {Classic: ClassicConfig{RebalanceTimeout: 100 * 24 * time.Hour}},
		"Classic.HeartbeatInterval is 1\u00b5s": {Classic: ClassicConfig{HeartbeatInterval: time.Microsecond}},
		"Classic.RebalanceTimeout (1s) must":    {Classic: ClassicConfig{RebalanceTimeout: time.Second}},
		"instance ID has 250 characters":        {InstanceID: strings.Repeat("x", 250)},
	} {
		cfg.Group, cfg.Topics = "g", []string{"t"}
		require.ErrorContains(t, cfg.validate(), want)
	}
}

func TestAnAnswerIsNeverLargerThanAConnectionTakes(t *testing.T) {
	c := ConsumerConfig{FetchMaxBytes: math.MaxInt, BufferBytes: math.MaxInt, FetchMaxPartitionBytes: math.MaxInt, FetchMinBytes: math.MaxInt}.withDefaults()
	require.LessOrEqual(t, c.FetchMaxBytes, 96<<20)
	require.EqualValues(t, math.MaxInt32, newFetchRequest(&c).req.MinBytes)
}

func TestNoAssignorsMeansTheDefaultOnes(t *testing.T) {
	require.Len(t, ConsumerConfig{Assignors: []assign.Assignor{}}.withDefaults().Assignors, 1)
}

func TestTheZeroConsumerConfigHasTheDocumentedDefaults(t *testing.T) {
	c := ConsumerConfig{Group: "g", Topics: []string{"b", "a"}}
	require.NoError(t, c.validate())
	d := c.withDefaults()
	require.Equal(t, 5*time.Second, d.CommitInterval)
	require.Equal(t, 500*time.Millisecond, d.FetchMaxWait)
	require.Equal(t, 1, d.FetchMinBytes)
	require.Equal(t, 50<<20, d.FetchMaxBytes)
	require.Equal(t, 1<<20, d.FetchMaxPartitionBytes)
	require.Equal(t, 64<<20, d.BufferBytes)
	require.Equal(t, 5*time.Second, d.CloseTimeout)
	require.Equal(t, ClassicConfig{SessionTimeout: 45 * time.Second, HeartbeatInterval: 3 * time.Second, RebalanceTimeout: 5 * time.Minute}, d.Classic)
	require.Len(t, d.Assignors, 1)
	require.Equal(t, "cooperative-sticky", d.Assignors[0].Name())
	require.NoError(t, d.member().Validate())
}

// KIP-429: an assignor that is not made for it may be chosen in any round, so one in
// the list is enough.
func TestAMemberIsCooperativeOnlyIfAllItsAssignorsAre(t *testing.T) {
	custom := assignorFunc{cooperative: true}
	for _, test := range []struct {
		assignors   []assign.Assignor
		cooperative bool
	}{
		{nil, true},
		{[]assign.Assignor{assign.CooperativeSticky()}, true},
		{[]assign.Assignor{assign.CooperativeSticky(), custom}, true},
		{[]assign.Assignor{assign.CooperativeSticky(), assign.Range()}, false},
		{[]assign.Assignor{assign.Range(), assign.CooperativeSticky()}, false},
		{[]assign.Assignor{assign.Sticky()}, false},
	} {
		c := ConsumerConfig{Group: "g", Topics: []string{"t"}, Assignors: test.assignors}
		require.NoError(t, c.validate())
		d := c.withDefaults()
		require.Equal(t, test.cooperative, d.member().Cooperative, "%v", test.assignors)
	}
}
