package client

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/musterkafka/muster/assign"
	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/groupmember/driver"
)

const (
	defaultCommitInterval         = 5 * time.Second
	defaultFetchMaxWait           = 500 * time.Millisecond
	defaultFetchMinBytes          = 1
	defaultFetchMaxBytes          = 50 << 20
	mostFetchMaxBytes             = 96 << 20 // below what a conn.Conn takes for an answer
	defaultFetchMaxPartitionBytes = 1 << 20
	defaultBufferBytes            = 64 << 20
	defaultMaxBatchBytes          = 64 << 20
	defaultCloseTimeout           = 5 * time.Second
	defaultSessionTimeout         = 45 * time.Second
	defaultHeartbeatInterval      = 3 * time.Second
	defaultRebalanceTimeout       = 5 * time.Minute
)

// Reset says where reading starts in a partition in which the group has
// committed nothing, or whose committed offset is not there any more.
type Reset uint8

const (
	// ResetEarliest starts at the oldest record that is kept.
	ResetEarliest Reset = iota
	// ResetLatest starts at the end: only what is produced from then on is read.
	ResetLatest
	// ResetNone starts nowhere: the loop ends with a *PartitionError that
	// wraps ErrNoOffset.
	ResetNone
)

// String returns the value of Kafka's setting auto.offset.reset.
func (r Reset) String() string {
	switch r {
	case ResetEarliest:
		return "earliest"
	case ResetLatest:
		return "latest"
	case ResetNone:
		return "none"
	default:
		return fmt.Sprintf("reset %d", uint8(r))
	}
}

// AtClose says whether a member leaves its group when it is closed (KIP-1092).
type AtClose uint8

const (
	// LeaveUnlessStatic makes a dynamic member leave, so that the others take over at
	// once, and a static one remain, since it may be back soon (KIP-345).
	LeaveUnlessStatic AtClose = iota
	// LeaveGroup makes every member leave: for a static one that does not come back.
	LeaveGroup
	// RemainInGroup makes no member leave: its partitions are nobody's until its
	// session times out.
	RemainInGroup
)

// remains reports whether a member with that instance ID, empty for a dynamic one, is
// not to leave.
func (a AtClose) remains(instanceID string) bool {
	return a == RemainInGroup || a == LeaveUnlessStatic && instanceID != ""
}

// ConsumerConfig says what a Consumer reads and how. Group and one of Topics and Patterns must be
// set; for all else the zero value works. It is not written to after it was passed
// on. Negative numbers are refused, except for CommitInterval.
type ConsumerConfig struct {
	// Group is the consumer group to be a member of.
	Group string

	// Topics are the topics to read. One that does not exist yet is waited for.
	Topics []string

	// Patterns are regular expressions in the syntax of Go's package regexp
	// (RE2). All topics are read whose whole names one of them matches, upper and lower case being
	// different, and those of Topics. A topic that is created later is noticed when the metadata
	// is refreshed, so within Config.MetadataMaxAge. A topic that is deleted drops
	// out.
	Patterns []string

	// InternalTopics makes Patterns match topics of Kafka's own too, such as
	// __consumer_offsets. In Topics they can be named without it.
	InternalTopics bool

	// Rack is where this member runs, such as an availability zone, in the words of the
	// brokers' setting broker.rack. Assignors that know of racks prefer partitions with
	// a replica there (KIP-881). Empty means unknown.
	Rack string

	// InstanceID makes the member a static one (KIP-345): a restart within
	// the session timeout gets its partitions back without a rebalance. It must be unique in the
	// group. Empty means a dynamic member.
	InstanceID string

	// Reset says where to start without a committed offset. Zero means
	// ResetEarliest.
	Reset Reset

	// CommitInterval is how often what is done is committed. Zero means 5 s;
	// negative means only when partitions are given up, at Close and by Commit.
	CommitInterval time.Duration

	// Assignors are the ways to share the partitions that this member
	// supports, most wanted first; the group uses one that all its members support,
	// and one that has none in common with the group is refused. The member keeps what it
	// can during a rebalance only if all of them are cooperative (KIP-429); a list with others in it
	// is for the time of an upgrade. None means assign.CooperativeSticky alone.
	Assignors []assign.Assignor

	// FetchMaxWait is how long a broker may wait for FetchMinBytes, in whole
	// milliseconds. It is also how long a newly assigned partition may wait for its first
	// fetch: a broker serves one request of a connection at a time. Zero means 500 ms.
	FetchMaxWait time.Duration

	// FetchMinBytes is how much a broker should have before it answers,
	// unless FetchMaxWait has passed. Zero means 1.
	FetchMinBytes int

	// FetchMaxBytes limits one answer of one broker, FetchMaxPartitionBytes
	// the part of one partition in it. A first batch that is larger comes all
	// the same (KIP-74), so neither can stop reading. Zero means 50 MiB and 1 MiB;
	// FetchMaxBytes above 96 MiB means 96 MiB.
	FetchMaxBytes, FetchMaxPartitionBytes int

	// BufferBytes limits how much of what brokers have sent waits to be
	// read, all brokers together. One batch alone may be larger. Zero means 64 MiB.
	BufferBytes int

	// MaxBatchBytes limits a batch once it is decompressed. A larger one
	// ends the loop with a *PartitionError. Zero means 64 MiB.
	MaxBatchBytes int

	// SkipCRC leaves out the check of each batch's checksum.
	SkipCRC bool

	// AtClose says whether the member leaves the group when it is closed. Zero means
	// LeaveUnlessStatic.
	AtClose AtClose

	// CloseTimeout limits Close, unless its context has a nearer deadline.
	// Zero means 5 s.
	CloseTimeout time.Duration

	// Classic holds what only Kafka's classic group protocol has.
	Classic ClassicConfig

	// Trace is told what happens to the Consumer. Nil means nobody is.
	Trace *ConsumerTrace

	// History gets all that the group member is told and answers, for
	// "muster replay" (package groupmember/history): a header now, and a line for each step, each in one
	// Write, until Close returns. The member waits for Write, so it must not block; a
	// file will do. After its first error, which is logged, no more is written and the member
	// goes on. It must be for this Consumer alone. There are no records and no credentials in
	// it, but committed offsets with their metadata. Nil writes nothing.
	History io.Writer
}

// ClassicConfig is the part of a ConsumerConfig that only Kafka's classic group
// protocol has.
type ClassicConfig struct {
	// SessionTimeout is after how long without a heartbeat the broker gives
	// the member's partitions to others. Brokers accept 6 s to 30 min unless set up otherwise.
	// Zero means 45 s.
	SessionTimeout time.Duration

	// HeartbeatInterval is how often the member sends one, and so how soon
	// it learns of a rebalance. It must be below SessionTimeout. Zero means 3 s.
	HeartbeatInterval time.Duration

	// RebalanceTimeout is how long members have to finish what they have in
	// hand when the group rebalances, and how long an application may work on
	// one record or batch. It must be above a tenth of SessionTimeout. Zero
	// means 5 min.
	RebalanceTimeout time.Duration
}

// Rebalance explains one rebalance of a consumer group as a member has seen it.
type Rebalance = groupmember.Rebalance

// ConsumerTrace is a set of optional functions that are told what a Consumer
// does. They may be called from several goroutines and must not block, nor call
// the Consumer.
type ConsumerTrace struct {
	// Assigned is called when partitions are handed to this member: added are
	// new, owned is all it has. None of added has been read before the call
	// returns.
	Assigned func(generation int32, added, owned groupmember.Partitions)

	// Revoked is called once when partitions were taken back: the last record of
	// them is done or was left undone. Without lost, what was done is committed,
	// or Error was told before why it could not be. With lost, others may be reading
	// them already, and what was done since the last commit may be done again.
	Revoked func(partitions groupmember.Partitions, lost bool)

	// Committed is called with what the group's coordinator has accepted.
	Committed func(offsets []groupmember.Offset)

	// Rebalanced is called with an explanation of each rebalance: what set it off,
	// how long each phase took, what was gained, kept, given back and lost, and what has changed in the
	// group as far as this member knows. It comes after the calls of Assigned and
	// Revoked that it explains. Its String makes a few lines of it.
	Rebalanced func(r *Rebalance)

	// Error is called with what went wrong. What is tried again is told once, until it
	// is over or becomes an error of another kind.
	Error func(err error)

	// Member is told each step of the group member, to be written down with
	// groupmember.DescribeEvent and groupmember.DescribeAction: a whole
	// conversation with the group. Nil means nobody is.
	Member *driver.Trace
}

// validate returns every problem of the configuration.
func (c *ConsumerConfig) validate() error {
	var problems []error
	if c.Group == "" {
		problems = append(problems, errors.New("Group is empty: name the consumer group"))
	}
	if _, err := newSubscription(c.Topics, c.Patterns, c.InternalTopics); err != nil {
		problems = append(problems, err)
	}
	if len(c.Rack) > math.MaxInt16 {
		problems = append(problems, fmt.Errorf("Rack has %d bytes: Kafka takes %d", len(c.Rack), math.MaxInt16))
	}
	if c.Reset > ResetNone {
		problems = append(problems, fmt.Errorf("Reset is %d: it must be ResetEarliest, ResetLatest or ResetNone", c.Reset))
	}
	if c.AtClose > RemainInGroup {
		problems = append(problems, fmt.Errorf("AtClose is %d: it must be LeaveUnlessStatic, LeaveGroup or RemainInGroup", c.AtClose))
	}
	problems = append(problems, c.durationProblems()...)
	problems = append(problems, c.sizeProblems()...)
	problems = append(problems, c.assignorProblems()...)
	d := c.withDefaults()
	if d.Classic.HeartbeatInterval > 0 && d.Classic.HeartbeatInterval >= d.Classic.SessionTimeout {
		problems = append(problems, fmt.Errorf("Classic.HeartbeatInterval (%v) must be below Classic.SessionTimeout (%v): a third of it or less is usual",
			d.Classic.HeartbeatInterval, d.Classic.SessionTimeout))
	}
	if d.Classic.RebalanceTimeout > 0 && d.Classic.RebalanceTimeout <= d.Classic.SessionTimeout/10 {
		problems = append(problems, fmt.Errorf("Classic.RebalanceTimeout (%v) must be above a tenth of Classic.SessionTimeout (%v): members need time to finish what they have in hand",
			d.Classic.RebalanceTimeout, d.Classic.SessionTimeout))
	}
	if len(problems) == 0 {
		if err := d.member().Validate(); err != nil {
			problems = append(problems, err)
		}
	}
	if len(problems) > 0 {
		return fmt.Errorf("consumer config: %w", errors.Join(problems...))
	}
	return nil
}

func (c *ConsumerConfig) durationProblems() (problems []error) {
	for _, d := range []struct {
		name  string
		value time.Duration
		sent  bool // to brokers, in whole milliseconds
	}{
		{"FetchMaxWait", c.FetchMaxWait, true},
		{"CloseTimeout", c.CloseTimeout, false},
		{"Classic.SessionTimeout", c.Classic.SessionTimeout, true},
		{"Classic.HeartbeatInterval", c.Classic.HeartbeatInterval, true},
		{"Classic.RebalanceTimeout", c.Classic.RebalanceTimeout, true},
	} {
		switch {
		case d.value < 0:
			problems = append(problems, fmt.Errorf("%s is %v: it must not be negative; zero means the default", d.name, d.value))
		case d.sent && d.value != 0 && (d.value < time.Millisecond || d.value > longest):
			problems = append(problems, fmt.Errorf("%s is %v: it must be from 1ms to %v; zero means the default", d.name, d.value, longest))
		}
	}
	return problems
}

func (c *ConsumerConfig) sizeProblems() (problems []error) {
	for _, n := range []struct {
		name  string
		value int
	}{
		{"FetchMinBytes", c.FetchMinBytes},
		{"FetchMaxBytes", c.FetchMaxBytes},
		{"FetchMaxPartitionBytes", c.FetchMaxPartitionBytes},
		{"BufferBytes", c.BufferBytes},
		{"MaxBatchBytes", c.MaxBatchBytes},
	} {
		if n.value < 0 {
			problems = append(problems, fmt.Errorf("%s is %d: it must not be negative; zero means the default", n.name, n.value))
		}
	}
	return problems
}

func (c *ConsumerConfig) assignorProblems() (problems []error) {
	seen := make(map[string]bool)
	for i, a := range c.Assignors {
		switch {
		case a == nil:
			problems = append(problems, fmt.Errorf("Assignors[%d] is nil", i))
		case a.Name() == "":
			problems = append(problems, fmt.Errorf("Assignors[%d] has no name", i))
		case seen[a.Name()]:
			problems = append(problems, fmt.Errorf("Assignors has two that are named %q", a.Name()))
		default:
			seen[a.Name()] = true
		}
	}
	return problems
}

func (c ConsumerConfig) withDefaults() ConsumerConfig {
	c.CommitInterval = cmp.Or(c.CommitInterval, defaultCommitInterval)
	c.FetchMaxWait = cmp.Or(c.FetchMaxWait, defaultFetchMaxWait)
	c.FetchMinBytes = cmp.Or(c.FetchMinBytes, defaultFetchMinBytes)
	c.FetchMaxBytes = min(cmp.Or(c.FetchMaxBytes, defaultFetchMaxBytes), mostFetchMaxBytes)
	c.FetchMaxPartitionBytes = cmp.Or(c.FetchMaxPartitionBytes, defaultFetchMaxPartitionBytes)
	c.BufferBytes = cmp.Or(c.BufferBytes, defaultBufferBytes)
	c.MaxBatchBytes = cmp.Or(c.MaxBatchBytes, defaultMaxBatchBytes)
	c.CloseTimeout = cmp.Or(c.CloseTimeout, defaultCloseTimeout)
	c.Classic.SessionTimeout = cmp.Or(c.Classic.SessionTimeout, defaultSessionTimeout)
	c.Classic.HeartbeatInterval = cmp.Or(c.Classic.HeartbeatInterval, defaultHeartbeatInterval)
	c.Classic.RebalanceTimeout = cmp.Or(c.Classic.RebalanceTimeout, defaultRebalanceTimeout)
	if len(c.Assignors) == 0 {
		c.Assignors = []assign.Assignor{assign.CooperativeSticky()}
	}
	if c.Trace == nil {
		c.Trace = new(ConsumerTrace)
	}
	return c
}
