package conn

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// longestThrottle is far above what a quota makes of its windows, some seconds as a rule:
// a broker that asks for more is broken, and may not stop its clients for days.
const longestThrottle = 5 * time.Minute

// throttle returns how long the broker asks this client to send nothing more on
// the connection. It is zero for versions in which the broker itself has waited
// before it answered, and for those that came before KIP-219 there is nothing
// left to obey.
func throttle(resp kmsg.Response) time.Duration {
	t, ok := resp.(kmsg.ThrottleResponse)
	if !ok {
		return 0
	}
	millis, afterwards := t.Throttle()
	if !afterwards || millis <= 0 {
		return 0
	}
	return min(time.Duration(millis)*time.Millisecond, longestThrottle)
}
