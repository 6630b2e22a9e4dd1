package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
)

// upgradePartitions are as many as one to four members can share evenly.
const upgradePartitions = 12

// From range to cooperative-sticky in two bounces, one member at a time, as
// KIP-429 has it: first everybody learns the new assignor, then everybody drops
// the old one.
func TestMusterGroupBecomesCooperativeInTwoBouncesBesideJava(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	topic, group := c.CreateTopic(t, upgradePartitions), UniqueName(t, "group")
	r := NewRecorder()
	traffic := c.Traffic(t, topic, upgradePartitions)
	u := &upgrade{t: t, c: c, r: r, group: group, topic: topic, leave: map[string]func() error{}}

	bounces := []struct {
		assignors []assign.Assignor
		meanwhile string // the assignor while only some have been bounced
		then      string
	}{
		{[]assign.Assignor{assign.Range()}, "range", "range"},
		{[]assign.Assignor{assign.CooperativeSticky(), assign.Range()}, "range", "cooperative-sticky"},
		{[]assign.Assignor{assign.CooperativeSticky()}, "cooperative-sticky", "cooperative-sticky"},
	}
	for i, bounce := range bounces {
		for j, name := range []string{"ann", "java", "bob"} {
			u.bounce(name, i, bounce.assignors)
			want := bounce.meanwhile
			if j == 2 {
				want = bounce.then
			}
			described, err := c.Describe(t.Context(), group)
			require.NoError(t, err)
			require.Equal(t, want, described.Protocol, "after bounce %d of %s", i, name)
		}
	}

	begin := len(r.Events())
	u.start("cid", 2, bounces[2].assignors)
	u.await()
	requireKeptIsNotRevoked(t, r.Events()[begin:])
	judgeAll(t, c, r, traffic.Stop(t), topic, upgradePartitions)
}

// An upgrade is a group whose members are replaced one by one.
type upgrade struct {
	t            *testing.T
	c            *Cluster
	r            *Recorder
	group, topic string
	leave        map[string]func() error // of those that are in the group
}

// bounce replaces a member, if it was there, and waits until the group has
// settled, without it and with it.
func (u *upgrade) bounce(name string, round int, assignors []assign.Assignor) {
	u.t.Helper()
	if before := fmt.Sprintf("%s-%d", name, round-1); u.leave[before] != nil {
		require.NoError(u.t, u.leave[before]())
		delete(u.leave, before)
		u.await()
	}
	u.start(name, round, assignors)
	u.await()
}

func (u *upgrade) start(name string, round int, assignors []assign.Assignor) {
	u.t.Helper()
	member := fmt.Sprintf("%s-%d", name, round)
	if name == "java" {
		var classes []string
		for _, a := range assignors {
			classes = append(classes, javaAssignor(a.Name()))
		}
		m := u.c.JavaMember(u.t, u.r, member, u.group, u.topic, "--assignment-strategy", strings.Join(classes, ","))
		u.leave[member] = m.Leave
		return
	}
	m := u.c.MusterMember(u.t, u.r, member, u.group, u.topic, func(cfg *MusterConfig) { cfg.Consumer.Assignors = assignors })
	u.leave[member] = func() error { return m.Consumer.Close(u.t.Context()) }
}

// await waits until those in the group share the partitions evenly.
func (u *upgrade) await() {
	u.t.Helper()
	shares := map[string]int{}
	for member := range u.leave {
		shares[member] = upgradePartitions / len(u.leave)
	}
	awaitShares(u.t, u.c, u.r, u.group, shares)
}
