package assign

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// mistaken is an assignor of this package with a fault.
type mistaken struct {
	sticky
	owner []int32
}

func (a mistaken) decide(g Group) (decision, error) {
	r, err := newRoster(g, compareIDs)
	return decision{roster: r, owner: a.owner}, err
}

// What an assignor of the package decides is checked like any other plan.
func TestLeadChecksTheAssignorsOfThePackage(t *testing.T) {
	group := Group{
		Members: []Member{{ID: "a", Topics: []string{"t", "v"}}, {ID: "b", Topics: []string{"u", "v"}}, {ID: "c"}},
		Topics:  map[string]Topic{"t": {Partitions: 2}, "u": {Partitions: 1}, "v": {Partitions: 2}},
	}
	for _, test := range []struct {
		fault string
		owner []int32 // of t-0, t-1, u-0, v-0, v-1
	}{
		{"", []int32{0, 0, 1, 0, 1}},
		{`member "b" got topic "t" without a subscription`, []int32{0, 1, 1, 0, 1}},
		{`member "a" got topic "u" without a subscription`, []int32{0, 0, 0, 0, 1}},
		{`member "c" got topic "v" without a subscription`, []int32{0, 0, 1, 0, 2}},
		{"left partitions to nobody", []int32{0, 0, 1, 0, nobody}},
		{"left partitions to nobody", []int32{nobody, 0, 1, 0, 1}},
	} {
		_, _, err := Lead(mistaken{owner: test.owner}, group)
		if test.fault == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, test.fault)
		}
	}
}
