package client

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/internal/fakebroker"
)

// Keys of the APIs that the tests script.
const (
	keyMetadata        = 3
	keyFindCoordinator = 10
	keyHeartbeat       = 12
	keyCreateTopics    = 19
	keyDeleteTopics    = 20
)

// fakes is a cluster of scripted brokers with the IDs from 1, broker 1 at
// "b1:9092". All of them describe the same brokers and topics.
type fakes struct {
	t   testing.TB
	log *lines

	mu         sync.Mutex
	brokers    fakebroker.Cluster
	clusterID  string
	controller int32
	members    []int32 // the brokers that Metadata names
	racks      map[int32]string
	topics     map[string]kmsg.MetadataResponseTopic
}

func newFakes(t testing.TB, n int32) *fakes {
	f := &fakes{
		brokers:    make(fakebroker.Cluster),
		t:          t,
		log:        new(lines),
		clusterID:  "c",
		controller: 1,
		topics:     make(map[string]kmsg.MetadataResponseTopic),
	}
	for id := range n {
		f.add(id + 1)
		f.members = append(f.members, id+1)
	}
	return f
}

func (f *fakes) add(id int32) *fakebroker.Broker {
	b := fakebroker.New(f.t)
	b.On(keyMetadata, f.metadata)
	f.place(fmt.Sprintf("b%d:9092", id), b)
	return b
}

// place puts b at addr.
func (f *fakes) place(addr string, b *fakebroker.Broker) {
	f.change(func() { f.brokers[addr] = b })
}

func (f *fakes) broker(id int32) *fakebroker.Broker {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.brokers[fmt.Sprintf("b%d:9092", id)]
}

func (f *fakes) all() []*fakebroker.Broker {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Values(f.brokers))
}

func (f *fakes) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	f.mu.Lock()
	here := maps.Clone(f.brokers)
	f.mu.Unlock()
	return here.Dial(ctx, network, addr)
}

// change edits what the brokers describe.
func (f *fakes) change(edit func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	edit()
}

func (f *fakes) metadata(req kmsg.Request) kmsg.Response {
	f.mu.Lock()
	defer f.mu.Unlock()
	resp := kmsg.NewPtrMetadataResponse()
	resp.ClusterID, resp.ControllerID = &f.clusterID, f.controller
	for _, id := range f.members {
		b := kmsg.NewMetadataResponseBroker()
		b.NodeID, b.Host, b.Port = id, fmt.Sprintf("b%d", id), 9092
		if rack, ok := f.racks[id]; ok {
			b.Rack = &rack
		}
		resp.Brokers = append(resp.Brokers, b)
	}
	asked := req.(*kmsg.MetadataRequest).Topics
	if asked == nil {
		resp.Topics = slices.Collect(maps.Values(f.topics))
	}
	for _, t := range asked {
		known, ok := f.topics[*t.Topic]
		if !ok {
			known = topicAnswer(*t.Topic, [16]byte{}, unknownTopic)
		}
		resp.Topics = append(resp.Topics, known)
	}
	return resp
}

// client returns a Client of the fakes that is closed when the test ends. By
// default it starts from b1 and logs into f.log.
func (f *fakes) client(cfg Config) *Client {
	if cfg.Brokers == nil {
		cfg.Brokers = []string{"b1:9092"}
	}
	cfg.Dial = f.dial
	cfg.Logger = slog.New(slog.NewTextHandler(f.log, nil))
	cl, err := New(cfg)
	require.NoError(f.t, err)
	f.t.Cleanup(func() { require.NoError(f.t, cl.Close()) })
	return cl
}

// seen returns how many requests of an API all brokers have got.
func (f *fakes) seen(key int16) (n int) {
	for _, b := range f.all() {
		n += len(b.Seen(key))
	}
	return n
}

func (f *fakes) dials() (n int) {
	for _, b := range f.all() {
		n += b.Dials()
	}
	return n
}

// lines collects what is logged.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, string(line))
	return len(line), nil
}

// with returns the lines that contain part.
func (l *lines) with(part string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.all {
		if strings.Contains(line, part) {
			found = append(found, line)
		}
	}
	return found
}

func anyCluster(*cluster) bool { return true }

func heartbeatOK(kmsg.Request) kmsg.Response { return kmsg.NewPtrHeartbeatResponse() }
