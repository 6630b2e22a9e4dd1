package demo

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// short is the story in a fraction of its time.
func short() []step {
	steps := story()
	for i := range steps {
		steps[i].After /= 10
	}
	return steps
}

func TestDemoLosesNothing(t *testing.T) {
	var out bytes.Buffer
	err := Run(t.Context(), Config{Records: 3000, Partitions: 12, SessionTimeout: time.Second, Out: &out, script: short()})
	require.NoError(t, err, out.String())
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	require.Regexp(t, `^demo: 3000 produced, 3000 consumed, 0 lost, \d+ duplicated$`, string(lines[len(lines)-1]))
}

func TestInterruptedDemoLeavesTheGroupAtOnce(t *testing.T) {
	addrs, stop, err := embedded()
	require.NoError(t, err)
	defer stop()
	ctx, interrupt := context.WithCancel(t.Context())
	news := &watcher{until: "member-2 owns", then: interrupt}
	err = Run(ctx, Config{Brokers: addrs, Records: 100_000, Partitions: 12, SessionTimeout: time.Minute, Out: news})
	require.ErrorContains(t, err, "interrupted; all members have left the group") // perhaps in a rebalance that took what it had not committed
	require.Equal(t, map[string]string{"state": "Empty"}, groups(t, addrs))
}

func TestBadConfigIsReportedAllAtOnce(t *testing.T) {
	err := Run(t.Context(), Config{Records: 0, Partitions: -1})
	require.ErrorContains(t, err, "--records")
	require.ErrorContains(t, err, "--partitions")
	require.ErrorContains(t, err, "--session-timeout")
}

// watcher calls then once the demo has printed until.
type watcher struct {
	bytes.Buffer
	until string
	then  func()
}

func (w *watcher) Write(text []byte) (int, error) {
	if bytes.Contains(text, []byte(w.until)) {
		w.then()
	}
	return w.Buffer.Write(text)
}

// groups asks the broker for the states of all groups of the demo, and for who
// is in them.
func groups(t *testing.T, addrs []string) map[string]string {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addrs...))
	require.NoError(t, err)
	defer cl.Close()
	list, err := kmsg.NewPtrListGroupsRequest().RequestWith(t.Context(), cl)
	require.NoError(t, err)
	require.Len(t, list.Groups, 1)
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{list.Groups[0].Group}
	described, err := req.RequestWith(t.Context(), cl)
	require.NoError(t, err)
	found := map[string]string{"state": described.Groups[0].State}
	for _, m := range described.Groups[0].Members {
		found[m.MemberID] = m.ClientID
	}
	return found
}
