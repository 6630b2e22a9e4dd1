package conn

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// expectsAnswer reports whether the broker answers req at all.
func expectsAnswer(req kmsg.Request) bool {
	produce, ok := req.(*kmsg.ProduceRequest)
	return !ok || produce.Acks != 0
}

// allowance returns how long req itself lets the broker wait before it answers.
// It is not limited for JoinGroup and SyncGroup: the broker holds them for as
// long as the largest rebalance timeout in the group, which only it knows.
func allowance(req kmsg.Request) (wait time.Duration, limited bool) {
	var millis int32
	switch req := req.(type) {
	case *kmsg.JoinGroupRequest, *kmsg.SyncGroupRequest:
		return 0, false
	case *kmsg.FetchRequest:
		millis = req.MaxWaitMillis
	case *kmsg.ShareFetchRequest:
		millis = req.MaxWaitMillis
	case kmsg.TimeoutRequest:
		millis = req.Timeout()
	}
	return time.Duration(max(millis, 0)) * time.Millisecond, true
}
