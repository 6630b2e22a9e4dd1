package client

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/musterkafka/muster/groupmember"
	"github.com/musterkafka/muster/groupmember/driver"
)

const (
	keyFetch       = 1
	keyListOffsets = 2
)

// errTestEnd is why the context of a test's loop ends.
var errTestEnd = fmt.Errorf("the test has seen enough")

// fakeMember plays the group: it owns what the test says, and remembers what is
// committed.
type fakeMember struct {
	config groupmember.Config
	owner  driver.Owner
	ports  driver.Ports
	done   chan struct{}
	turn   chan struct{} // room for one; taken while Revoke runs

	mu        sync.Mutex
	owned     groupmember.Partitions
	committed map[partitionKey]groupmember.Offset
	commits   []groupmember.Offset
	refuse    error // of commits
	codes     map[partitionKey]int16
	lookUps   int
	trusted   time.Time
	asked     int
	rejoins   []string
	left      int
	remained  bool
	failure   error
}

func (m *fakeMember) start(cfg groupmember.Config, ports driver.Ports) group {
	m.config, m.owner, m.ports = cfg, ports.Owner, ports
	return m
}

// assign gives partitions to the Consumer.
func (m *fakeMember) assign(p groupmember.Partitions) {
	m.mu.Lock()
	m.owned = p
	m.mu.Unlock()
	m.owner.Assigned(1, p, p)
}

func (m *fakeMember) Commit(ctx context.Context, offsets []groupmember.Offset) ([]groupmember.OffsetResult, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refuse != nil {
		return nil, m.refuse
	}
	var results []groupmember.OffsetResult
	for _, o := range offsets {
		key := partitionKey{o.Topic, o.Partition}
		code := m.codes[key]
		if code == 0 {
			m.committed[key] = o
			m.commits = append(m.commits, o)
		}
		results = append(results, groupmember.OffsetResult{Offset: o, Code: code})
	}
	return results, nil
}

func (m *fakeMember) LookUp(ctx context.Context, partitions groupmember.Partitions) ([]groupmember.OffsetResult, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lookUps++
	var results []groupmember.OffsetResult
	for topic, ids := range partitions {
		for _, id := range ids {
			key := partitionKey{topic, id}
			o, ok := m.committed[key]
			if !ok {
				o = groupmember.Offset{Topic: topic, Partition: id, Next: -1, LeaderEpoch: -1}
			}
			results = append(results, groupmember.OffsetResult{Offset: o, Code: m.codes[key]})
		}
	}
	return results, nil
}

func (m *fakeMember) Rejoin(why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rejoins = append(m.rejoins, why)
}

// wishes returns why another round was asked for, each time.
func (m *fakeMember) wishes() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.rejoins)
}

func (m *fakeMember) Asked() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
}

func (m *fakeMember) Trusted() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.trusted
}

func (m *fakeMember) trust(until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trusted = until
}

func (m *fakeMember) Leave(ctx context.Context, why string, remain bool) error {
	m.mu.Lock()
	owned := m.owned
	m.owned = nil
	m.left++
	m.remained = remain
	m.mu.Unlock()
	m.takeBack(ctx, owned, false)
	close(m.done)
	return context.Cause(ctx)
}

// takeBack calls Revoke, once the one before has returned.
func (m *fakeMember) takeBack(ctx context.Context, p groupmember.Partitions, lost bool) {
	m.turn <- struct{}{}
	defer func() { <-m.turn }()
	m.owner.Revoke(ctx, p, lost)
}

func (m *fakeMember) Done() <-chan struct{} { return m.done }

func (m *fakeMember) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failure
}

// have returns the committed offset of partition 0 of "t"; -1 if there is none.
func (m *fakeMember) have(partition int32) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if o, ok := m.committed[partitionKey{"t", partition}]; ok {
		return o.Next
	}
	return -1
}
