package groupmember_test

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// conversation is a member under a script: it steps the member, and remembers
// the last question of each kind so that a script need not count.
type conversation struct {
	member *groupmember.Member
	now    time.Time
	last   map[string]groupmember.Seq
	moves  []groupmember.Moved
}

func newConversation(cfg groupmember.Config) (*conversation, error) {
	member, err := groupmember.New(cfg)
	return &conversation{member: member, now: epoch, last: make(map[string]groupmember.Seq)}, err
}

// step returns what the member does, one line for each action.
func (c *conversation) step(ev groupmember.Event) []string {
	var lines []string
	for _, a := range c.member.Step(c.now, ev, nil) {
		lines = append(lines, groupmember.DescribeAction(a))
		switch a := a.(type) {
		case groupmember.Moved:
			c.moves = append(c.moves, a)
		case groupmember.Send:
			c.last[kmsg.NameForKey(a.Req.Key())] = a.Seq
		case groupmember.Find:
			c.last["Find"] = a.Seq
		case groupmember.Encode:
			c.last["Encode"] = a.Seq
		case groupmember.Plan:
			c.last["Plan"] = a.Seq
		case groupmember.Decode:
			c.last["Decode"] = a.Seq
		case groupmember.Resolve:
			c.last["Resolve"] = a.Seq
		case groupmember.Revoke:
			c.last["Revoke"] = a.Seq
		case groupmember.Cancel, groupmember.Assigned, groupmember.Suspended, groupmember.Resumed, groupmember.Committed,
			groupmember.LookedUp, groupmember.Warned, groupmember.Rebalanced, groupmember.Exit:
		}
	}
	return lines
}

// run carries out one directive of a script. Every directive may have
// after=DURATION, which passes first, and every answer seq=NUMBER, for one that
// is not to the last question of its kind.
func (c *conversation) run(t *testing.T, d *datadriven.TestData) string {
	a := arguments{t: t, d: d}
	c.now = c.now.Add(a.duration("after"))
	ev, err := c.event(a)
	require.NoError(t, err, d.Pos)
	lines := c.step(ev)
	if len(lines) == 0 {
		lines = append(lines, "nothing")
	}
	if at := c.member.Deadline(); !at.IsZero() {
		lines = append(lines, "next in "+at.Sub(c.now).Round(time.Millisecond).String())
	}
	return strings.Join(lines, "\n") + "\n"
}

// event reads a directive.
func (c *conversation) event(a arguments) (groupmember.Event, error) {
	switch a.d.Cmd {
	case "start":
		return groupmember.Start{}, nil
	case "elapsed":
		return groupmember.Elapsed{}, nil
	case "asked":
		return groupmember.Asked{}, nil
	case "abandon":
		return groupmember.Abandon{}, nil
	case "rejoin":
		return groupmember.Rejoin{Why: a.d.Input}, nil
	case "leave":
		return groupmember.Leave{Why: a.d.Input, Remain: a.d.HasArg("remain")}, nil
	case "commit":
		return a.commit(), nil
	case "withdraw":
		return groupmember.Withdraw{Ticket: a.ticket()}, nil
	case "lookup":
		return groupmember.LookUp{Ticket: a.ticket(), Partitions: a.partitions("")}, nil
	case "found":
		return groupmember.Found{Seq: c.seq(a, "Find"), Code: a.code("code"), Failure: a.failure()}, nil
	case "encoded":
		return groupmember.Encoded{Seq: c.seq(a, "Encode"), Subscription: a.subscription(), Failure: a.failure()}, nil
	case "planned":
		return groupmember.Planned{Seq: c.seq(a, "Plan"), Assignments: a.assignments(), Group: a.composition(), Failure: a.failure()}, nil
	case "decoded":
		return groupmember.Decoded{Seq: c.seq(a, "Decode"), Partitions: a.partitions(""), Foreign: a.partitions("foreign."), Failure: a.failure()}, nil
	case "resolved":
		return groupmember.Decoded{Seq: c.seq(a, "Resolve"), Partitions: a.partitions(""), Failure: a.failure()}, nil
	case "released":
		return groupmember.Released{Seq: c.seq(a, "Revoke")}, nil
	}
	name, ok := responses[a.d.Cmd]
	if !ok {
		return nil, fmt.Errorf("unknown directive %q", a.d.Cmd)
	}
	ev := groupmember.Replied{Seq: c.seq(a, name), Failure: a.failure()}
	if !ev.Failure.Failed() {
		ev.Resp = a.response(name)
	}
	return ev, nil
}

// responses are the directives that answer requests.
var responses = map[string]string{
	"join-group": "JoinGroup", "sync-group": "SyncGroup", "heartbeat": "Heartbeat", "leave-group": "LeaveGroup",
	"offset-commit": "OffsetCommit", "txn-offset-commit": "TxnOffsetCommit", "offset-fetch": "OffsetFetch", "consumer-group-heartbeat": "ConsumerGroupHeartbeat",
}

func (c *conversation) seq(a arguments, kind string) groupmember.Seq {
	if a.d.HasArg("seq") {
		return groupmember.Seq(a.unsigned("seq"))
	}
	return c.last[kind]
}

// arguments reads those of one directive.
type arguments struct {
	t *testing.T
	d *datadriven.TestData
}

func (a arguments) text(key, otherwise string) string {
	for _, arg := range a.d.CmdArgs {
		if arg.Key == key && len(arg.Vals) == 1 {
			return arg.Vals[0]
		}
	}
	return otherwise
}

func (a arguments) optional(key string) *string {
	if !a.d.HasArg(key) {
		return nil
	}
	text := a.text(key, "")
	return &text
}

func (a arguments) duration(key string) time.Duration {
	d, err := time.ParseDuration(a.text(key, "0"))
	require.NoError(a.t, err, a.d.Pos)
	return d
}

func (a arguments) number(key string, otherwise int64) int64 {
	n, err := strconv.ParseInt(a.text(key, strconv.FormatInt(otherwise, 10)), 10, 64)
	require.NoError(a.t, err, a.d.Pos)
	return n
}

func (a arguments) unsigned(key string) uint64 {
	n, err := strconv.ParseUint(a.text(key, "0"), 10, 64)
	require.NoError(a.t, err, a.d.Pos)
	return n
}

func (a arguments) code(key string) int16 { return codeNamed(a.t, a.text(key, "ok")) }

func codeNamed(t *testing.T, name string) int16 {
	if name == "ok" {
		return 0
	}
	for number := int16(-1); number < 200; number++ {
		if code := kerr.TypedErrorForCode(number); code != nil && code.Message == name {
			return number
		}
	}
	require.FailNow(t, "no error code is named "+name)
	return 0
}

var kinds = map[string]groupmember.FailureKind{
	"refused": groupmember.BrokerRefused, "unreachable": groupmember.Unreachable, "timed-out": groupmember.TimedOut,
	"unsupported": groupmember.Unsupported, "canceled": groupmember.Canceled, "rejected": groupmember.Rejected,
	"forfeited": groupmember.Forfeited, "suspect": groupmember.Suspect, "closed": groupmember.Closed,
}

func (a arguments) failure() groupmember.Failure {
	name := a.text("failed", "")
	if name == "" {
		return groupmember.Failure{}
	}
	require.Contains(a.t, kinds, name, a.d.Pos)
	return groupmember.Failure{Kind: kinds[name], Unsent: a.d.HasArg("unsent"), Text: a.d.Input}
}

func (a arguments) ticket() groupmember.Ticket { return groupmember.Ticket(a.number("ticket", 1)) }

// partitions reads topic=(0,1) for every topic whose key has the prefix.
func (a arguments) partitions(prefix string) groupmember.Partitions {
	var p groupmember.Partitions
	for _, arg := range a.d.CmdArgs {
		topic, ok := strings.CutPrefix(arg.Key, prefix+"topic.")
		if !ok || prefix == "" && strings.HasPrefix(arg.Key, "foreign.") {
			continue
		}
		if p == nil {
			p = groupmember.Partitions{}
		}
		for _, text := range arg.Vals {
			n, err := strconv.ParseInt(text, 10, 32)
			require.NoError(a.t, err, a.d.Pos)
			p[topic] = append(p[topic], int32(n))
		}
	}
	return p
}

// commit reads lines of "topic partition offset".
func (a arguments) commit() groupmember.Commit {
	ev := groupmember.Commit{Ticket: a.ticket()}
	for _, fields := range a.lines() {
		require.Len(a.t, fields, 3, a.d.Pos)
		ev.Offsets = append(ev.Offsets, groupmember.Offset{
			Topic: fields[0], Partition: int32(a.integer(fields[1])), Next: a.integer(fields[2]), LeaderEpoch: -1,
		})
	}
	if id := a.text("transaction", ""); id != "" {
		ev.Producer = &groupmember.Producer{TransactionalID: id, ID: a.number("producer", 7), Epoch: int16(a.number("epoch", 0))}
	}
	return ev
}

func (a arguments) lines() [][]string {
	var all [][]string
	for line := range strings.Lines(a.d.Input) {
		if fields := strings.Fields(line); len(fields) > 0 {
			all = append(all, fields)
		}
	}
	return all
}

// bytes reads text, or 0x and hexadecimal digits.
func (a arguments) bytes(text string) []byte {
	digits, ok := strings.CutPrefix(text, "0x")
	if !ok {
		return []byte(text)
	}
	data, err := hex.DecodeString(digits)
	require.NoError(a.t, err, a.d.Pos)
	return data
}

func (a arguments) integer(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(a.t, err, a.d.Pos)
	return n
}

func (a arguments) subscription() groupmember.Subscription {
	s := groupmember.Subscription{Pattern: a.text("pattern", ""), Rack: a.text("rack", "")}
	for _, arg := range a.d.CmdArgs {
		switch arg.Key {
		case "protocols":
			for _, name := range arg.Vals {
				if name == "" { // protocols=() is none
					continue
				}
				s.Protocols = append(s.Protocols, groupmember.Protocol{Name: name, Metadata: a.bytes(a.text("metadata", "me"))})
			}
		case "topics":
			s.Topics = arg.Vals
		}
	}
	if !a.d.HasArg("protocols") && len(s.Topics) == 0 {
		s.Protocols = []groupmember.Protocol{{Name: "range", Metadata: []byte("me")}}
	}
	return s
}

// assignments reads lines of "member bytes".
func (a arguments) assignments() []groupmember.Assignment {
	var all []groupmember.Assignment
	if a.failure().Failed() {
		return nil
	}
	for _, fields := range a.lines() {
		require.Len(a.t, fields, 2, a.d.Pos)
		all = append(all, groupmember.Assignment{MemberID: fields[0], Bytes: a.bytes(fields[1])})
	}
	return all
}

// composition reads count.TOPIC=NUMBER and wants.MEMBER=(TOPIC,TOPIC).
func (a arguments) composition() groupmember.Composition {
	c := groupmember.Composition{}
	for _, arg := range a.d.CmdArgs {
		if topic, ok := strings.CutPrefix(arg.Key, "count."); ok {
			if c.Partitions == nil {
				c.Partitions = make(map[string]int32)
			}
			c.Partitions[topic] = int32(a.integer(arg.Vals[0]))
		}
		if id, ok := strings.CutPrefix(arg.Key, "wants."); ok {
			if c.Topics == nil {
				c.Topics = make(map[string][]string)
			}
			c.Topics[id] = arg.Vals
		}
	}
	return c
}

func configOf(a arguments) groupmember.Config {
	return groupmember.Config{
		Group:             "g",
		InstanceID:        a.text("instance", ""),
		SessionTimeout:    a.duration("session"),
		RebalanceTimeout:  a.duration("rebalance"),
		HeartbeatInterval: a.duration("interval"),
		Settle:            cmp.Or(a.duration("settle"), -1),
		PollInterval:      a.duration("poll"),
		Cooperative:       a.d.HasArg("cooperative"),
		Seed:              a.unsigned("seed"),
	}
}

// script runs the directives of one file in order. "member" begins a new
// conversation; "status" and "trusted" only look.
func script(t *testing.T, path string) []*conversation {
	var all []*conversation
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd == "member" {
			c, err := newConversation(configOf(arguments{t: t, d: d}))
			if err != nil {
				return errors.Join(err).Error() + "\n"
			}
			all = append(all, c)
			return "ok\n"
		}
		require.NotEmpty(t, all, "a script begins with a member")
		c := all[len(all)-1]
		if d.Cmd == "status" {
			status := c.member.Status()
			status.Last = nil // it was told when it was over
			return fmt.Sprintf("%+v\n", status)
		}
		if d.Cmd == "trusted" {
			at := c.member.Trusted()
			if at.IsZero() {
				return "no\n"
			}
			return "for " + at.Sub(c.now).String() + "\n"
		}
		return c.run(t, d)
	})
	return all
}
