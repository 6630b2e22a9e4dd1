package integration

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/client"
	"github.com/musterkafka/muster/groupmember"
)

// sessionTimeout is that of our members in tests: as short as a broker allows
// unless told otherwise, so that a crash is over soon.
const sessionTimeout = 6 * time.Second

// A MusterMember is one of our consumers in a group. It reports to a Recorder
// what it is given, gives back and reads.
type MusterMember struct {
	Client   *client.Client
	Consumer *client.Consumer
	Network  *Network // carries its connections
	Log      *Log     // what its client says

	name     string
	recorder *Recorder
	body     func(*client.Record)
	cancel   context.CancelCauseFunc
	wg       sync.WaitGroup // one goroutine, reading until cancel

	mu  sync.Mutex
	err error // that ended the loop
}

// MusterConfig is what a test may change of a MusterMember before it starts.
type MusterConfig struct {
	Client   client.Config
	Consumer client.ConsumerConfig
	Body     func(*client.Record) // the rest of the loop's body, after the record is reported; nil for none
}

// MusterMember joins a group under a client ID, also its name in the recorder,
// and reads one topic from its start. The member leaves with Close, or when the
// test ends.
func (c *Cluster) MusterMember(t testing.TB, r *Recorder, name, group, topic string, changes ...func(*MusterConfig)) *MusterMember {
	t.Helper()
	m := c.MusterConsumer(t, r, name, group, topic, changes...)
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.Context()))
	m.cancel = cancel
	m.wg.Go(func() { m.read(ctx) })
	t.Cleanup(func() {
		_ = m.Close() // a test that cares has closed it before
		require.NoError(t, m.Err(), "the loop of %s", name)
	})
	return m
}

// MusterConsumer is a MusterMember that reads nothing: the loop over its
// Consumer is the test's.
func (c *Cluster) MusterConsumer(t testing.TB, r *Recorder, name, group, topic string, changes ...func(*MusterConfig)) *MusterMember {
	t.Helper()
	m := &MusterMember{Network: NewNetwork(), Log: NewLog(t, name), name: name, recorder: r}
	m.cancel = func(error) {}
	cfg := MusterConfig{
		Client: client.Config{Brokers: c.Addrs(), ClientID: name, Logger: m.Log.Logger(), Dial: m.Network.Dial},
		Consumer: client.ConsumerConfig{
			Group:   group,
			Topics:  []string{topic},
			Classic: client.ClassicConfig{SessionTimeout: sessionTimeout, HeartbeatInterval: time.Second / 2},
			Trace:   m.trace(),
		},
	}
	for _, change := range changes {
		change(&cfg)
	}
	m.body = cfg.Body
	var err error
	m.Client, err = client.New(cfg.Client)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Client.Close()) })
	m.Consumer, err = m.Client.Consumer(cfg.Consumer)
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// Close ends the member in good order and returns when it has left the group,
// or after a second if it cannot. A second call does nothing.
func (m *MusterMember) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := m.Consumer.Close(ctx)
	m.cancel(errLeft)
	m.wg.Wait()
	return err
}

// Kill cuts the member off from all brokers, for good, without a word to them.
// What it has buffered it does not read any more.
func (m *MusterMember) Kill() {
	m.Network.Cut()
	m.cancel(errKilled)
	m.wg.Wait()
	m.recorder.Gone(m.name)
}

var errKilled = errors.New("the member is killed")

// Err returns what ended the loop of the member; nil while it goes on, and if
// Close or Kill did.
func (m *MusterMember) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.err
}

func (m *MusterMember) read(ctx context.Context) {
	for record, err := range m.Consumer.Records(ctx) {
		if err != nil {
			m.mu.Lock()
			m.err = err
			m.mu.Unlock()
			return
		}
		m.recorder.Read(m.name, Partition{record.Topic, record.Partition}, record.Offset)
		if m.body != nil {
			m.body(record)
		}
	}
}

func (m *MusterMember) trace() *client.ConsumerTrace {
	return &client.ConsumerTrace{
		Assigned: func(generation int32, _, owned groupmember.Partitions) {
			m.recorder.Assigned(m.name, generation, flatten(owned)...)
		},
		Revoked: func(partitions groupmember.Partitions, _ bool) {
			m.recorder.Revoked(m.name, flatten(partitions)...)
		},
	}
}
