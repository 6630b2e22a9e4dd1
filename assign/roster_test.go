package assign

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPartitionsAreFoundAmongTopicsOfAllSizes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		group := Group{Members: []Member{{ID: "m"}}, Topics: map[string]Topic{}}
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int32{0, 1, 2, 31, 32, 33, 64, 200}), 1, 80).Draw(t, "sizes")
		for i, size := range sizes {
			name := fmt.Sprintf("t%02d", i)
			group.Members[0].Topics = append(group.Members[0].Topics, name)
			group.Topics[name] = Topic{Partitions: size}
		}
		r, err := newRoster(group, compareIDs)
		require.NoError(t, err)
		type place struct{ topic, number int32 }
		var places []place
		all := make([]int32, r.partitions())
		for topic := range int32(len(r.topics)) {
			for number := range r.size(topic) {
				p := int32(len(places))
				places = append(places, place{topic, number})
				all[p] = p
				foundTopic, foundNumber := r.locate(p)
				require.Equal(t, places[p], place{foundTopic, foundNumber})
			}
		}
		want := slices.SortedFunc(slices.Values(all), func(a, b int32) int {
			return cmp.Or(cmp.Compare(places[a].number, places[b].number), cmp.Compare(places[a].topic, places[b].topic))
		})
		slices.Reverse(all)
		r.sortByNumber(all, nil)
		require.Len(t, all, len(want))
		for i := range want {
			require.Equal(t, want[i], all[i])
		}
	})
}
