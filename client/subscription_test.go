package client

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTopicNamesAreThoseThatKafkaTakes(t *testing.T) {
	for name, valid := range map[string]bool{
		"orders": true, "Orders.v2_eu-1": true, "...": true, "__consumer_offsets": true, strings.Repeat("x", 249): true,
		"": false, ".": false, "..": false, "a b": false, "a/b": false, "caf\u00e9": false, "a\x00": false, strings.Repeat("x", 250): false,
	} {
		require.Equal(t, valid, validTopic(name), "%q", name)
	}
}

func TestAPatternMatchesWholeNames(t *testing.T) {
	for _, test := range []struct {
		pattern, topic string
		matches        bool
	}{
		{"pay.*", "payments", true},
		{"pay", "payments", false},
		{"pay", "repay", false},
		{"a|b", "a", true},
		{"a|b", "ab", false},
		{"Orders", "orders", false},
		{"(?i)Orders", "orders", true},
		{"^orders$", "orders", true},
		{".*", "__consumer_offsets", false},
	} {
		s, err := newSubscription(nil, []string{test.pattern}, false)
		require.NoError(t, err)
		internal := test.topic == "__consumer_offsets"
		require.Equal(t, test.matches, s.matches(test.topic, internal), "%s and %s", test.pattern, test.topic)
	}
}

func TestInternalTopicsMatchOnlyOnRequest(t *testing.T) {
	s, err := newSubscription(nil, []string{"__.*"}, true)
	require.NoError(t, err)
	require.True(t, s.matches("__consumer_offsets", true))
}

func TestWhatCannotBeSubscribedToIsRefusedByName(t *testing.T) {
	for want, cfg := range map[string]ConsumerConfig{
		"neither Topics nor Patterns has an entry": {},
		`Topics[1] is "a b"`:                       {Topics: []string{"a", "a b"}},
		`Topics[0] is ".."`:                        {Topics: []string{".."}},
		"Patterns[0]: is empty":                    {Patterns: []string{""}},
		"Patterns[1]: \"a(b\": error parsing regexp: missing closing )": {Patterns: []string{"x", "a(b"}},
		`Patterns[0]: "a)(b"`:  {Patterns: []string{"a)(b"}},
		"Rack has 32768 bytes": {Topics: []string{"a"}, Rack: strings.Repeat("x", 32768)},
	} {
		cfg.Group = "g"
		cl, err := New(Config{Brokers: []string{"b1:9092"}})
		require.NoError(t, err)
		_, err = cl.Consumer(cfg)
		require.ErrorContains(t, err, want)
		require.NoError(t, cl.Close())
	}
}

func TestATopicThatIsNamedAndMatchedCountsOnce(t *testing.T) {
	s, err := newSubscription([]string{"b", "missing", "a"}, []string{"a", "[ac]"}, false)
	require.NoError(t, err)
	c := (&cluster{}).apply(1, scope{patterns: []*subscription{s}}, answer(
		topicAnswer("a", idA, 0, partitionAnswer(0, 1, 0)),
		topicAnswer("c", idB, 0, partitionAnswer(0, 1, 0)),
	))
	topics, matching := s.resolve(c)
	require.Equal(t, []string{"a", "b", "c", "missing"}, topics)
	require.Equal(t, 2, matching)
}

// A11: brokers learn of topics one after the other.
func TestWhatMatchesIsForgottenOnlyByTwoAnswers(t *testing.T) {
	s, err := newSubscription(nil, []string{"a.*"}, false)
	require.NoError(t, err)
	all := scope{patterns: []*subscription{s}}
	internal := topicAnswer("a-internal", [16]byte{9}, 0, partitionAnswer(0, 1, 0))
	internal.IsInternal = true
	c := (&cluster{}).apply(1, all, answer(
		topicAnswer("a1", idA, 0, partitionAnswer(0, 1, 0)), topicAnswer("b1", idB, 0, partitionAnswer(0, 1, 0)), internal))
	require.Len(t, c.topics, 1, "nothing is kept that does not match")

	for number, want := range []int{1, 0, 0} {
		c = c.apply(uint64(number+2), all, answer())
		topics, _ := s.resolve(c)
		require.Len(t, topics, want, "after %d answers without it", number+1)
		require.Equal(t, want > 0, c.awaits(), "it is asked about again soon")
	}
	require.Empty(t, c.topics)
}

// A topic whose partitions are not described yet would cause another round when
// they are.
func TestATopicThatIsBeingCreatedDoesNotMatchYet(t *testing.T) {
	s, err := newSubscription(nil, []string{"a"}, false)
	require.NoError(t, err)
	all := scope{patterns: []*subscription{s}}
	c := (&cluster{}).apply(1, all, answer(topicAnswer("a", idA, 5)))
	topics, _ := s.resolve(c)
	require.Empty(t, topics)
	require.True(t, c.awaits())
}

func TestTheRackOfABrokerThatIsDownIsRemembered(t *testing.T) {
	up := answer(topicAnswer("a", idA, 0, partitionAnswer(0, 1, 0)))
	up.Brokers[0].Rack, up.Brokers[1].Rack = new("r1"), new("r2")
	c := (&cluster{}).apply(1, named("a"), up)
	down := answer(topicAnswer("a", idA, 0, partitionAnswer(0, 1, 0)))
	down.Brokers = down.Brokers[:1]
	down.Brokers[0].Rack = new("r3")
	c = c.apply(2, named("a"), down)
	require.Equal(t, map[int32]string{1: "r3", 2: "r2"}, c.racks)
	gone := answer()
	c = c.apply(3, named("a"), gone)
	require.Empty(t, c.racks, "both say that they have none any more")
}
