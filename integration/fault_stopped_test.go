package integration

import (
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
)

// A stopped member is one in a process that is stopped for longer than its
// session timeout, and goes on as if no time had passed.
type stoppedMember struct {
	name  string
	child child
	idle  bool // it has nothing to read when it is stopped; else it is in the body of its loop
	most  int  // records that it may be given before it notices

	c       *Cluster
	r       *Recorder
	process *exec.Cmd
	records int           // produced
	stopped time.Duration // on the clock of r
	woken   time.Duration
}

const (
	stoppedPartitions = 12
	// A batch of the stopped members' topics has this many records at most.
	stoppedBatch = 8
)

// All wait for their session timeouts at the same time.
func TestMusterMemberStoppedForLongerThanItsSession(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	paced := time.Millisecond
	members := []*stoppedMember{
		{name: "in a record, cooperative", child: child{Pace: paced}, most: 16},
		{name: "in a record, eager", child: child{Pace: paced, Eager: true}, most: 16},
		{name: "in a batch, cooperative", child: child{Pace: paced, Batches: true}, most: stoppedBatch},
		{name: "in a batch, eager", child: child{Pace: paced, Batches: true, Eager: true}, most: stoppedBatch},
		{name: "waiting for records, cooperative", child: child{}, idle: true, most: 16},
		{name: "waiting for batches, eager", child: child{Batches: true, Eager: true}, idle: true, most: stoppedBatch},
	}
	for _, m := range members {
		m.start(t, c)
	}
	for _, m := range members {
		m.stop(t)
	}
	for _, m := range members {
		m.awaitReplaced(t)
		m.wake(t)
	}
	for _, m := range members {
		t.Run(m.name, func(t *testing.T) { m.judge(t) })
	}
}

func (m *stoppedMember) start(t *testing.T, c *Cluster) {
	m.c, m.r = c, NewRecorder()
	m.child.Name, m.child.Group, m.child.Topic = "bob", UniqueName(t, "group"), c.CreateTopic(t, stoppedPartitions)
	c.MusterMember(t, m.r, "ann", m.child.Group, m.child.Topic, using(m.child.assignor()), func(cfg *MusterConfig) {
		cfg.Consumer.CommitInterval = time.Second / 5
	})
	m.process = c.startChild(t, m.r, m.child)
}

// stop stops the process when its member reads, or has read everything.
func (m *stoppedMember) stop(t *testing.T) {
	awaitShares(t, m.c, m.r, m.child.Group, map[string]int{"ann": 6, "bob": 6})
	if m.idle {
		m.produce(t, 20*stoppedPartitions)
		awaitReads(t, m.r, m.records)
	} else {
		m.produce(t, 1000*stoppedPartitions)
		require.Eventually(t, func() bool { return readsSince(m.r.Events(), "bob", 0) > 300 }, time.Minute, 10*time.Millisecond)
	}
	m.signal(t, syscall.SIGSTOP)
	m.stopped = time.Since(m.r.begin)
	if m.idle {
		// A fetch may be open, and its answer, with these, wait for the process.
		m.produce(t, 20*stoppedPartitions)
	}
}

// produce writes small batches if the member reads by batches, else large ones.
func (m *stoppedMember) produce(t *testing.T, n int) {
	records := spread(n, stoppedPartitions)
	m.records += n
	if !m.child.Batches {
		m.c.FranzProduce(t, m.child.Topic, "none", records)
		return
	}
	client := m.c.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchMaxBytes(512), kgo.ProducerBatchCompression(kgo.NoCompression()))
	defer client.Close()
	var batch []*kgo.Record
	for _, r := range records {
		batch = append(batch, &kgo.Record{Topic: m.child.Topic, Partition: r.Partition, Value: make([]byte, 512/stoppedBatch)})
	}
	require.NoError(t, client.ProduceSync(t.Context(), batch...).FirstErr())
}

// awaitReplaced returns when the other member has taken over and done
// everything, so that whatever the stopped one commits would go back.
func (m *stoppedMember) awaitReplaced(t *testing.T) {
	awaitBrokerShares(t, m.c, m.child.Group, map[string]int{"ann": 12})
	awaitReads(t, m.r, m.records)
	require.Eventually(t, func() bool { return committedRecords(t, m.c, m.child.Group) == m.records },
		time.Minute, 100*time.Millisecond, "ann commits what it reads")
}

func (m *stoppedMember) wake(t *testing.T) {
	m.woken = time.Since(m.r.begin)
	m.signal(t, syscall.SIGCONT)
}

func (m *stoppedMember) signal(t *testing.T, signal os.Signal) {
	require.NoError(t, m.process.Process.Signal(signal))
}

func (m *stoppedMember) judge(t *testing.T) {
	noticed := func(e Event) bool { return e.Member == "bob" && e.Kind == Revoked && e.At >= m.woken }
	require.Eventually(t, func() bool { return slices.ContainsFunc(m.r.Events(), noticed) }, time.Minute, 10*time.Millisecond)
	awaitBrokerShares(t, m.c, m.child.Group, map[string]int{"ann": 6, "bob": 6})
	require.Equal(t, m.records, committedRecords(t, m.c, m.child.Group), "the stopped member commits nothing")

	events := m.r.Events()
	late := readsSince(events, "bob", m.woken)
	t.Logf("%d records were delivered after %v asleep; known of it %v after waking",
		late, (m.woken - m.stopped).Round(time.Millisecond), events[slices.IndexFunc(events, noticed)].At-m.woken)
	require.LessOrEqual(t, late, m.most)

	m.produce(t, 10*stoppedPartitions)
	awaitReads(t, m.r, m.records)
	// Apart from those late ones, everything is as if it had been killed.
	events = slices.DeleteFunc(m.r.Events(), func(e Event) bool {
		return e.Member == "bob" && e.Kind == Read && e.At >= m.woken && e.At < m.rejoined()
	})
	gone := slices.IndexFunc(events, func(e Event) bool { return e.At > m.stopped+killTime })
	events = slices.Insert(events, gone, Event{At: m.stopped + killTime, Kind: Gone, Member: "bob"})
	verdict := Judge(events, awaitEnds(t, m.c, m.child.Topic, stoppedPartitions))
	verdict.Require(t)
	require.Equal(t, m.records, verdict.Read)
}

// rejoined is when the member that was stopped was given partitions again.
func (m *stoppedMember) rejoined() time.Duration {
	events := m.r.Events()
	i := slices.IndexFunc(events, func(e Event) bool { return e.Member == "bob" && e.Kind == Assigned && e.At > m.woken })
	return events[i].At
}
