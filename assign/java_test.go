package assign_test

import (
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
)

// The files in testdata/java were made with Kafka's own assignors (kafka-clients
// 4.4.0): random groups with their plans, and claims with their bytes.
// integration/javaassign/compare makes more of them and names their folder in JAVA_PLANS.
// They are never rewritten.
func eachJavaScript(t *testing.T, kinds []string, run func(t *testing.T, d *datadriven.TestData) string) {
	var files []string
	for _, folder := range []string{"testdata/java", os.Getenv("JAVA_PLANS")} {
		for _, kind := range kinds {
			if folder != "" {
				files = append(files, filepath.Join(folder, kind+".txt"))
			}
		}
	}
	for _, file := range files {
		blocks := 0
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			blocks++
			if d.Rewrite {
				return d.Expected
			}
			return run(t, d)
		})
		require.Positive(t, blocks, file)
	}
}

func TestRangeAndRoundRobinEqualJava(t *testing.T) {
	assignors := map[string]assign.Assignor{"range": assign.Range(), "roundrobin": assign.RoundRobin()}
	var group assign.Group
	eachJavaScript(t, slices.Sorted(maps.Keys(assignors)), func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd == "group" {
			group = parseGroup(t, d.Input)
			return ""
		}
		require.Contains(t, assignors, d.Cmd)
		return scriptAssign(assignors[d.Cmd], group)
	})
}

// Java's sticky plans depend on the order of hash maps, so equality is not to be
// had. By the objective that both follow, Java's must never be better. Where Java
// fails, or breaks a rule (it may give partitions to a member without a subscription, if
// all others subscribe alike), there is nothing to compare.
func TestStickyPlansAreNoWorseThanJava(t *testing.T) {
	var group assign.Group
	compared, better, invalid, failed := 0, 0, 0, 0
	eachJavaScript(t, []string{"sticky", "cooperative-sticky"}, func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd == "group" {
			group = parseGroup(t, d.Input)
			return ""
		}
		if strings.HasPrefix(d.Expected, "Java fails") {
			failed++
			return d.Expected
		}
		theirs := parseShares(t, d.Expected)
		if assign.Check(group, theirs) != nil || assign.Unassigned(group, theirs).Count() > 0 {
			invalid++
			return d.Expected
		}
		q := newQuestion(group)
		ours := planned(t, assignorNamed(t, d.Cmd), group)
		java, muster := q.score(q.owners(theirs)), q.score(q.owners(ours))
		compared++
		if compareScores(muster, java) < 0 {
			better++
		}
		if compareScores(muster, java) > 0 {
			require.Fail(t, "Java's plan is better", "%s: Java %+v, ours %+v\n%s", d.Pos, java, muster, describePlan(ours))
		}
		return d.Expected
	})
	require.Greater(t, compared, 20*(invalid+failed), "Java's plans should hardly ever be invalid")
	t.Logf(
		"%d plans compared: Java's is as good in %d, worse in %d; %d more were not valid, %d ended in an exception",
		compared, compared-better, better, invalid, failed,
	)
}

// parseShares reads what describePlan writes.
func parseShares(t *testing.T, text string) assign.Plan {
	plan := assign.Plan{}
	for line := range strings.Lines(text) {
		name, share, found := strings.Cut(strings.TrimSpace(line), ": ")
		require.True(t, found, line)
		id, err := strconv.Unquote(`"` + name + `"`)
		require.NoError(t, err)
		plan[id] = assign.Partitions{}
		for word := range strings.FieldsSeq(strings.Trim(share, "-")) {
			at := strings.LastIndex(word, "-")
			plan[id][word[:at]] = append(plan[id][word[:at]], int32(parseInt(t, word[at+1:])))
		}
	}
	return plan
}

// Each member's claim is at most half of what there is, so its member keeps all of it if
// it is read to the last partition: against nobody, and against another that claims the
// same since the generation before. Against one that claims it since the generation after
// it keeps nothing of it.
func TestStickyReadsTheUserDataOfJava(t *testing.T) {
	eachJavaScript(t, []string{"userdata-java"}, func(t *testing.T, d *datadriven.TestData) string {
		owned, generation := parseClaim(t, d)
		data, err := hex.DecodeString(strings.TrimSpace(d.Expected))
		require.NoError(t, err)
		group := twiceTheClaim(owned)
		group.Members[0].UserData = data
		for _, c := range []struct {
			other  []byte
			keeper string
		}{
			{nil, "m1"},
			{stickyUserData(owned, generation-1), "m1"},
			{stickyUserData(owned, generation+1), "m2"},
		} {
			group.Members[1].UserData = c.other
			plan, err := assign.Sticky().Assign(group)
			require.NoError(t, err)
			require.Zero(t, owned.Minus(plan[c.keeper]).Count(), "%s: user data %x of m2", d.Pos, c.other)
		}
		return d.Expected
	})
}

// integration/javaassign/compare lets Java read the bytes in this file.
func TestStickyWritesTheUserDataOfJava(t *testing.T) {
	datadriven.RunTest(t, "testdata/java/userdata-ours.txt", func(t *testing.T, d *datadriven.TestData) string {
		require.Equal(t, "ours", d.Cmd)
		owned, generation := parseClaim(t, d)
		return hex.EncodeToString(assign.Sticky().(assign.UserDataEncoder).UserData(owned, generation))
	})
}

// parseClaim reads the claim on a command's line: T:0,1/U:2 generation=3.
func parseClaim(t *testing.T, d *datadriven.TestData) (assign.Partitions, int32) {
	words := strings.Fields(d.CmdArgs[0].String() + " " + d.CmdArgs[1].String())
	m := parseMember(t, []string{"m1", "-", "owns=" + words[0], words[1]})
	return m.Owned, m.Generation
}

// twiceTheClaim makes a group of two members and at least twice the partitions of a
// claim.
func twiceTheClaim(owned assign.Partitions) assign.Group {
	group := assign.Group{Topics: map[string]assign.Topic{"zz": {Partitions: int32(owned.Count())}}}
	for topic, numbers := range owned {
		group.Topics[topic] = assign.Topic{Partitions: slices.Max(numbers) + 1}
	}
	names := slices.Sorted(maps.Keys(group.Topics))
	group.Members = []assign.Member{
		{ID: "m1", Topics: names, Generation: -1},
		{ID: "m2", Topics: names, Generation: -1},
	}
	return group
}
