package history

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/internal/sim"
)

// Members of simulated groups meet everything that can happen to one. Each history of
// theirs replays to the same actions, and what was read of it is written as it was.
func TestHistoriesOfSimulatedMembersReplay(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 4
	}
	steps, written := 0, map[string]bool{}
	for seed := range seeds {
		for _, text := range simulated(t, seed) {
			for step, err := range Replay(reader(t, text)) {
				require.NoError(t, err, "seed %d", seed)
				written[kindOf(step.Event)] = true
				for _, a := range step.Actions {
					written[kindOf(a)] = true
				}
				steps++
			}
			require.Equal(t, text, rewritten(t, text), "seed %d", seed)
		}
	}
	require.Greater(t, steps, int(seeds)*100)
	for _, often := range []string{"Replied", "Commit", "LookUp", "Leave", "Plan", "Revoke", "Suspended", "Committed", "LookedUp", "Exit"} {
		require.True(t, written[often], "the simulation has no %s", often)
	}
}

// simulated returns the histories of all members of one simulated group.
func simulated(t *testing.T, seed uint64) (texts []string) {
	var outs []*bytes.Buffer
	result := sim.Record(seed, func() sim.Recorder {
		out := new(bytes.Buffer)
		outs = append(outs, out)
		return NewRecorder(out, func(err error) { t.Error(err) })
	})
	require.Empty(t, result.Violation)
	for _, out := range outs {
		texts = append(texts, out.String())
	}
	return texts
}

func reader(t testing.TB, text string) *Reader {
	t.Helper()
	r, err := NewReader(strings.NewReader(text))
	require.NoError(t, err)
	return r
}

// rewritten reads a history and writes down what was read.
func rewritten(t testing.TB, text string) string {
	r := reader(t, text)
	var out bytes.Buffer
	to := NewRecorder(&out, func(err error) { t.Error(err) })
	to.Begin(r.Header().Started, r.Header().Config)
	for e, err := range r.Entries() {
		require.NoError(t, err)
		to.Step(e.At, e.Event, e.Actions)
	}
	return out.String()
}

func kindOf(one any) string { return reflect.TypeOf(one).Name() }

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// recorded is a short history: a member that cannot join, and leaves.
func recorded(t testing.TB) string {
	t.Helper()
	cfg := groupmember.Config{Group: "billing", Seed: 7}
	member, err := groupmember.New(cfg)
	require.NoError(t, err)
	var out bytes.Buffer
	r := NewRecorder(&out, func(err error) { t.Error(err) })
	r.Begin(began, cfg)
	now := began
	for _, ev := range []groupmember.Event{
		groupmember.Start{},
		groupmember.Found{Seq: 1},
		groupmember.Encoded{Seq: 2, Subscription: groupmember.Subscription{Protocols: []groupmember.Protocol{{Name: "range", Metadata: []byte{0, 1, 0xff}}}}},
		groupmember.Replied{Seq: 3, Resp: &kmsg.JoinGroupResponse{Version: 9, ErrorCode: 79, MemberID: "m-1"}},
		groupmember.Encoded{Seq: 4, Subscription: groupmember.Subscription{Protocols: []groupmember.Protocol{{Name: "range"}}}},
		groupmember.Commit{Ticket: 1, Offsets: []groupmember.Offset{{Topic: "orders", Next: 1}}},
		groupmember.Abandon{},
	} {
		now = now.Add(time.Millisecond)
		r.Step(now, ev, member.Step(now, ev, nil))
	}
	return out.String()
}

// replay returns how many steps were the same, and what ended them.
func replay(t testing.TB, text string) (steps int, err error) {
	t.Helper()
	for _, err := range Replay(reader(t, text)) {
		if err != nil {
			return steps, err
		}
		steps++
	}
	return steps, nil
}

func TestReplayFindsTheFirstDifference(t *testing.T) {
	for name, c := range map[string]struct {
		old, new string
		line     int
		index    int
		says     string
	}{
		"another action":  {`{"Send":{"Seq":3,`, `{"Send":{"Seq":4,`, 4, 1, `recorded is {"Send":{"Seq":4,`},
		"an action more":  {`{"Find":{"Seq":1}}`, `{"Find":{"Seq":1}},{"Suspended":{}}`, 2, 2, `recorded is {"Suspended":{}}, replayed is nothing`},
		"an action less":  {`,{"Find":{"Seq":1}}`, ``, 2, 1, `recorded is nothing, replayed is {"Find":{"Seq":1}}`},
		"another event":   {`"MemberID":"m-1"`, `"MemberID":"m-2"`, 6, 1, `"MemberID":"m-2"`},
		"another failure": {`{"Exit":{`, `{"Exit":{"Nothing":1,`, 0, 0, `line 8: actions: [`},
	} {
		t.Run(name, func(t *testing.T) {
			text := recorded(t)
			changed := strings.Replace(text, c.old, c.new, 1)
			require.NotEqual(t, text, changed, text)
			_, err := replay(t, changed)
			require.ErrorContains(t, err, c.says)
			if c.line == 0 {
				return
			}
			d, ok := errors.AsType[*Difference](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, [2]int{c.line, c.index}, [2]int{d.Line, d.Index}, "%v", err)
		})
	}
}

// The seed decides when a back-off ends, and so whether a member that is told that
// the time has come does something. With another seed some histories do not replay.
func TestReplayNeedsTheSeed(t *testing.T) {
	differ := 0
	for seed := range uint64(5) {
		for _, text := range simulated(t, seed) {
			r := reader(t, text)
			r.header.Config.Seed++
			for _, err := range Replay(r) {
				if err != nil {
					differ++
				}
			}
		}
	}
	require.Positive(t, differ)
}

// A process that is killed may leave its last line unfinished. Wherever it ends, what
// is before it can be replayed.
func TestTornHistoryReplaysUpToTheTear(t *testing.T) {
	text := recorded(t)
	header := strings.Index(text, "\n") + 1
	for end := header; end <= len(text); end++ {
		torn := text[:end]
		r := reader(t, torn)
		steps := 0
		for _, err := range Replay(r) {
			require.NoError(t, err, "%q", torn)
			steps++
		}
		whole := strings.Count(torn, "\n") - 1
		switch complete := torn[strings.LastIndex(torn, "\n")+1:]; {
		case complete == "":
			require.Equal(t, whole, steps)
			require.False(t, r.Torn(), "%q", torn)
		case steps == whole:
			require.True(t, r.Torn(), "%q", torn)
		default: // only the end of the line is missing
			require.Equal(t, whole+1, steps, "%q", torn)
			require.Equal(t, byte('\n'), text[end], "%q", torn)
		}
	}
}

func TestHistoryThatCannotBeReadSaysWhereAndWhy(t *testing.T) {
	text := recorded(t)
	header, _, _ := strings.Cut(text, "\n")
	for name, c := range map[string]struct{ text, says string }{
		"empty":              {"", "the history is empty"},
		"foreign text":       {"hello\n", "line 1: this is not the history of a group member"},
		"foreign JSON":       {`{"topics":{}}`, "line 1: this is not the history of a group member"},
		"foreign lines":      {"{\n}\n", "line 1: this is not the history of a group member"},
		"a JSON array":       {"[]", "line 1: this is not the history of a group member"},
		"binary":             {"\x1f\x8b\x08\x00\xff", "line 1: this is not the history of a group member"},
		"another format":     {`{"history":2}`, "line 1: history: the history has format 2: this version of muster reads format 1"},
		"torn header":        {header[:len(header)/2], "line 1: the header is cut off"},
		"no config":          {`{"history":1,"started":"2026-01-01T00:00:00Z"}`, "line 1: config: group is empty"},
		"no start":           {`{"history":1,"config":{"Group":"g"}}`, "line 1: there is no time"},
		"strange config":     {`{"history":1,"config":{"Grupp":"g"}}`, `line 1: config: Grupp: Config has no such field`},
		"strange header":     {`{"history":1,"host":"h"}`, "line 1: host: there is no such field"},
		"second header":      {text + header + "\n", "line 9: history: another history begins here: a file holds that of one member"},
		"foreign line":       {header + "\nhello\n", "line 2: invalid character"},
		"torn in the middle": {header + "\n{\"at\":1,\n{}\n", "line 2: the line ends in the middle"},
		"unknown event":      {header + "\n" + `{"at":1,"event":{"Started":{}}}` + "\n", "line 2: event: Started: there is no such Event"},
		"unknown action":     {header + "\n" + `{"at":1,"event":{"Start":{}},"actions":[{"Fly":{}}]}`, "line 2: actions: [0]: Fly: there is no such Action"},
		"unknown API":        {header + "\n" + `{"at":1,"event":{"Replied":{"Resp":{"Fly":{}}}}}`, "line 2: event: Replied: Resp: Fly: there is no such Response"},
		"unknown field":      {header + "\n" + `{"at":1,"event":{"Found":{"Color":1}}}`, "line 2: event: Found: Color: Found has no such field"},
		"unknown kind":       {header + "\n" + `{"at":1,"event":{"Found":{"Failure":{"Kind":"sad"}}}}`, "line 2: event: Found: Failure: Kind: sad is not a FailureKind"},
		"number too large":   {header + "\n" + `{"at":1,"event":{"Found":{"Code":32768}}}`, "line 2: event: Found: Code: "},
		"wrong type":         {header + "\n" + `{"at":1,"event":{"Found":{"Code":"1"}}}`, "line 2: event: Found: Code: 1 is not a number"},
		"not base64":         {header + "\n" + `{"at":1,"event":{"Planned":{"Assignments":[{"Bytes":"?"}]}}}`, `line 2: event: Planned: Assignments: [0]: Bytes: "?" is not base64`},
		"twice":              {header + "\n" + `{"at":1,"at":2}`, `line 2: "at" is there twice`},
		"two events":         {header + "\n" + `{"at":1,"event":{"Start":{},"Asked":{}}}`, "line 2: event: Asked: there is a Event already"},
		"no event":           {header + "\n" + `{"at":1}`, "line 2: there is no event"},
		"no event in it":     {header + "\n" + `{"at":1,"event":{}}`, "line 2: event: there is no Event"},
		"no time":            {header + "\n" + `{"event":{"Start":{}}}`, "line 2: there is no time"},
		"more on the line":   {header + "\n" + `{"at":1,"event":{"Start":{}}}{}`, "line 2: { follows where the line should end"},
		"an empty line":      {header + "\n\n", "line 2: the line ends in the middle"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := NewReader(strings.NewReader(c.text))
			if err == nil {
				for _, each := range Replay(r) {
					err = each
				}
			}
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

// endless is a line that never ends.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	e.read += len(b)
	return len(b), nil
}

func TestLineIsNotReadWithoutEnd(t *testing.T) {
	const limit = 1 << 20
	in := new(endless)
	_, err := newReader(in, limit)
	require.EqualError(t, err, "line 1: the line has more than 1048576 bytes")
	require.Less(t, in.read, 2*limit)
}

// full is a disk that takes so many writes.
type full struct {
	left  int
	short bool // it takes a part then, and does not say so
}

var errFull = errors.New("no space left")

func (f *full) Write(b []byte) (int, error) {
	if f.left--; f.left >= 0 {
		return len(b), nil
	}
	if f.short {
		return len(b) / 2, nil
	}
	return 0, errFull
}

func TestWriteErrorIsToldOnceAndEndsTheRecording(t *testing.T) {
	for left := range 3 {
		for _, short := range []bool{false, true} {
			var told []error
			out := &full{left: left, short: short}
			r := NewRecorder(out, func(err error) { told = append(told, err) })
			r.Begin(began, groupmember.Config{Group: "g"})
			for range 5 {
				r.Step(began, groupmember.Elapsed{}, nil)
			}
			require.Len(t, told, 1)
			require.ErrorContains(t, told[0], "the history of the group member ends here: ")
			require.Equal(t, told[0], r.Err())
			require.Equal(t, !short, errors.Is(r.Err(), errFull))
			require.Equal(t, -1, out.left, "nothing is written after an error")
		}
	}
}

func TestStepThatCannotBeWrittenEndsTheRecording(t *testing.T) {
	var out bytes.Buffer
	r := NewRecorder(&out, nil)
	r.Begin(began, groupmember.Config{Group: "g"})
	r.Step(began, groupmember.Replied{Resp: (*kmsg.HeartbeatResponse)(nil)}, nil)
	require.ErrorContains(t, r.Err(), "cannot be written")
	r.Step(began, groupmember.Elapsed{}, nil)
	require.Equal(t, 1, strings.Count(out.String(), "\n"), "a line that cannot be finished is not begun")
}
