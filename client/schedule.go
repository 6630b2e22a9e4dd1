package client

import "time"

const (
	shortestRefresh = 100 * time.Millisecond // between two requests
	longestRefresh  = time.Second            // between two requests that are asked for again and again
)

// schedule says when metadata is asked for. It reads no clock.
//
// Who waits for something that metadata does not show yet asks again after each
// answer, so the gap between requests grows while that goes on.
type schedule struct {
	maxAge   time.Duration
	wanted   bool          // somebody has asked since the last request began
	last     time.Time     // end of the last request; zero before the first
	gap      time.Duration // to the next one, if it is wanted
	pause    time.Duration // to the next one, after a failure
	failures int           // in a row
}

// ask says that metadata is wanted, and reports whether it was not before.
func (s *schedule) ask(now time.Time) bool {
	if s.wanted {
		return false
	}
	s.wanted = true
	if now.Sub(s.last) > s.gap {
		s.gap = 0
	}
	return true
}

// due returns when the next request is to begin.
func (s *schedule) due() time.Time {
	switch {
	case s.last.IsZero():
		return s.last
	case s.failures > 0:
		return s.last.Add(s.pause)
	case s.wanted:
		return s.last.Add(max(s.gap, shortestRefresh))
	}
	return s.last.Add(s.maxAge)
}

// begin says that a request has begun.
func (s *schedule) begin() { s.wanted = false }

// end says that the request has ended.
func (s *schedule) end(now time.Time, ok bool) {
	s.last = now
	if !ok {
		s.failures++
		s.pause = retryBackoff.after(s.failures)
		return
	}
	s.failures = 0
	s.gap = min(max(2*s.gap, shortestRefresh), longestRefresh)
}
