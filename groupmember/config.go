package groupmember

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Config says how a member behaves. Every zero value but Group's is replaced
// by its default, and negative durations are refused where no other meaning is
// given. It is not written after New.
type Config struct {
	// Group is the consumer group's ID. Required.
	Group string

	// InstanceID makes the member static (KIP-345). "" is a dynamic member.
	InstanceID string

	// ProtocolType is what kind of group this is. "" is "consumer".
	ProtocolType string

	// SessionTimeout is how long the coordinator waits for a sign of life
	// before it removes the member. 0 is 45 s.
	SessionTimeout time.Duration

	// RebalanceTimeout is how long the coordinator waits for the member to
	// join a rebalance, so also how long the application may take to let go of
	// partitions. 0 is 5 min.
	RebalanceTimeout time.Duration

	// HeartbeatInterval is the time between heartbeats. 0 is 3 s. It must be
	// less than SessionTimeout.
	HeartbeatInterval time.Duration

	// Settle is how soon after a round the first of up to eight extra
	// heartbeats is sent; each next one comes after twice the time, until they are a
	// HeartbeatInterval apart. With them the second round of a cooperative
	// rebalance (KIP-429), or the next member that comes or goes, is noticed at once and
	// not only after up to a HeartbeatInterval. 0 is 50 ms; negative sends none.
	Settle time.Duration

	// PollInterval is how long the application may go without asking for
	// records (Asked) before the member leaves until it asks again (KIP-62).
	// 0 does not watch it.
	PollInterval time.Duration

	// Margin is how much earlier than the coordinator the member gives itself
	// up, for what clocks and scheduling may differ by. 0 is a tenth of
	// SessionTimeout. It must be less than SessionTimeout and
	// RebalanceTimeout.
	Margin time.Duration

	// MinBackoff and MaxBackoff bound the wait between attempts. It doubles
	// from one to the other, with a jitter of 20 % (KIP-580). 0 is 100 ms and
	// 1 s.
	MinBackoff, MaxBackoff time.Duration

	// Seed feeds the jitter. Equal seeds give equal members.
	Seed uint64

	// Cooperative keeps partitions over a rebalance until they are assigned
	// away (KIP-429). Every assignor in the subscription must be cooperative.
	Cooperative bool
}

// Validate returns all that is wrong with the config, joined, or nil.
func (c Config) Validate() error {
	c = c.withDefaults()
	var problems []error
	complain := func(bad bool, format string, args ...any) {
		if bad {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	complain(c.Group == "", "group is empty: every member belongs to a named group")
	complain(len(c.InstanceID) > 249, "instance ID has %d characters: Kafka takes 249", len(c.InstanceID))
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"session timeout", c.SessionTimeout},
		{"rebalance timeout", c.RebalanceTimeout},
		{"heartbeat interval", c.HeartbeatInterval},
		{"margin", c.Margin},
		{"minimum back-off", c.MinBackoff},
		{"maximum back-off", c.MaxBackoff},
	} {
		complain(d.value < time.Millisecond, "%s is %v: it is sent in whole milliseconds, at least 1", d.name, d.value)
		complain(d.value > math.MaxInt32*time.Millisecond, "%s is %v: Kafka takes at most %v", d.name, d.value, math.MaxInt32*time.Millisecond)
	}
	complain(c.PollInterval < 0, "poll interval is %v: 0 turns it off", c.PollInterval)
	complain(c.HeartbeatInterval >= c.SessionTimeout, "heartbeat interval %v is not less than the session timeout %v", c.HeartbeatInterval, c.SessionTimeout)
	complain(c.Margin >= c.SessionTimeout, "margin %v is not less than the session timeout %v", c.Margin, c.SessionTimeout)
	complain(c.Margin >= c.RebalanceTimeout, "margin %v is not less than the rebalance timeout %v", c.Margin, c.RebalanceTimeout)
	complain(c.MinBackoff > c.MaxBackoff, "minimum back-off %v is more than the maximum %v", c.MinBackoff, c.MaxBackoff)
	return errors.Join(problems...)
}

func (c Config) withDefaults() Config {
	setDefault(&c.ProtocolType, "consumer")
	setDefault(&c.SessionTimeout, 45*time.Second)
	setDefault(&c.RebalanceTimeout, 5*time.Minute)
	setDefault(&c.HeartbeatInterval, 3*time.Second)
	setDefault(&c.Settle, 50*time.Millisecond)
	setDefault(&c.Margin, c.SessionTimeout/10)
	setDefault(&c.MinBackoff, 100*time.Millisecond)
	setDefault(&c.MaxBackoff, max(time.Second, c.MinBackoff))
	return c
}

func setDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}
