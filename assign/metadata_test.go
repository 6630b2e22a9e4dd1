package assign_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"github.com/musterkafka/muster/assign"
)

func TestOthersReadOurSubscription(t *testing.T) {
	src := assign.AppendSubscription(nil, assign.Member{
		ID:         "not in the bytes",
		Topics:     []string{"users", "orders", "users"},
		Owned:      assign.Partitions{"users": {1}, "orders": {2, 0, 2}, "empty": {}},
		Generation: 7,
		Rack:       "a",
		UserData:   []byte{1, 2},
	})
	var other kmsg.ConsumerMemberMetadata
	require.NoError(t, other.ReadFrom(src))
	require.EqualValues(t, 3, other.Version)
	require.Equal(t, []string{"orders", "users"}, other.Topics)
	require.Equal(t, []byte{1, 2}, other.UserData)
	require.Len(t, other.OwnedPartitions, 2)
	require.Equal(t, "orders", other.OwnedPartitions[0].Topic)
	require.Equal(t, []int32{0, 2}, other.OwnedPartitions[0].Partitions)
	require.Equal(t, "users", other.OwnedPartitions[1].Topic)
	require.EqualValues(t, 7, other.Generation)
	require.Equal(t, "a", *other.Rack)
}

func TestAnEagerSubscriptionIsOfVersion0WhereThatHoldsIt(t *testing.T) {
	for _, test := range []struct {
		what    string
		member  assign.Member
		version int16
	}{
		{"nothing is owned", assign.Member{Generation: -1}, 0},
		{"partitions are owned", assign.Member{Owned: assign.Partitions{"orders": {1}}, Generation: -1}, 3},
		{"a generation is known", assign.Member{Generation: 0}, 3},
		{"the rack is known", assign.Member{Generation: -1, Rack: "a"}, 3},
	} {
		test.member.Topics, test.member.UserData = []string{"orders"}, []byte{1, 2}
		src := assign.AppendEagerSubscription(nil, test.member)
		var other kmsg.ConsumerMemberMetadata
		require.NoError(t, other.ReadFrom(src))
		require.Equal(t, test.version, other.Version, test.what)
		require.Equal(t, []string{"orders"}, other.Topics)
		require.Equal(t, []byte{1, 2}, other.UserData)
		require.Equal(t, other.AppendTo(nil), src, test.what)
	}
}

func TestOthersReadOurAssignment(t *testing.T) {
	src := assign.AppendAssignment(nil, assign.Partitions{"users": {1}, "orders": {2, 0}})
	var other kmsg.ConsumerMemberAssignment
	require.NoError(t, other.ReadFrom(src))
	require.EqualValues(t, 3, other.Version)
	require.Nil(t, other.UserData)
	require.Len(t, other.Topics, 2)
	require.Equal(t, "orders", other.Topics[0].Topic)
	require.Equal(t, []int32{0, 2}, other.Topics[0].Partitions)
	require.Equal(t, "users", other.Topics[1].Topic)
}

func TestWeReadSubscriptionsOfOthers(t *testing.T) {
	rack := "b"
	for version := range int16(4) {
		other := kmsg.NewConsumerMemberMetadata()
		other.Version = version
		other.Topics = []string{"users", "orders"}
		other.OwnedPartitions = []kmsg.ConsumerMemberMetadataOwnedPartition{{Topic: "users", Partitions: []int32{3, 1}}}
		other.Generation = 4
		other.Rack = &rack
		got, err := assign.ReadSubscription(other.AppendTo(nil))
		require.NoError(t, err)
		want := assign.Member{Topics: []string{"orders", "users"}, Generation: -1}
		if version >= 1 {
			want.Owned = assign.Partitions{"users": {1, 3}}
		}
		if version >= 2 {
			want.Generation = 4
		}
		if version >= 3 {
			want.Rack = "b"
		}
		require.Equal(t, want, got, "version %d", version)
	}
}

func TestSubscriptionBytesDependOnContentOnly(t *testing.T) {
	a := assign.Member{ID: "a", Topics: []string{"T", "U"}, Owned: assign.Partitions{"T": {0, 1}}, Generation: -1}
	b := assign.Member{
		ID: "b", InstanceID: "i", Topics: []string{"U", "T", "U"},
		Owned: assign.Partitions{"U": nil, "T": {1, 0, 1, -4}}, Generation: -9, UserData: []byte{},
	}
	require.Equal(t, assign.AppendSubscription(nil, a), assign.AppendSubscription(nil, b))
	require.Equal(t, []int32{1, 0, 1, -4}, b.Owned["T"], "the member is left as it was")
	require.Equal(t, []string{"U", "T", "U"}, b.Topics, "the member is left as it was")
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	require.Equal(t, "ab", string(assign.AppendSubscription([]byte("ab"), assign.Member{})[:2]))
	require.Equal(t, "ab", string(assign.AppendAssignment([]byte("ab"), nil)[:2]))
}

func TestNamesThatTheFormatCannotHoldAreLeftOut(t *testing.T) {
	long := strings.Repeat("x", 1<<15)
	src := assign.AppendSubscription(nil, assign.Member{
		Topics: []string{"T", long}, Owned: assign.Partitions{long: {0}, "T": {1}}, Rack: long,
	})
	got, err := assign.ReadSubscription(src)
	require.NoError(t, err)
	require.Equal(t, assign.Member{Topics: []string{"T"}, Owned: assign.Partitions{"T": {1}}}, got)
}

func TestReadSharesNoMemoryWithTheInput(t *testing.T) {
	want := assign.Member{
		Topics: []string{"T"}, Owned: assign.Partitions{"T": {1}}, Generation: 5, Rack: "a", UserData: []byte("data"),
	}
	src := assign.AppendSubscription(nil, want)
	got, err := assign.ReadSubscription(src)
	require.NoError(t, err)
	clear(src)
	require.Equal(t, want, got)
}

func TestReadMembersSurvivesBadMembers(t *testing.T) {
	good := assign.AppendSubscription(nil, assign.Member{Topics: []string{"T"}, Generation: 3})
	other := assign.AppendSubscription(nil, assign.Member{Topics: []string{"U"}, Generation: 3})
	members, problems := assign.ReadMembers([]assign.Joined{
		{ID: "m3", Metadata: good},
		{ID: "m2", InstanceID: "i2", Metadata: good[:len(good)-3]},
		{ID: "m1", InstanceID: "i1", Metadata: good},
		{ID: "m3", Metadata: other},
	})
	require.Equal(t, []assign.Member{
		{ID: "m1", InstanceID: "i1", Topics: []string{"T"}, Owned: assign.Partitions{}, Generation: 3},
		{ID: "m2", InstanceID: "i2", Generation: -1},
		{ID: "m3", Topics: []string{"T"}, Owned: assign.Partitions{}, Generation: 3},
	}, members)
	require.Len(t, problems, 2)
	require.ErrorContains(t, problems[0], `member "m2" gets no partitions`)
	require.ErrorContains(t, problems[1], `member "m3" is listed twice`)

	plan, err := assign.Range().Assign(assign.Group{Members: members, Topics: map[string]assign.Topic{"T": {Partitions: 2}}})
	require.NoError(t, err)
	require.Equal(t, assign.Plan{"m1": {"T": {0}}, "m2": {}, "m3": {"T": {1}}}, plan)
}

func TestImpossibleLengthsAllocateNothing(t *testing.T) {
	hostile := [][]byte{
		{0, 1, 0x7f, 0xff, 0xff, 0xff},
		{0, 1, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff},
		{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff},
		{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 'T', 0x7f, 0xff, 0xff, 0xff},
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, src := range hostile {
		_, err := assign.ReadSubscription(src)
		require.Error(t, err)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

func TestSubscriptionRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, m := range drawGroup(t).Members {
			got, err := assign.ReadSubscription(assign.AppendSubscription(nil, m))
			require.NoError(t, err)
			require.True(t, m.Owned.Equal(got.Owned))
			require.ElementsMatch(t, m.Topics, got.Topics)
			require.Equal(t, max(m.Generation, -1), got.Generation)
			require.Equal(t, m.Rack, got.Rack)
		}
	})
}

// FuzzReadSubscription claims: no panic, memory in proportion to the input, and
// what was read is in order and survives being written and read again.
func FuzzReadSubscription(f *testing.F) {
	f.Add([]byte{})
	f.Add(assign.AppendSubscription(nil, assign.Member{}))
	f.Add(assign.AppendSubscription(nil, assign.Member{
		Topics: []string{"T", "U"}, Owned: assign.Partitions{"T": {0, 2}, "U": {1}}, Generation: 4, Rack: "a", UserData: []byte{1},
	}))
	f.Add([]byte("\x00\x01\x00\x00\x00\x02\x00\x01b\x00\x01a\x00\x00\x00\x00\x00\x00\x00\x01\x00\x01a\x00\x00\x00\x02\x00\x00\x00\x05\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := assign.ReadSubscription(src)
		if err != nil {
			require.Equal(t, assign.Member{Generation: -1}, m)
			return
		}
		requireAscending(t, m.Owned)
		require.LessOrEqual(t, 2*len(m.Topics)+4*m.Owned.Count()+len(m.UserData)+len(m.Rack), len(src))
		encoded := assign.AppendSubscription(nil, m)
		again, err := assign.ReadSubscription(encoded)
		require.NoError(t, err)
		require.True(t, m.Owned.Equal(again.Owned))
		m.Owned, again.Owned = nil, nil
		require.Equal(t, m, again)
	})
}

// FuzzReadAssignment claims the same for assignments.
func FuzzReadAssignment(f *testing.F) {
	f.Add([]byte{})
	f.Add(assign.AppendAssignment(nil, nil))
	f.Add(assign.AppendAssignment(nil, assign.Partitions{"T": {0, 2}, "U": {1}}))
	f.Add([]byte("\x00\x00\x00\x00\x00\x01\x00\x01a\x00\x00\x00\x02\x00\x00\x00\x05\x00\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, src []byte) {
		p, err := assign.ReadAssignment(src)
		if err != nil {
			return
		}
		requireAscending(t, p)
		require.LessOrEqual(t, 4*p.Count(), len(src))
		encoded := assign.AppendAssignment(nil, p)
		again, err := assign.ReadAssignment(encoded)
		require.NoError(t, err)
		require.Equal(t, p, again)
		require.True(t, bytes.Equal(encoded, assign.AppendAssignment(nil, again)))
	})
}

func requireAscending(t *testing.T, p assign.Partitions) {
	last := ""
	previous := int32(-1)
	for topic, number := range p.All() {
		if topic != last {
			last, previous = topic, -1
		}
		require.Greater(t, number, previous, "topic %q", topic)
		previous = number
	}
}

func BenchmarkReadMembers(b *testing.B) {
	group := largeGroup(true)
	var joined []assign.Joined
	for _, m := range group.Members {
		joined = append(joined, assign.Joined{ID: m.ID, Metadata: assign.AppendSubscription(nil, m)})
	}
	b.Run(fmt.Sprintf("members=%d/topics=%d", len(joined), len(group.Topics)), func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, problems := assign.ReadMembers(joined)
			require.Empty(b, problems)
		}
	})
}
