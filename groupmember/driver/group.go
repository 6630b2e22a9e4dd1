package driver

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/musterkafka/muster/groupmember"
)

// Group is a member that runs. All of its methods may be called from any
// goroutine.
type Group struct {
	cfg     groupmember.Config
	ports   Ports
	done    chan struct{}
	wg      sync.WaitGroup
	trusted atomic.Pointer[time.Time]
}

// Start makes a member and runs it. It does not wait for anything. A config
// that is not valid gives a Group that is done, and Err says why.
func Start(cfg groupmember.Config, ports Ports) *Group {
	return &Group{cfg: cfg, ports: ports, done: make(chan struct{})}
}

// Commit commits offsets and waits for the outcome.
func (g *Group) Commit(ctx context.Context, offsets []groupmember.Offset) ([]groupmember.OffsetResult, error) {
	return nil, nil
}

// LookUp returns the committed offsets of partitions.
func (g *Group) LookUp(ctx context.Context, partitions groupmember.Partitions) ([]groupmember.OffsetResult, error) {
	return nil, nil
}

// Rejoin asks for a new round.
func (g *Group) Rejoin(why string) {}

// Asked says that the application asked for records.
func (g *Group) Asked() {}

// Trusted returns until when the member may assume its membership.
func (g *Group) Trusted() time.Time { return time.Time{} }

// Leave ends the member.
func (g *Group) Leave(ctx context.Context, why string, remain bool) error { return nil }

// Done is closed when the member has ended.
func (g *Group) Done() <-chan struct{} { return g.done }

// Err returns why the member ended.
func (g *Group) Err() error { return nil }

// Status returns what the member knows of itself.
func (g *Group) Status() groupmember.Status { return groupmember.Status{} }
