package driver

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// world is all of the ports of one member. A nil function is answered as a
// healthy broker or application would.
type world struct {
	find    func(ctx context.Context) (int16, error)
	request func(ctx context.Context, route groupmember.Route, req kmsg.Request) (kmsg.Response, error)
	plan    func(ctx context.Context) ([]groupmember.Assignment, error)
	revoke  func(ctx context.Context, partitions groupmember.Partitions, lost bool)

	mu        sync.Mutex
	requests  []string // API names, in the order asked
	told      []string // what the Owner was told
	explained []*groupmember.Rebalance
}

func (w *world) ports() Ports { return Ports{Coordinator: w, Translator: w, Owner: w} }

func (w *world) note(list *[]string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*list = append(*list, text)
}

func (w *world) asked(name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, one := range w.requests {
		if one == name {
			n++
		}
	}
	return n
}

func (w *world) owner() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.told...)
}

func (w *world) Find(ctx context.Context, _ bool) (int16, error) {
	if w.find != nil {
		return w.find(ctx)
	}
	return 0, nil
}

func (w *world) Request(ctx context.Context, route groupmember.Route, req kmsg.Request) (kmsg.Response, error) {
	w.note(&w.requests, kmsg.NameForKey(req.Key()))
	if w.request != nil {
		if resp, err := w.request(ctx, route, req); resp != nil || err != nil {
			return resp, err
		}
	}
	return healthy(req)
}

// healthy answers like the coordinator of a group with one member.
func healthy(req kmsg.Request) (kmsg.Response, error) {
	resp := req.ResponseKind()
	switch resp := resp.(type) {
	case *kmsg.JoinGroupResponse:
		protocol := "range"
		resp.MemberID, resp.LeaderID, resp.Generation, resp.Protocol = "m-1", "m-1", 1, &protocol
		resp.Members = []kmsg.JoinGroupResponseMember{{MemberID: "m-1"}}
	case *kmsg.OffsetCommitResponse:
		resp.Topics = []kmsg.OffsetCommitResponseTopic{{Topic: "orders", Partitions: []kmsg.OffsetCommitResponseTopicPartition{{Partition: 0}}}}
	case *kmsg.OffsetFetchResponse:
		resp.Groups = []kmsg.OffsetFetchResponseGroup{{Group: "g", Topics: []kmsg.OffsetFetchResponseGroupTopic{
			{Topic: "orders", Partitions: []kmsg.OffsetFetchResponseGroupTopicPartition{{Partition: 0, Offset: 7}}},
		}}}
	}
	return resp, nil
}

func (w *world) Encode(context.Context, groupmember.Partitions, int32) (groupmember.Subscription, error) {
	return groupmember.Subscription{Protocols: []groupmember.Protocol{{Name: "range"}}}, nil
}

func (w *world) Plan(ctx context.Context, _ groupmember.Plan) ([]groupmember.Assignment, groupmember.Composition, error) {
	if w.plan != nil {
		all, err := w.plan(ctx)
		return all, groupmember.Composition{}, err
	}
	return []groupmember.Assignment{{MemberID: "m-1", Bytes: []byte("all")}}, groupmember.Composition{}, nil
}

func (w *world) Decode(context.Context, string, []byte) (groupmember.Partitions, groupmember.Partitions, error) {
	return groupmember.Partitions{"orders": {0}}, nil, nil
}

func (w *world) Resolve(context.Context, []groupmember.TopicID) (groupmember.Partitions, error) {
	return nil, errors.New("not used by the classic protocol")
}

func (w *world) Assigned(int32, groupmember.Partitions, groupmember.Partitions) {
	w.note(&w.told, "assigned")
}

func (w *world) Rebalanced(r *groupmember.Rebalance) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.explained = append(w.explained, r)
}

func (w *world) Suspended() { w.note(&w.told, "suspended") }
func (w *world) Resumed()   { w.note(&w.told, "resumed") }

func (w *world) Revoke(ctx context.Context, partitions groupmember.Partitions, lost bool) {
	if lost {
		w.note(&w.told, "lost")
	} else {
		w.note(&w.told, "revoke")
	}
	if w.revoke != nil {
		w.revoke(ctx, partitions, lost)
	}
	w.note(&w.told, "released")
}

// stateOf fails the test unless the member is where it should be.
func requireState(t *testing.T, g *Group, want groupmember.State) {
	t.Helper()
	require.Equal(t, want.String(), g.Status().State.String())
}

var oneOffset = []groupmember.Offset{{Topic: "orders", Partition: 0, Next: 7, LeaderEpoch: -1}}
