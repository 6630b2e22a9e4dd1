package planner

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
)

func TestEveryAssignorIsTriedOnAGroup(t *testing.T) {
	file, err := os.Open("testdata/growing.json")
	require.NoError(t, err)
	defer file.Close()
	g, err := Read(file)
	require.NoError(t, err)
	outcomes, err := Try(g, nil)
	require.NoError(t, err)

	// Two members own 6 each; a third has joined. By hand: whoever keeps what it
	// can moves 4.
	names := []string{}
	for _, o := range outcomes {
		names = append(names, o.Name)
		require.Equal(t, 4, o.Explanation.After.Least, o.Name)
		require.Equal(t, 4, o.Explanation.After.Most, o.Name)
		require.Zero(t, o.Unassigned, o.Name)
		if strings.Contains(o.Name, "sticky") {
			require.Equal(t, 4, o.Explanation.Moved(), o.Name)
		}
	}
	require.Equal(t, []string{"range", "roundrobin", "sticky", "cooperative-sticky"}, names)

	var out bytes.Buffer
	require.NoError(t, Print(&out, outcomes, true))
	require.Contains(t, out.String(), "4 to 4")
	require.Contains(t, out.String(), `to "c", new owner joined`)
}

func TestAStaleClaimIsNotAnOwner(t *testing.T) {
	g, err := Read(strings.NewReader(`{"topics": {"t": {"partitions": 2}}, "members": [
		{"id": "a", "topics": ["t"], "owned": {"t": [0, 1]}, "generation": 1},
		{"id": "b", "topics": ["t"], "owned": {"t": [0]}, "generation": 2}]}`))
	require.NoError(t, err)
	outcomes, err := Try(g, []string{"cooperative-sticky", "sticky"})
	require.NoError(t, err)
	for _, o := range outcomes {
		require.Equal(t, 2, o.Explanation.Kept, o.Name)
	}
}

func TestBadInputIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"topic": {}}`: `unknown field "topic"`,
		`{} {}`:         "only one",
		`[`:             "read the group",
		``:              "read the group",
		`{"topics": {"t": {"partitions": 1e12}}}`: "read the group",
	} {
		_, err := Read(strings.NewReader(text))
		require.ErrorContains(t, err, want, text)
	}
	_, err := Try(mustRead(t, `{"topics": {"t": {"partitions": -1}}}`), nil)
	require.ErrorContains(t, err, "must not be negative")
	_, err = Try(mustRead(t, `{"members": [{"id": "a"}, {"id": "a"}]}`), nil)
	require.ErrorContains(t, err, "twice")
	_, err = Try(mustRead(t, `{}`), []string{"stiky"})
	require.EqualError(t, err, `there is no assignor "stiky": there are range, roundrobin, sticky, cooperative-sticky`)
	outcomes, err := Try(mustRead(t, `{}`), nil)
	require.NoError(t, err)
	require.Len(t, outcomes, 4)
}

func mustRead(t *testing.T, text string) assign.Group {
	t.Helper()
	g, err := Read(strings.NewReader(text))
	require.NoError(t, err)
	return g
}
