package integration

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
)

// A member need not wait for a commit to join. If it must give something back first,
// it does wait, but no longer than an honest broker needs, and then asks again.
func TestMusterCommitWithoutAnAnswerDoesNotHoldUpTheGroup(t *testing.T) {
	t.Parallel()
	const soon, given = 5 * time.Second, 6 * time.Second // what a commit is given, and time for a busy machine
	for _, test := range []struct {
		name       string
		assignor   assign.Assignor
		partitions int32
		before     map[string]int
		after      map[string]int
		joins      time.Duration
	}{
		{"cooperative, nothing moves", assign.CooperativeSticky(), 2, map[string]int{"ann": 1, "bob": 1}, map[string]int{"ann": 1, "bob": 1}, soon},
		{"cooperative", assign.CooperativeSticky(), 12, map[string]int{"ann": 6, "bob": 6}, map[string]int{"ann": 4, "bob": 4, "cid": 4}, soon},
		{"eager", assign.Range(), 12, map[string]int{"ann": 6, "bob": 6}, map[string]int{"ann": 4, "bob": 4, "cid": 4}, given + soon},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := Shared(t)
			topic, group := c.CreateTopic(t, test.partitions), UniqueName(t, "group")
			r := NewRecorder()
			traffic := c.Traffic(t, topic, test.partitions)
			silencer := NewSilencer()
			c.MusterMember(t, r, "ann", group, topic, using(test.assignor))
			c.MusterMember(t, r, "bob", group, topic, using(test.assignor), func(cfg *MusterConfig) {
				cfg.Client.Dial = silencer.Dial
				cfg.Consumer.CommitInterval = time.Second / 5
			})
			awaitShares(t, c, r, group, test.before)
			traffic.Await(t, 100)
			silencer.Silence()
			<-silencer.Caught

			begin := time.Now()
			cid := c.MusterMember(t, r, "cid", group, topic, using(test.assignor))
			awaitLog(t, cid, "to=Stable")
			joined := time.Since(begin)
			awaitShares(t, c, r, group, test.after)
			settled := time.Since(begin)
			t.Logf("the newcomer is in the group after %v, the group is settled after %v", joined, settled)
			require.Less(t, joined, test.joins)
			require.Less(t, settled, given+soon)
			verdict := judgeAll(t, c, r, traffic.Stop(t), topic, test.partitions)
			require.Zero(t, verdict.Duplicates, "the commit arrives before another goes on")
		})
	}
}
