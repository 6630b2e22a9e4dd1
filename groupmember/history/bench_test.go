package history

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// A heartbeat round, that is two steps of a member, without and with a history of
// it.
func BenchmarkHeartbeat(b *testing.B) {
	b.Run("unrecorded", func(b *testing.B) { beats(b, nil) })
	b.Run("recorded", func(b *testing.B) {
		var size counter
		beats(b, NewRecorder(&size, func(err error) { b.Error(err) }))
		b.ReportMetric(float64(size)/float64(b.N), "written-B/op")
	})
}

// counter counts bytes.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

func beats(b *testing.B, r *Recorder) {
	cfg := groupmember.Config{Group: "billing"}
	member, err := groupmember.New(cfg)
	require.NoError(b, err)
	now, last := began, groupmember.Seq(0)
	var out []groupmember.Action
	step := func(ev groupmember.Event) {
		out = member.Step(now, ev, out[:0])
		if r != nil {
			r.Step(now, ev, out)
		}
		for _, a := range out {
			if send, ok := a.(groupmember.Send); ok {
				last = send.Seq
			}
		}
	}
	if r != nil {
		r.Begin(now, cfg)
	}
	protocol := "range"
	step(groupmember.Start{})
	step(groupmember.Found{Seq: 1})
	step(groupmember.Encoded{Seq: 2, Subscription: groupmember.Subscription{Protocols: []groupmember.Protocol{{Name: protocol}}}})
	step(groupmember.Replied{Seq: last, Resp: &kmsg.JoinGroupResponse{MemberID: "m-1", LeaderID: "other", Generation: 1, Protocol: &protocol}})
	step(groupmember.Replied{Seq: last, Resp: &kmsg.SyncGroupResponse{}})
	step(groupmember.Decoded{Seq: last + 1, Partitions: groupmember.Partitions{"orders": {0}}})
	require.Equal(b, groupmember.Stable, member.Status().State)

	resp := &kmsg.HeartbeatResponse{Version: 4}
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(3 * time.Second)
		step(groupmember.Elapsed{})
		step(groupmember.Replied{Seq: last, Resp: resp})
	}
}
