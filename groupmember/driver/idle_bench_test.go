package driver

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// quiet is all ports of members that have nothing to do: each leads a group of its own.
type quiet struct {
	world
	assigned chan struct{}
}

func (q *quiet) Request(_ context.Context, _ groupmember.Route, req kmsg.Request) (kmsg.Response, error) {
	return healthy(req)
}

func (q *quiet) Assigned(int32, groupmember.Partitions, groupmember.Partitions) {
	q.assigned <- struct{}{}
}

func (q *quiet) Revoke(context.Context, groupmember.Partitions, bool) {}

// What 10,000 members cost that are settled and send heartbeats, without what a
// client adds: connections, metadata, fetching.
func BenchmarkTenThousandIdleMembers(b *testing.B) {
	const members = 10_000
	for b.Loop() {
		q := &quiet{assigned: make(chan struct{}, members)}
		ports := Ports{Coordinator: q, Translator: q, Owner: q}
		before := usedNow()
		groups := make([]*Group, members)
		for i := range groups {
			groups[i] = Start(groupmember.Config{Group: "g", PollInterval: time.Hour, Seed: uint64(i)}, ports)
		}
		for range groups {
			<-q.assigned
		}
		time.Sleep(10 * time.Second) // of heartbeats
		after := usedNow()
		b.ReportMetric(float64(after.bytes-before.bytes)/members, "bytes/member")
		b.ReportMetric(float64(after.goroutines-before.goroutines)/members, "goroutines/member")
		for _, g := range groups {
			if err := g.Leave(b.Context(), "done", false); err != nil {
				b.Fatal(err)
			}
		}
	}
}

type used struct {
	bytes      int64 // of reachable memory, and of stacks
	goroutines int
}

func usedNow() used {
	for range 3 { // a collection halves stacks that are larger than they need be
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return used{int64(m.HeapAlloc + m.StackInuse), runtime.NumGoroutine()}
}
