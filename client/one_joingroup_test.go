package client

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/conn"
	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/groupmember/driver"
)

const (
	tourPage = "../docs/one-joingroup.md"

	keyOffsetFetch = 9
	keyJoinGroup   = 11
	keyLeaveGroup  = 13
	keySyncGroup   = 14
)

// The page's two traces are those of a real join, with every hook on.
func TestDocsOneJoinGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tour := newTour(t)
		release := tour.fakes.broker(1).Hold(keyJoinGroup)
		tour.join()
		synctest.Wait() // the first JoinGroup is held
		release()
		release = tour.fakes.broker(1).Hold(keyJoinGroup)
		synctest.Wait() // the second one is
		require.Len(t, tour.fakes.broker(1).Seen(keyJoinGroup), 2)
		tour.add("broker", "JoinGroup has arrived, and is held", []string{"(the network)"})
		release()
		<-tour.assigned

		text, err := os.ReadFile(tourPage)
		require.NoError(t, err)
		page := strings.ReplaceAll(string(text), "\r\n", "\n")
		for kind, want := range map[string]string{"conversation": tour.conversation(), "path": tour.path()} {
			if block(page, kind) != want {
				t.Errorf("%s: the block %q must be:\n%s", tourPage, kind, want)
			}
		}
	})
}

// Every function that the page's tables name is in the file they name, and
// calls the next one where the page draws an arrow.
func TestDocsOneJoinGroupNamesWhatIsThere(t *testing.T) {
	text, err := os.ReadFile(tourPage)
	require.NoError(t, err)
	stops := regexp.MustCompile("(?m)^\\| \\d+ \\| `([^`]+)` \\| (.+?) \\|").FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(stops), 5, "the table of stops is not found")
	for _, stop := range stops {
		for chain := range strings.SplitSeq(stop[2], ", ") {
			checkChain(t, stop[1], strings.Split(chain, " -> "))
		}
	}
}

// checkChain checks that each function of a chain is declared in file and calls
// the next one.
func checkChain(t *testing.T, file string, chain []string) {
	t.Helper()
	functions := functionsOf(t, file)
	for i, name := range chain {
		name = strings.Trim(name, "`")
		body := functions[name]
		if body == nil {
			t.Errorf("%s: %s has no function %s", tourPage, file, name)
			return
		}
		if i+1 < len(chain) {
			_, next, _ := strings.Cut(strings.Trim(chain[i+1], "`"), ".")
			if !mentions(body, next) {
				t.Errorf("%s: %s in %s does not call %s", tourPage, name, file, next)
			}
		}
	}
}

// A tour is a client of one scripted broker, and all that its hooks tell.
type tour struct {
	fakes    *fakes
	consumer ConsumerConfig
	client   Config
	assigned chan struct{} // closed when there is an assignment

	mu    sync.Mutex
	steps []tourStep
}

// tourStep is one call of a hook.
type tourStep struct {
	who  string // "event" and "action" are the driver's
	what string
	at   []string // the functions that led to it, outermost first
}

func newTour(t *testing.T) *tour {
	tour := &tour{fakes: newFakes(t, 1), assigned: make(chan struct{})}
	tour.fakes.topics["orders"] = topicAnswer("orders", idA, 0, partitionAnswer(0, 1, 0), partitionAnswer(1, 1, 0))
	b := tour.fakes.broker(1)
	b.On(keyFindCoordinator, answerCoordinator)
	b.On(keyJoinGroup, answerJoin)
	b.On(keySyncGroup, answerSync)
	b.On(keyLeaveGroup, func(kmsg.Request) kmsg.Response { return kmsg.NewPtrLeaveGroupResponse() })
	b.On(keyOffsetFetch, func(kmsg.Request) kmsg.Response { return nil })

	tour.client.Trace = &Trace{Conn: &conn.Trace{
		RequestStart: func(i conn.TraceInfo) { tour.request("is about to be queued", i) },
		WriteDone:    func(i conn.TraceInfo) { tour.request("was written", i) },
		ReadDone:     func(i conn.TraceInfo) { tour.request("was answered", i) },
	}}
	tour.consumer = ConsumerConfig{Group: "billing", Topics: []string{"orders"}, Trace: &ConsumerTrace{
		Assigned: func(int32, groupmember.Partitions, groupmember.Partitions) {
			tour.add("consumer", "", nil)
			close(tour.assigned)
		},
		Member: &driver.Trace{
			Event:  func(ev groupmember.Event) { tour.add("event", groupmember.DescribeEvent(ev), callers()) },
			Action: func(a groupmember.Action) { tour.add("action", groupmember.DescribeAction(a), callers()) },
		},
	}}
	return tour
}

func (tour *tour) join() {
	t := tour.fakes.t
	consumer, err := tour.fakes.client(tour.client).Consumer(tour.consumer)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, consumer.Close(context.Background())) })
}

func (tour *tour) request(what string, i conn.TraceInfo) {
	if i.Key == keyJoinGroup {
		tour.add("conn", fmt.Sprintf("JoinGroup version %d %s", i.Version, what), callers())
	}
}

var quotedBytes = regexp.MustCompile(`"\\x[^"]*"`)

func (tour *tour) add(who, what string, at []string) {
	what = quotedBytes.ReplaceAllString(what, `"..."`)
	tour.mu.Lock()
	defer tour.mu.Unlock()
	tour.steps = append(tour.steps, tourStep{who, what, at})
}

// conversation is all that the driver's hooks have told, up to the assignment.
func (tour *tour) conversation() string {
	tour.mu.Lock()
	defer tour.mu.Unlock()
	var text strings.Builder
	for _, s := range tour.steps {
		switch s.who {
		case "event":
			fmt.Fprintf(&text, "%s\n", s.what)
		case "action":
			fmt.Fprintf(&text, "    %s\n", s.what)
		case "consumer":
			return text.String()
		}
	}
	return text.String()
}

// path is what happened between the second subscription and the question for
// the plan: where the program was, and what the hooks were told there.
func (tour *tour) path() string {
	tour.mu.Lock()
	defer tour.mu.Unlock()
	begin := slices.IndexFunc(tour.steps, func(s tourStep) bool { return strings.HasPrefix(s.what, "encoded 4 ") })
	end := slices.IndexFunc(tour.steps, func(s tourStep) bool { return strings.HasPrefix(s.what, "plan ") })
	require.Less(tour.fakes.t, begin, end)
	var text strings.Builder
	var before []string
	for _, s := range tour.steps[begin : end+1] {
		if !slices.Equal(s.at, before) {
			fmt.Fprintf(&text, "\n%s\n", strings.Join(s.at, "\n"))
			before = s.at
		}
		fmt.Fprintf(&text, "    %s: %s\n", s.who, s.what)
	}
	return strings.TrimPrefix(text.String(), "\n")
}

func answerCoordinator(req kmsg.Request) kmsg.Response {
	resp := kmsg.NewPtrFindCoordinatorResponse()
	found := kmsg.NewFindCoordinatorResponseCoordinator()
	found.Key, found.NodeID, found.Host, found.Port = req.(*kmsg.FindCoordinatorRequest).CoordinatorKeys[0], 1, "b1", 9092
	resp.Coordinators = append(resp.Coordinators, found)
	return resp
}

// answerJoin gives a newcomer its ID first, as brokers do (KIP-394), and then
// makes it the leader of a group of one.
func answerJoin(asked kmsg.Request) kmsg.Response {
	req := asked.(*kmsg.JoinGroupRequest)
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.MemberID = "ann-1"
	if req.MemberID == "" {
		resp.ErrorCode = 79 // MEMBER_ID_REQUIRED
		return resp
	}
	resp.Generation, resp.LeaderID = 1, req.MemberID
	resp.Protocol = &req.Protocols[0].Name
	member := kmsg.NewJoinGroupResponseMember()
	member.MemberID, member.ProtocolMetadata = req.MemberID, req.Protocols[0].Metadata
	resp.Members = append(resp.Members, member)
	return resp
}

func answerSync(req kmsg.Request) kmsg.Response {
	resp := kmsg.NewPtrSyncGroupResponse()
	resp.MemberAssignment = req.(*kmsg.SyncGroupRequest).GroupAssignment[0].MemberAssignment
	return resp
}

// callers returns the functions of this module that led here, outermost first,
// each with its file; those of tests and of trace.go are left out.
func callers() []string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	var at []string
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		dir, ours := strings.CutPrefix(packageOf(frame.Function), "github.com/musterkafka/muster/")
		file := path.Join(dir, filepath.Base(frame.File))
		if !ours || strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, "/trace.go") {
			continue
		}
		step := fmt.Sprintf("%-30s %s", file, enclosing(file, frame.Line))
		if len(at) == 0 || at[0] != step { // a closure and the function around it are one
			at = append([]string{step}, at...)
		}
	}
	return at
}

// packageOf returns the import path in the name of a function, as in
// "example.com/a/b.(*T).f.func1".
func packageOf(function string) string {
	slash := strings.LastIndex(function, "/") + 1
	name, _, _ := strings.Cut(function[slash:], ".")
	return function[:slash] + name
}

// enclosing returns the function that is declared around a line. The names that
// the runtime gives to closures depend on what was inlined.
func enclosing(file string, line int) string {
	set, parsed, err := parseSource(file)
	if err != nil {
		return err.Error()
	}
	for _, decl := range parsed.Decls {
		if set.Position(decl.Pos()).Line <= line && line <= set.Position(decl.End()).Line {
			if function, ok := decl.(*ast.FuncDecl); ok {
				return functionName(function)
			}
		}
	}
	return "?"
}

// functionsOf returns the functions that are declared in file, by name.
func functionsOf(t *testing.T, file string) map[string]*ast.BlockStmt {
	t.Helper()
	_, parsed, err := parseSource(file)
	require.NoError(t, err)
	functions := make(map[string]*ast.BlockStmt)
	for _, decl := range parsed.Decls {
		if function, ok := decl.(*ast.FuncDecl); ok {
			functions[functionName(function)] = function.Body
		}
	}
	return functions
}

// functionName returns "f", or "T.f" for a method of T or *T.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	return fmt.Sprintf("%v.%s", receiver, f.Name.Name)
}

// mentions reports whether a name occurs in body, as that of a function or method.
func mentions(body *ast.BlockStmt, name string) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			found = true
		}
		return !found
	})
	return found
}

// parseSource parses a file, named by its path from the root.
func parseSource(file string) (*token.FileSet, *ast.File, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, filepath.Join("..", file), nil, parser.SkipObjectResolution)
	return set, parsed, err
}

// block returns the fenced block of that kind.
func block(page, kind string) string {
	_, text, _ := strings.Cut(page, "```"+kind+"\n")
	text, _, _ = strings.Cut(text, "```")
	return text
}
