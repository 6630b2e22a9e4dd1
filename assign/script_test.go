package assign_test

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
)

// A script defines a group and asks about it:
//
//	group                      topics and members until the next group
//	  topic T 3 a,b b -        3 partitions; the racks of each, "-" for none
//	  member m1 T,U rack=a instance=i1 owns=T:0,1/U:2 generation=5
//	range, roundrobin, sticky, cooperative-sticky
//	                           the plan, checked and complete
//	rounds cooperative-sticky  what members own after each round, until nothing changes
//	explain sticky             the plan, against the old one in the input or the claims
//	check, unassigned          of the plan in the input
//	withhold                   the plan in the input without what is still owned
//	subscription, assignment   hex in the input, read and printed; # starts a comment
//	bytes                      the hex of the first member's subscription
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		var group assign.Group
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "group":
				group = parseGroup(t, d.Input)
				return ""
			case "range", "roundrobin", "sticky", "cooperative-sticky":
				return scriptAssign(assignorNamed(t, d.Cmd), group)
			case "rounds":
				return scriptRounds(t, d, group)
			case "explain":
				return scriptExplain(t, d, group)
			case "check":
				return describeError(assign.Check(group, parsePlan(t, d.Input)))
			case "unassigned":
				return describePartitions(assign.Unassigned(group, parsePlan(t, d.Input)))
			case "withhold":
				return describePlan(assign.Withhold(group, parsePlan(t, d.Input)))
			case "subscription":
				return scriptSubscription(t, d.Input)
			case "assignment":
				p, err := assign.ReadAssignment(parseHex(t, d.Input))
				if err != nil {
					return describeError(err)
				}
				return describePartitions(p)
			case "bytes":
				return hex.EncodeToString(assign.AppendSubscription(nil, group.Members[0]))
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

func assignorNamed(t *testing.T, name string) assign.Assignor {
	for _, assignor := range allAssignors() {
		if assignor.Name() == name {
			return assignor
		}
	}
	require.Fail(t, "no assignor has this name", name)
	return nil
}

func allAssignors() []assign.Assignor {
	return append(stickyKinds(), assign.Range(), assign.RoundRobin())
}

func scriptAssign(assignor assign.Assignor, group assign.Group) string {
	group = claimed(assignor, group)
	plan, err := assignor.Assign(group)
	if err != nil {
		return describeError(err)
	}
	text := describePlan(plan)
	if err := assign.Check(group, plan); err != nil {
		text += describeError(err)
	}
	if left := assign.Unassigned(group, plan); left.Count() > 0 {
		text += "unassigned: " + describePartitions(left)
	}
	return text
}

// scriptRounds lets the group follow the plans of a cooperative assignor.
func scriptRounds(t *testing.T, d *datadriven.TestData, group assign.Group) string {
	assignor := assignorNamed(t, d.CmdArgs[0].Key)
	var text strings.Builder
	for round := 1; round < 6; round++ {
		plan := planned(t, assignor, group)
		given := assign.Withhold(group, plan)
		text.WriteString(fmt.Sprintf("round %d\n%s", round, describePlan(given)))
		group = owning(group, given, int32(100+round))
		if assign.Unassigned(group, given).Count() == 0 {
			break
		}
	}
	return text.String()
}

func scriptExplain(t *testing.T, d *datadriven.TestData, group assign.Group) string {
	before := assign.Owners(group)
	if d.Input != "" {
		before = parsePlan(t, d.Input)
	}
	plan := planned(t, assignorNamed(t, d.CmdArgs[0].Key), group)
	if d.HasArg("withhold") {
		plan = assign.Withhold(group, plan)
	}
	return assign.Explain(before, group, plan).String()
}

func scriptSubscription(t *testing.T, input string) string {
	src := parseHex(t, input)
	members, problems := assign.ReadMembers([]assign.Joined{{ID: "m1", Metadata: src}})
	if len(problems) > 0 {
		return describeError(problems[0])
	}
	m := members[0]
	text := fmt.Sprintf("topics: %q\nowned: %sgeneration: %d\n", m.Topics, describePartitions(m.Owned), m.Generation)
	if m.Rack != "" {
		text += fmt.Sprintf("rack: %s\n", m.Rack)
	}
	if m.UserData != nil {
		text += fmt.Sprintf("user data: %x\n", m.UserData)
	}
	return text
}

func parseGroup(t *testing.T, input string) assign.Group {
	group := assign.Group{Topics: map[string]assign.Topic{}}
	for line := range strings.Lines(input) {
		words := strings.Fields(line)
		switch words[0] {
		case "topic":
			topic := assign.Topic{Partitions: int32(parseInt(t, words[2]))}
			for _, racks := range words[3:] {
				topic.Racks = append(topic.Racks, strings.Split(strings.Trim(racks, "-"), ","))
				if racks == "-" {
					topic.Racks[len(topic.Racks)-1] = nil
				}
			}
			group.Topics[words[1]] = topic
		case "member":
			group.Members = append(group.Members, parseMember(t, words[1:]))
		default:
			require.Fail(t, "unknown line in group", line)
		}
	}
	return group
}

func parseMember(t *testing.T, words []string) assign.Member {
	m := assign.Member{Generation: -1}
	id, err := strconv.Unquote(`"` + words[0] + `"`)
	require.NoError(t, err)
	m.ID = id
	if words[1] != "-" {
		m.Topics = strings.Split(words[1], ",")
	}
	for _, word := range words[2:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "rack":
			m.Rack = value
		case "instance":
			m.InstanceID = value
		case "owns":
			m.Owned = parsePartitions(t, value)
		case "generation":
			m.Generation = int32(parseInt(t, value))
		case "userdata":
			m.UserData = parseHex(t, value)
		default:
			require.Fail(t, "unknown word in member", word)
		}
	}
	return m
}

func parsePlan(t *testing.T, input string) assign.Plan {
	plan := assign.Plan{}
	for line := range strings.Lines(input) {
		words := strings.Fields(line)
		plan[words[0]] = assign.Partitions{}
		if len(words) > 1 {
			plan[words[0]] = parsePartitions(t, words[1])
		}
	}
	return plan
}

// parsePartitions reads T:0,1/U:2.
func parsePartitions(t *testing.T, text string) assign.Partitions {
	p := assign.Partitions{}
	for part := range strings.SplitSeq(text, "/") {
		topic, numbers, _ := strings.Cut(part, ":")
		for number := range strings.SplitSeq(numbers, ",") {
			p[topic] = append(p[topic], int32(parseInt(t, number)))
		}
	}
	return p
}

func parseInt(t *testing.T, text string) int {
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

func parseHex(t *testing.T, input string) []byte {
	var digits strings.Builder
	for line := range strings.Lines(input) {
		line, _, _ = strings.Cut(line, "#")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	src, err := hex.DecodeString(digits.String())
	require.NoError(t, err)
	return src
}

func describePlan(plan assign.Plan) string {
	var text strings.Builder
	for _, id := range slices.Sorted(maps.Keys(plan)) {
		fmt.Fprintf(&text, "%s: %s", strings.Trim(strconv.QuoteToASCII(id), `"`), describePartitions(plan[id]))
	}
	return text.String()
}

func describePartitions(p assign.Partitions) string {
	if p.Count() == 0 {
		return "-\n"
	}
	words := make([]string, 0, p.Count())
	for topic, number := range p.All() {
		words = append(words, fmt.Sprintf("%s-%d", topic, number))
	}
	return strings.Join(words, " ") + "\n"
}

func describeError(err error) string {
	if err == nil {
		return "ok\n"
	}
	return "error: " + err.Error() + "\n"
}
