package groupmember_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// codeRow is one row of testdata/codes.txt.
type codeRow struct{ api, code, from, then, id, generation, coordinator, outcome string }

func codeRows(t *testing.T) []codeRow {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "codes.txt"))
	require.NoError(t, err)
	var rows []codeRow
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "|")
		require.Len(t, cells, 9, line)
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		require.NotEmpty(t, cells[8], "a row has a source: %s", line)
		rows = append(rows, codeRow{cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6], cells[7]})
	}
	return rows
}

// allCodes are those that the protocol has a number for.
func allCodes() []*kerr.Error {
	codes := []*kerr.Error{kerr.UnknownServerError}
	for number := int16(1); number < 300; number++ {
		if code := kerr.TypedErrorForCode(number); code.Code == number {
			codes = append(codes, code)
		}
	}
	return codes
}

// Every code that the protocol knows, in the answer to every request that the
// member sends, is in the table, and the member does what the table says.
func TestEveryErrorCodeIsDecided(t *testing.T) {
	rows := codeRows(t)
	named := make(map[[3]string]bool)
	for _, row := range rows {
		require.False(t, named[[3]string{row.api, row.from, row.code}], "one row each: %v", row)
		named[[3]string{row.api, row.from, row.code}] = true
	}
	for _, row := range rows {
		t.Run(row.api+"/"+row.code+"/"+row.from, func(t *testing.T) {
			for _, code := range allCodes() {
				rest := !named[[3]string{row.api, row.from, code.Message}]
				if row.code == code.Message || row.code == "(retriable)" && rest && code.Retriable || row.code == "(other)" && rest && !code.Retriable {
					runCode(t, row, code)
				}
			}
		})
	}
	for _, api := range []string{"FindCoordinator", "JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "OffsetCommit", "TxnOffsetCommit", "OffsetFetch"} {
		for _, rest := range []string{"(retriable)", "(other)"} {
			found := false
			for key := range named {
				found = found || key[0] == api && key[2] == rest
			}
			require.True(t, found, "%s has no row for %s codes", api, rest)
		}
	}
}

func stateNamed(t *testing.T, name string) groupmember.State {
	t.Helper()
	for _, s := range allStates {
		if s.String() == name {
			return s
		}
	}
	require.FailNow(t, "no state is named "+name)
	return 0
}

// runCode brings a member into the row's state, has the request answered with
// the code, and compares.
func runCode(t *testing.T, row codeRow, code *kerr.Error) {
	t.Helper()
	state := stateNamed(t, row.from)
	w := reach(t, configFor(state), state)
	prepareCode(w, row)
	before := w.member.Status()
	w.outcome = "waits"
	answerCode(w, row.api, code)

	after := w.member.Status()
	defer func() {
		if t.Failed() {
			t.Log(w.history())
		}
	}()
	require.Equal(t, row.then, after.State.String(), "%s: state", code.Message)
	ids := map[string]string{"kept": before.MemberID, "none": "", "given": "m-1"}
	require.Equal(t, ids[row.id], after.MemberID, "%s: member ID", code.Message)
	generations := map[string]int32{"kept": before.Generation, "none": -1}
	require.Equal(t, generations[row.generation], after.Generation, "%s: generation", code.Message)
	require.Equal(t, row.coordinator == "kept", after.Coordinator, "%s: coordinator known", code.Message)
	switch row.outcome {
	case "":
	case "code":
		require.Equal(t, code.Message, w.outcome)
	default:
		require.Equal(t, row.outcome, w.outcome, code.Message)
	}
}

// prepareCode makes the request of the row be under way.
func prepareCode(w *watch, row codeRow) {
	switch row.api {
	case "JoinGroup": // a join by a member of an earlier generation, unless the code is of a first one
		if row.code != kerr.MemberIDRequired.Message {
			w.until(groupmember.Stable)
			w.step(groupmember.Rejoin{Why: "subscription has changed"})
			w.until(groupmember.Joining)
		}
	case "Heartbeat":
		if row.from == "Joining" {
			w.until(groupmember.Stable)
			w.step(groupmember.Rejoin{Why: "subscription has changed"})
			w.until(groupmember.Joining)
		}
		for i := 0; !w.asks("Heartbeat"); i++ {
			w.holds(i < 10, "a heartbeat comes due")
			w.elapse()
		}
	case "OffsetCommit", "TxnOffsetCommit":
		ev := groupmember.Commit{Ticket: 1, Offsets: []groupmember.Offset{{Topic: "orders", Partition: 1, Next: 5}}}
		if row.api == "TxnOffsetCommit" {
			ev.Producer = &groupmember.Producer{TransactionalID: "t", ID: 7}
		}
		if row.from == "Joining" { // asked while letting go, answered after that
			w.until(groupmember.Stable)
			w.step(groupmember.Rejoin{Why: "subscription has changed"})
			w.step(ev)
			w.step(groupmember.Released{Seq: seqOf(w.pop("Revoke"))})
			w.until(groupmember.Joining)
			return
		}
		w.step(ev)
	case "OffsetFetch", "OffsetFetch/partition":
		w.step(groupmember.LookUp{Ticket: 1, Partitions: groupmember.Partitions{"orders": {0}}})
	}
}

func (w *watch) asks(api string) bool {
	for _, a := range w.open {
		if nameOf(a) == api {
			return true
		}
	}
	return false
}

func answerCode(w *watch, api string, code *kerr.Error) {
	switch api {
	case "FindCoordinator":
		w.step(groupmember.Found{Seq: seqOf(w.pop("Find")), Code: code.Code})
		return
	case "OffsetFetch/partition":
		w.replyTo("OffsetFetch", func(resp kmsg.Response) {
			resp.(*kmsg.OffsetFetchResponse).Groups[0].Topics[0].Partitions[0].ErrorCode = code.Code
		})
		return
	}
	w.replyTo(api, func(resp kmsg.Response) {
		switch resp := resp.(type) {
		case *kmsg.JoinGroupResponse:
			resp.ErrorCode = code.Code
		case *kmsg.SyncGroupResponse:
			resp.ErrorCode = code.Code
		case *kmsg.HeartbeatResponse:
			resp.ErrorCode = code.Code
		case *kmsg.LeaveGroupResponse:
			resp.ErrorCode = code.Code
		case *kmsg.OffsetCommitResponse:
			resp.Topics[0].Partitions[0].ErrorCode = code.Code
		case *kmsg.TxnOffsetCommitResponse:
			resp.Topics[0].Partitions[0].ErrorCode = code.Code
		case *kmsg.OffsetFetchResponse:
			resp.Groups[0].ErrorCode = code.Code
		}
	})
}
