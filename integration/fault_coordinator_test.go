package integration

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/client"
)

// An outage is the sudden death of a broker that coordinates groups and leads
// partitions.
type outage struct {
	c      *Cluster
	victim int // the ID of the broker that is killed

	lone, kept   string      // topics with one replica of each partition, and with three
	alive        []Partition // of lone, led by other brokers than victim
	moving       []Partition // of kept, led by victim until it is killed
	begun        time.Duration
	elected      time.Duration // all of moving have a new leader
	coordination time.Duration // the groups have a new coordinator
}

const outagePartitions = 6

// A long session timeout: what is seen here has nothing to do with sessions.
func patient(cfg *MusterConfig) {
	cfg.Consumer.Classic = client.ClassicConfig{SessionTimeout: 45 * time.Second, HeartbeatInterval: 3 * time.Second}
	cfg.Consumer.CommitInterval = time.Second / 2
	cfg.Consumer.CloseTimeout = 30 * time.Second
}

func TestMusterGroupGoesOnWhenItsCoordinatorIsKilled(t *testing.T) {
	t.Parallel()
	o := newOutage(t)
	group, closing := o.group(t), o.group(t)
	r := NewRecorder()
	both := func(cfg *MusterConfig) { cfg.Consumer.Topics = []string{o.lone, o.kept} }
	ann := o.c.MusterMember(t, r, "ann", group, o.lone, patient, both)
	bob := o.c.MusterMember(t, r, "bob", group, o.lone, patient, both)
	cid := o.c.MusterMember(t, NewRecorder(), "cid", closing, o.kept, patient)
	awaitShares(t, o.c, r, group, map[string]int{"ann": outagePartitions, "bob": outagePartitions})
	awaitBrokerShares(t, o.c, closing, map[string]int{"cid": outagePartitions})
	// One producer for each topic: those of one would wait for one another.
	pulses := []*Pulse{o.c.Pulse(t, r, o.alive), o.c.Pulse(t, r, Partitions(o.kept, outagePartitions))}
	awaitReads(t, r, 1000)
	generation, before, moves := lastGeneration(r), r.Events(), movesOf(ann, bob)

	o.begin(t, r)
	var calls sync.WaitGroup
	var closed, committed time.Duration
	var closeErr, commitErr error
	calls.Go(func() { closeErr = cid.Consumer.Close(t.Context()); closed = time.Since(r.begin) })
	calls.Go(func() { commitErr = ann.Consumer.Commit(t.Context()); committed = time.Since(r.begin) })
	o.await(t, r, group)
	calls.Wait()
	require.NoError(t, commitErr)
	require.NoError(t, closeErr, "it leaves, as soon as the new coordinator is known")
	require.Empty(t, clientIDs(t, o.c, closing))
	o.awaitCommits(t, r, group)
	o.c.RequireGeneration(t, group, generation)

	for _, e := range r.Events()[len(before):] {
		require.Equal(t, Read, e.Kind, "nothing changes hands: %v", e)
	}
	require.Equal(t, moves, movesOf(ann, bob))
	o.report(t, r, slices.Concat(pulses[0].Acked(), pulses[1].Acked()))
	time.Sleep(25 * time.Second)
	since := func(at time.Duration) time.Duration { return (at - o.begun).Round(time.Millisecond) }
	t.Logf("after the coordinator's death: new leaders %v, new coordinator %v, commit accepted %v, closed %v",
		since(o.elected), since(o.coordination), since(committed), since(closed))
	require.Less(t, closed, max(o.coordination, o.begun)+5*time.Second)

	verdict := judgeRead(t, r, pulses[0].Stop(t)+pulses[1].Stop(t))
	require.Zero(t, verdict.Duplicates)
}

// movesOf counts the changes of state of members.
func movesOf(members ...*MusterMember) int {
	n := 0
	for _, m := range members {
		n += len(m.Log.Lines("group member moved"))
	}
	return n
}

func newOutage(t *testing.T) *outage {
	c := Start(t, Options{Brokers: 3})
	o := &outage{c: c, victim: 1, kept: c.CreateTopic(t, outagePartitions)}
	cl, err := client.New(client.Config{Brokers: c.Addrs()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cl.Close()) })
	o.lone = UniqueName(t, "lone")
	musterCreate(t, c, cl, client.NewTopic{Name: o.lone, Partitions: outagePartitions, ReplicationFactor: 1})
	for _, at := range o.leaders(t, cl, o.lone) {
		if at.leader != o.victim {
			o.alive = append(o.alive, at.partition)
		}
	}
	for _, at := range o.leaders(t, cl, o.kept) {
		if at.leader == o.victim {
			o.moving = append(o.moving, at.partition)
		}
	}
	require.NotEmpty(t, o.alive)
	require.NotEmpty(t, o.moving)
	return o
}

type led struct {
	partition Partition
	leader    int
}

func (o *outage) leaders(t *testing.T, cl *client.Client, topic string) []led {
	described, err := cl.Admin().DescribeTopics(t.Context(), topic)
	require.NoError(t, err)
	var all []led
	for _, p := range described[0].Partitions {
		all = append(all, led{Partition{topic, p.ID}, int(p.Leader)})
	}
	return all
}

// group returns the name of a group that victim coordinates.
func (o *outage) group(t *testing.T) string {
	for {
		group := UniqueName(t, "group")
		if coordinator(t, o.c, group, 0) == o.victim {
			return group
		}
	}
}

// begin kills the broker.
func (o *outage) begin(t *testing.T, r *Recorder) {
	o.c.Kill(t, o.victim)
	o.begun = time.Since(r.begin)
}

// await returns when others have taken over all that the broker did.
func (o *outage) await(t *testing.T, r *Recorder, group string) {
	var wg sync.WaitGroup
	var leaderErr, coordinatorErr error
	wg.Go(func() {
		leaderErr = poll(t.Context(), func(ctx context.Context) error {
			_, err := o.c.Ends(ctx, o.kept, outagePartitions)
			return err
		})
		o.elected = time.Since(r.begin)
	})
	wg.Go(func() {
		coordinatorErr = poll(t.Context(), func(ctx context.Context) error {
			id, err := o.c.Coordinator(ctx, group)
			if err == nil && id == o.victim {
				err = fmt.Errorf("broker %d is still the coordinator", id)
			}
			return err
		})
		o.coordination = time.Since(r.begin)
	})
	wg.Wait()
	require.NoError(t, leaderErr)
	require.NoError(t, coordinatorErr)
}

// awaitCommits returns when what is read after now is committed at the new
// coordinator.
func (o *outage) awaitCommits(t *testing.T, r *Recorder, group string) {
	read := Judge(r.Events(), nil).Read
	require.EventuallyWithT(t, func(collect *assert.CollectT) {
		require.GreaterOrEqual(collect, committedRecords(t, o.c, group), read)
	}, time.Minute, 100*time.Millisecond)
}

// report shows how late records were read, which does not count what kept the
// brokers from taking them, and requires what is promised.
func (o *outage) report(t *testing.T, r *Recorder, acked []Event) {
	events := r.Events()
	for _, kind := range []struct {
		what       string
		partitions []Partition
		latest     time.Duration // generous: the machine may be busy
	}{
		{"led by living brokers", o.alive, 2 * time.Second},
		{"led by the dead broker", o.moving, 4 * time.Second},
	} {
		late := lateness(events, acked, kind.partitions, o.begun)
		t.Logf("partitions %s: records are read up to %v after they are written, nothing is for %v", kind.what,
			late.Round(time.Millisecond), longestGap(events, kind.partitions, o.begun).Round(time.Millisecond))
		require.Less(t, late, kind.latest, "partitions %s", kind.what)
	}
}

// lateness returns the longest time between the writing of a record to one of
// some partitions since a moment and its reading.
func lateness(events, acked []Event, partitions []Partition, since time.Duration) time.Duration {
	type place struct {
		partition Partition
		offset    int64
	}
	written, late := map[place]time.Duration{}, time.Duration(0)
	for _, e := range acked {
		if e.At >= since && slices.Contains(partitions, e.Partition) {
			written[place{e.Partition, e.Offset}] = e.At
		}
	}
	for _, e := range events {
		if at, ok := written[place{e.Partition, e.Offset}]; ok && e.Kind == Read {
			late = max(late, e.At-at)
		}
	}
	return late
}

// longestGap returns the longest time since a moment in which nothing was read of
// one of some partitions.
func longestGap(events []Event, partitions []Partition, since time.Duration) time.Duration {
	gap, last := time.Duration(0), map[Partition]time.Duration{}
	for _, e := range events {
		if e.Kind != Read || !slices.Contains(partitions, e.Partition) {
			continue
		}
		if before := last[e.Partition]; before > 0 && e.At > since {
			gap = max(gap, e.At-before)
		}
		last[e.Partition] = e.At
	}
	return gap
}

// judgeRead is judgeAll for records whose partitions do not all have an end.
func judgeRead(t *testing.T, r *Recorder, produced int) Verdict {
	t.Helper()
	awaitReads(t, r, produced)
	verdict := Judge(r.Events(), nil)
	verdict.Require(t)
	require.Equal(t, produced, verdict.Read)
	return verdict
}
