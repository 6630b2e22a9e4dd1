// Package driver runs a [groupmember.Member]: it has the clock, the goroutines
// and the ports that the pure machine lacks. It does not know the protocol.
package driver

import (
	"context"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// Ports are what a member needs from the world. All but Log, Trace and History
// are required.
type Ports struct {
	Coordinator Coordinator
	Translator  Translator
	Owner       Owner
	Log         *slog.Logger // nil logs nothing
	Trace       *Trace       // nil traces nothing
	History     Recorder     // nil records nothing
}

// Coordinator reaches the group's coordinator, wherever it is. Its methods are
// called from several goroutines.
type Coordinator interface {
	// Find looks the coordinator up and remembers it for Request. With forget
	// the remembered one is dropped first; without it a remembered one will do. It returns
	// FindCoordinator's error code for the group. It asks once: when to ask again is the member's business.
	Find(ctx context.Context, forget bool) (code int16, err error)

	// Request asks the coordinator last found, over the connection that route
	// names. It tries again only what certainly never left this process
	// because an idle connection turned out to be dead. When ctx ends first, the
	// broker may still be holding the request: what is asked over that route
	// later must not wait behind it, so its connection has to go.
	Request(ctx context.Context, route groupmember.Route, req kmsg.Request) (kmsg.Response, error)
}

// Translator turns bytes of the group protocol into values and back. Its
// methods may block until ctx ends and may run user code (assignors).
type Translator interface {
	// Encode answers groupmember.Encode: the subscription for a member that owns
	// this since that generation, -1 if it owns nothing. After an error it is asked again, with back-off.
	Encode(ctx context.Context, owned groupmember.Partitions, generation int32) (groupmember.Subscription, error)
	// Plan answers groupmember.Plan. No assignments without an error are an
	// error too, unless the question has Skip.
	Plan(ctx context.Context, question groupmember.Plan) ([]groupmember.Assignment, groupmember.Composition, error)
	// Decode answers groupmember.Decode. foreign is what was assigned and not
	// subscribed to. After an error the member leaves and comes back, and ends after
	// three in a row.
	Decode(ctx context.Context, protocol string, assignment []byte) (partitions, foreign groupmember.Partitions, err error)
	// Resolve answers groupmember.Resolve, which only KIP-848 asks.
	Resolve(ctx context.Context, topics []groupmember.TopicID) (groupmember.Partitions, error)
}

// Owner is told what the member owns. Assigned, Suspended, Resumed and
// Rebalanced are called from the driver's loop and must not block.
type Owner interface {
	// Assigned hands out partitions: added are new, owned is all that the member
	// has. The values are shared and must not be written.
	Assigned(generation int32, added, owned groupmember.Partitions)

	// Revoke returns once the application has let go. It may block, and may
	// commit through the member meanwhile unless lost is set. ctx ends when
	// there is no time left: the member is ended without waiting for it, or
	// has lost the partitions. Then Suspended comes first, and a Revoke with
	// lost after the one that runs has returned: it is never called twice at a
	// time.
	Revoke(ctx context.Context, partitions groupmember.Partitions, lost bool)
	// Suspended says that from now on nothing may be handed out or committed,
	// until Resumed or a Revoke with lost.
	Suspended()

	// Resumed ends Suspended: the membership is confirmed.
	Resumed()

	// Rebalanced explains what has happened, once for each rebalance, after the
	// last Assigned and Revoke that belong to it. The value is shared and must not be written.
	Rebalanced(r *groupmember.Rebalance)
}

// Trace is a set of optional functions, called from the driver's loop. They
// must not block.
type Trace struct {
	Event  func(groupmember.Event)  // before the step that it is given to; nil is not called
	Action func(groupmember.Action) // before the action is performed; nil is not called
}

// Recorder writes a member's history down, to be replayed (package history).
// Its methods must not block; what they are given is not theirs to change.
type Recorder interface {
	// Begin is called once, before the member's first step, unless cfg is not
	// valid.
	Begin(now time.Time, cfg groupmember.Config)

	// Step is called from the driver's loop after each step of the member and
	// before any of the actions is performed. The slice is valid until it returns.
	Step(now time.Time, ev groupmember.Event, actions []groupmember.Action)
}
