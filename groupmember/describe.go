package groupmember

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
)

// DescribeEvent returns one line about ev, for scripts and debug logs. Equal
// events give equal lines.
func DescribeEvent(ev Event) string {
	switch ev := ev.(type) {
	case Found:
		return line("found", ev.Seq, outcome(ev.Failure, codeName(ev.Code)))
	case Replied:
		if ev.Failure.Failed() {
			return line("replied", ev.Seq, describeFailure(ev.Failure))
		}
		return line("replied", ev.Seq, describeResponse(ev.Resp))
	case Encoded:
		return line("encoded", ev.Seq, outcome(ev.Failure, describeSubscription(ev.Subscription)))
	case Planned:
		return line("planned", ev.Seq, outcome(ev.Failure, describeAssignments(ev.Assignments)+describeComposition(ev.Group)))
	case Decoded:
		text := list(ev.Partitions)
		if len(ev.Foreign) > 0 {
			text += " foreign=" + list(ev.Foreign)
		}
		return line("decoded", ev.Seq, outcome(ev.Failure, text))
	case Released:
		return line("released", ev.Seq, "")
	case Start:
		return "start"
	case Rejoin:
		return "rejoin: " + ev.Why
	case Asked:
		return "asked"
	case Commit:
		text := fmt.Sprintf("commit ticket=%d %s", ev.Ticket, describeOffsets(ev.Offsets))
		if ev.Producer != nil {
			text += fmt.Sprintf(" transaction=%s producer=%d/%d", ev.Producer.TransactionalID, ev.Producer.ID, ev.Producer.Epoch)
		}
		return text
	case Withdraw:
		return fmt.Sprintf("withdraw ticket=%d", ev.Ticket)
	case LookUp:
		return fmt.Sprintf("look up ticket=%d %s", ev.Ticket, list(ev.Partitions))
	case Leave:
		return strings.TrimSuffix(fmt.Sprintf("leave%s: %s", flag(" remain", ev.Remain), ev.Why), ": ")
	case Abandon:
		return "abandon"
	case Elapsed:
		return "elapsed"
	}
	return fmt.Sprintf("%T", ev)
}

// DescribeAction returns one line about a, for scripts and debug logs. Equal
// actions give equal lines.
func DescribeAction(a Action) string {
	switch a := a.(type) {
	case Find:
		return line("find", a.Seq, strings.TrimSpace(flag("forget", a.Forget)))
	case Send:
		return line("send", a.Seq, a.Route.String()+" "+describeRequest(a.Req))
	case Encode:
		return line("encode", a.Seq, fmt.Sprintf("owned=%s generation=%d", list(a.Owned), a.Generation))
	case Plan:
		return line("plan", a.Seq, fmt.Sprintf("generation=%d protocol=%s members=%s%s", a.Generation, a.Protocol, describeJoined(a.Members), flag(" skip", a.Skip)))
	case Decode:
		return line("decode", a.Seq, fmt.Sprintf("protocol=%s %q", a.Protocol, a.Assignment))
	case Resolve:
		return line("resolve", a.Seq, describeTopicIDs(a.Topics))
	case Revoke:
		return line("revoke", a.Seq, list(a.Partitions)+flag(" lost", a.Lost))
	case Cancel:
		return line("cancel", a.Seq, "")
	case Assigned:
		return fmt.Sprintf("assigned generation=%d added=%s owned=%s", a.Generation, list(a.Added), list(a.Owned))
	case Suspended:
		return "suspended"
	case Resumed:
		return "resumed"
	case Committed:
		return fmt.Sprintf("committed ticket=%d %s", a.Ticket, outcome(a.Failure, describeResults(a.Results)))
	case LookedUp:
		return fmt.Sprintf("looked up ticket=%d %s", a.Ticket, outcome(a.Failure, describeResults(a.Results)))
	case Warned:
		return "warned: " + a.Text
	case Rebalanced:
		return "explained: " + strings.ReplaceAll(a.Rebalance.String(), "\n  ", "; ")
	case Moved:
		return fmt.Sprintf("moved %v -> %v: %s", a.From, a.To, a.Why)
	case Exit:
		return strings.TrimSpace("exit " + outcome(a.Failure, ""))
	}
	return fmt.Sprintf("%T", a)
}

// String returns the route's name.
func (r Route) String() string {
	if r == RouteControl {
		return "control"
	}
	return "group"
}

// String describes the failure in one line.
func (f Failure) String() string {
	if !f.Failed() {
		return "no failure"
	}
	return describeFailure(f)
}

func line(what string, seq Seq, rest string) string {
	return strings.TrimSpace(fmt.Sprintf("%s %d %s", what, seq, rest))
}

func outcome(failure Failure, otherwise string) string {
	if failure.Failed() {
		return describeFailure(failure)
	}
	return otherwise
}

func describeFailure(f Failure) string {
	text := "failed: " + f.Kind.String()
	if f.Code != 0 {
		text += " " + codeName(f.Code)
	}
	text += flag(" unsent", f.Unsent)
	if f.Text != "" {
		text += ": " + f.Text
	}
	return text
}

func codeName(code int16) string {
	if code == 0 {
		return "ok"
	}
	return kerr.TypedErrorForCode(code).Message
}

func flag(name string, set bool) string {
	if set {
		return name
	}
	return ""
}
