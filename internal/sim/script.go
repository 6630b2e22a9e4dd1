package sim

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/musterkafka/muster/groupmember"
)

// WriteScript simulates a seed and writes what each of its members was told and did,
// one after the other, as a script of groupmember/testdata/classic.
func WriteScript(to io.Writer, seed uint64) error {
	var all []*conversation
	result := Record(seed, func() Recorder {
		all = append(all, &conversation{apis: map[groupmember.Seq]string{}})
		return all[len(all)-1]
	})
	text := result.Violation
	if text == "" {
		text = "no violation"
	}
	if _, err := fmt.Fprintf(to, "# Seed %d: %s.\n", seed, text); err != nil {
		return err
	}
	for i, c := range all {
		if _, err := fmt.Fprintf(to, "\n# m%d\n%s", i+1, c.text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// conversation writes down what one member is told and does. What it expects is not
// what the member of the simulation did but what another one does that is told the same:
// that knows its deadlines too.
type conversation struct {
	text   bytes.Buffer
	member *groupmember.Member
	now    time.Time
	apis   map[groupmember.Seq]string // directives that answer the requests
}

// Begin implements [Recorder].
func (c *conversation) Begin(now time.Time, cfg groupmember.Config) {
	member, err := groupmember.New(cfg)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	c.member, c.now = member, now
	fmt.Fprintf(&c.text, "\nmember session=%v rebalance=%v interval=%v settle=%v seed=%d",
		cfg.SessionTimeout, cfg.RebalanceTimeout, cfg.HeartbeatInterval, cfg.Settle, cfg.Seed)
	if cfg.InstanceID != "" {
		c.text.WriteString(" instance=" + cfg.InstanceID)
	}
	if cfg.PollInterval != 0 {
		fmt.Fprintf(&c.text, " poll=%v", cfg.PollInterval)
	}
	if cfg.Cooperative {
		c.text.WriteString(" cooperative")
	}
	c.text.WriteString("\n----\nok\n")
}

// Step implements [Recorder].
func (c *conversation) Step(now time.Time, ev groupmember.Event, _ []groupmember.Action) {
	command, input := c.directive(ev)
	c.text.WriteString("\n" + command)
	if passed := now.Sub(c.now); passed > 0 {
		c.text.WriteString(" after=" + strings.Replace(passed.String(), "\u00b5", "u", 1))
	}
	c.text.WriteString("\n" + input + "----\n")
	c.now = now
	actions := c.member.Step(now, ev, nil)
	for _, a := range actions {
		if send, ok := a.(groupmember.Send); ok {
			c.apis[send.Seq] = directives[kindOf(plain(send.Req))]
		}
		c.text.WriteString(groupmember.DescribeAction(a) + "\n")
	}
	if len(actions) == 0 {
		c.text.WriteString("nothing\n")
	}
	if at := c.member.Deadline(); !at.IsZero() {
		fmt.Fprintf(&c.text, "next in %v\n", at.Sub(now).Round(time.Millisecond))
	}
}

// directive returns the line of an event, and the lines under it.
func (c *conversation) directive(ev groupmember.Event) (command, input string) {
	switch ev := ev.(type) {
	case groupmember.Found:
		return answered("found", ev.Seq, ev.Failure, codeOf(ev.Code), "")
	case groupmember.Replied:
		command, input = describeResponse(ev.Resp)
		return answered(c.apis[ev.Seq], ev.Seq, ev.Failure, command, input)
	case groupmember.Encoded:
		return answered("encoded", ev.Seq, ev.Failure, subscriptionOf(ev), "")
	case groupmember.Planned:
		for _, a := range ev.Assignments {
			input += a.MemberID + " " + hexOf(a.Bytes) + "\n"
		}
		return answered("planned", ev.Seq, ev.Failure, "", input)
	case groupmember.Decoded:
		return answered("decoded", ev.Seq, ev.Failure, partitionsOf("", ev.Partitions)+partitionsOf("foreign.", ev.Foreign), "")
	case groupmember.Released:
		return answered("released", ev.Seq, groupmember.Failure{}, "", "")
	case groupmember.Start:
		return "start", ""
	case groupmember.Rejoin:
		return "rejoin", ev.Why + "\n"
	case groupmember.Asked:
		return "asked", ""
	case groupmember.Commit:
		for _, o := range ev.Offsets {
			input += fmt.Sprintf("%s %d %d\n", o.Topic, o.Partition, o.Next)
		}
		command = fmt.Sprintf("commit ticket=%d", ev.Ticket)
		if one := ev.Producer; one != nil {
			command += fmt.Sprintf(" transaction=%s producer=%d epoch=%d", one.TransactionalID, one.ID, one.Epoch)
		}
		return command, input
	case groupmember.Withdraw:
		return fmt.Sprintf("withdraw ticket=%d", ev.Ticket), ""
	case groupmember.LookUp:
		return fmt.Sprintf("lookup ticket=%d", ev.Ticket) + partitionsOf("", ev.Partitions), ""
	case groupmember.Leave:
		return strings.TrimSpace("leave " + flagged("remain", ev.Remain)), ev.Why + "\n"
	case groupmember.Abandon:
		return "abandon", ""
	case groupmember.Elapsed:
		return "elapsed", ""
	}
	panic(fmt.Sprintf("BUG: no directive for %T", ev))
}

// answered is the directive of an answer, or of the failure in its place.
func answered(name string, seq groupmember.Seq, failure groupmember.Failure, rest, input string) (string, string) {
	line := fmt.Sprintf("%s seq=%d", name, seq)
	if !failure.Failed() {
		return line + rest, input
	}
	kind := strings.NewReplacer(" by the broker", "", " ", "-").Replace(failure.Kind.String())
	line += " failed=" + kind
	if failure.Unsent {
		line += " unsent"
	}
	return line, failure.Text + "\n"
}

func flagged(name string, set bool) string {
	if set {
		return name
	}
	return ""
}

// directives are those with the answers to requests.
var directives = [callKinds]string{
	joinCall: "join-group", syncCall: "sync-group", beatCall: "heartbeat", leaveCall: "leave-group",
	commitCall: "offset-commit", txnCall: "txn-offset-commit", fetchCall: "offset-fetch",
}
