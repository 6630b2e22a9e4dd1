package groupmember

import (
	"fmt"
	"strings"
	"time"
)

// String explains the rebalance in a few lines, without a line break at the
// end.
func (r Rebalance) String() string {
	lines := []string{r.headline()}
	add := func(what, text string) {
		if text != "" {
			lines = append(lines, "  "+what+": "+text)
		}
	}
	add("setbacks", r.DescribeSetbacks())
	add("partitions", r.partitions())
	add("time", r.Spent.String())
	add("group", r.Group.String())
	return strings.Join(lines, "\n")
}

// headline is the explanation in one line.
func (r Rebalance) headline() string {
	text := fmt.Sprintf("rebalance %d %v after %v: %v", r.Number, r.Outcome, r.Took.Round(time.Microsecond), r.Trigger)
	if r.Outcome == Settled {
		role := "follows " + r.LeaderID
		if r.Leader {
			role = "leads"
		}
		text += fmt.Sprintf("; generation %d", r.After)
		if r.Before >= 0 {
			text += fmt.Sprintf(", was %d", r.Before)
		}
		text += fmt.Sprintf("; member %s %s by %s", r.MemberID, role, r.Protocol)
	} else if r.Before >= 0 {
		text += fmt.Sprintf("; generation was %d; member %s", r.Before, r.MemberID)
	}
	if r.Attempts > 1 {
		text += fmt.Sprintf("; %d attempts", r.Attempts)
	}
	return text
}

// DescribeSetbacks says in one line what made the member try again; "" if nothing
// did.
func (r Rebalance) DescribeSetbacks() string {
	texts := make([]string, 0, len(r.Setbacks)+1)
	for _, c := range r.Setbacks {
		texts = append(texts, c.String())
	}
	if r.MoreSetbacks > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", r.MoreSetbacks))
	}
	return strings.Join(texts, "; ")
}

// partitions says what has changed hands.
func (r Rebalance) partitions() string {
	var texts []string
	for _, one := range []struct {
		what string
		p    Partitions
	}{{"gained", r.Gained}, {"lost", r.Lost}, {"revoked", r.Revoked}, {"kept", r.Kept}} {
		if len(one.p) > 0 {
			texts = append(texts, one.what+" "+DescribePartitions(one.p))
		}
	}
	if len(texts) == 0 && r.Outcome == Settled {
		return "none"
	}
	return strings.Join(texts, ", ")
}

// most is how many partitions are written out.
const most = 16

// DescribePartitions names the partitions, topics ascending, or counts them by topic
// if they are many.
func DescribePartitions(p Partitions) string {
	total := 0
	for _, ids := range p {
		total += len(ids)
	}
	if total <= most {
		return list(p)
	}
	var texts []string
	for i, topic := range p.topics() {
		if i == most {
			texts = append(texts, fmt.Sprintf("and %d more topics", len(p)-most))
			break
		}
		texts = append(texts, fmt.Sprintf("%s[%s]", topic, count(len(p[topic]), "partition")))
	}
	return strings.Join(texts, " ")
}

// String names each state in which time was spent; "" if none was.
func (d Durations) String() string {
	var texts []string
	for s := Idle; s <= Exited; s++ {
		if spent := d.of(s); spent != nil && *spent > 0 {
			texts = append(texts, fmt.Sprintf("%v %v", s, spent.Round(time.Microsecond)))
		}
	}
	return strings.Join(texts, ", ")
}

// String says what is known and what is guessed; "" if nothing is.
func (g GroupChange) String() string {
	var texts []string
	if g.Size > 0 {
		texts = append(texts, count(g.Size, "member"))
	}
	if g.Since >= 0 && g.Members == Known {
		texts = append(texts, fmt.Sprintf("since generation %d", g.Since))
		texts = append(texts, named("joined", g.Joined), named("gone", g.Gone), named("returned", g.Returned), named("resubscribed", g.Resubscribed))
		for _, t := range g.TopicChanges {
			texts = append(texts, fmt.Sprintf("topic %s has %s, had %d", t.Topic, count(int(t.After), "partition"), t.Before))
		}
		if len(g.Joined)+len(g.Gone)+len(g.Returned)+len(g.Resubscribed)+len(g.TopicChanges) == 0 {
			texts = append(texts, "nothing has changed")
		}
	}
	if g.Guess != "" {
		texts = append(texts, g.Guess)
	}
	return strings.Join(nonempty(texts), ", ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func named(what string, members []GroupMember) string {
	if len(members) == 0 {
		return ""
	}
	names := make([]string, 0, min(len(members), most)+1)
	for i, m := range members {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(members)-most))
			break
		}
		names = append(names, m.String())
	}
	return what + " " + strings.Join(names, " ")
}

func nonempty(texts []string) []string {
	var kept []string
	for _, text := range texts {
		if text != "" {
			kept = append(kept, text)
		}
	}
	return kept
}

// String returns the member's ID, with its instance ID if it is static.
func (m GroupMember) String() string {
	if m.InstanceID != "" {
		return m.ID + "(" + m.InstanceID + ")"
	}
	return m.ID
}

// String says what the cause is, in words.
func (c Cause) String() string {
	text := c.Kind.String()
	if c.Text != "" {
		text += ": " + c.Text
	}
	if name := codeName(c.Code); c.Code != 0 && !strings.Contains(c.Text, name) {
		text += " " + name
	}
	return text
}

var causeNames = [...]string{
	NoCause: "no cause", MemberStarted: "member started", RejoinRequested: "rejoin requested", ApplicationBack: "application back",
	GroupRebalancing: "group rebalancing", PartitionsYielded: "partitions yielded", AssignmentMismatch: "assignment mismatch",
	MemberExpelled: "member expelled", RoundMissed: "round missed",
	ReleaseOverdue: "release overdue", SessionDoubtful: "session doubtful", CoordinatorLost: "coordinator lost",
	RequestUnanswered: "request unanswered", RequestRefused: "request refused", AnswerSenseless: "answer senseless",
	SubscriptionFailed: "subscription failed", PlanFailed: "plan failed", AssignmentUnreadable: "assignment unreadable",
	ApplicationSilent: "application silent", LeaveRequested: "leave requested", MemberFailed: "member failed",
}

// String says in words what kind of cause k is.
func (k CauseKind) String() string { return nameOf(causeNames[:], int(k)) }

var outcomeNames = [...]string{
	Settled: "settled", Withdrawn: "withdrawn", Rested: "rested", Left: "left", Abandoned: "abandoned", Failed: "failed",
}

// String returns the outcome's name.
func (o Outcome) String() string { return nameOf(outcomeNames[:], int(o)) }

var certaintyNames = [...]string{Unknown: "unknown", Inferred: "inferred", Known: "known"}

// String returns the certainty's name.
func (c Certainty) String() string { return nameOf(certaintyNames[:], int(c)) }

func nameOf(names []string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return "unknown"
}
