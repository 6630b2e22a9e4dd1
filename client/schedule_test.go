package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestTheFirstRequestIsDueAtOnce(t *testing.T) {
	s := schedule{maxAge: time.Minute}
	require.False(t, s.due().After(epoch))
}

func TestMetadataIsAskedForAgainWhenItIsOld(t *testing.T) {
	s := schedule{maxAge: time.Minute}
	s.begin()
	s.end(epoch, true)
	require.Equal(t, epoch.Add(time.Minute), s.due())
}

func TestRequestsThatAreWantedAgainAndAgainComeSlower(t *testing.T) {
	s := schedule{maxAge: time.Minute}
	s.begin()
	s.end(epoch, true)
	now := epoch
	var gaps []time.Duration
	for range 6 {
		s.ask(now)
		s.ask(now) // coalesced
		gaps = append(gaps, s.due().Sub(now))
		now = s.due()
		s.begin()
		s.end(now, true)
	}
	require.Equal(t, []time.Duration{100e6, 200e6, 400e6, 800e6, 1e9, 1e9}, gaps)

	now = now.Add(1100 * time.Millisecond)
	s.ask(now)
	require.True(t, s.due().Before(now), "after a quiet time a request is due at once")
	s.begin()
	s.end(now, true)
	s.ask(now)
	require.Equal(t, 100*time.Millisecond, s.due().Sub(now), "and the gaps begin anew")
}

func TestAFailedRequestIsRepeatedAfterAPauseUnasked(t *testing.T) {
	s := schedule{maxAge: time.Minute}
	for _, most := range []time.Duration{120e6, 240e6, 480e6, 960e6, 1200e6, 1200e6} {
		s.begin()
		s.end(epoch, false)
		pause := s.due().Sub(epoch)
		require.LessOrEqual(t, pause, most)
		require.GreaterOrEqual(t, pause, most*2/3)
		s.ask(epoch)
		require.Equal(t, pause, s.due().Sub(epoch), "asking does not shorten it")
	}
	s.begin()
	s.end(epoch, true)
	require.Equal(t, epoch.Add(time.Minute), s.due())
}

func TestARequestWantedDuringOneOnItsWayFollowsIt(t *testing.T) {
	s := schedule{maxAge: time.Minute}
	s.begin()
	s.ask(epoch)
	s.end(epoch, true)
	require.Equal(t, epoch.Add(100*time.Millisecond), s.due())
}
