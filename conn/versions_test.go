package conn

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestTheHighestCommonVersionIsChosen(t *testing.T) {
	const unknown = -1
	for _, test := range []struct {
		name               string
		key, ours          int16
		theirMin, theirMax int16
		want               int16
		err                string
	}{
		{"ours is lower", keyJoin, 5, 2, 9, 5, ""},
		{"theirs is lower", keyJoin, 9, 0, 4, 4, ""},
		{"one in common, at their end", keyJoin, 9, 9, 100, 9, ""},
		{"one in common, at our end", keyJoin, 2, 2, 9, 2, ""},
		{"theirs are too new", keyFetch, 18, 100, 120, 0, "no common version: this client can send 0 to 18, the broker offers 100 to 120"},
		{"capped below theirs", keyJoin, 1, 2, 9, 0, "no common version: this client can send 0 to 1, the broker offers 2 to 9"},
		{"theirs is nonsense", keyJoin, 9, -5, -2, 0, "no common version"},
		{"not offered", keyJoin, 9, unknown, unknown, 0, "not supported by this broker: it does not offer this API (key 11)"},
		{"key above kmsg's", kmsg.MaxKey + 1, 9, unknown, unknown, 0, "this client does not know API key 95"},
		{"negative key", -1, 9, unknown, unknown, 0, "this client does not know API key -1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var offered []kmsg.ApiVersionsResponseApiKey
			if test.theirMax != unknown {
				offered = []kmsg.ApiVersionsResponseApiKey{{ApiKey: test.key, MinVersion: test.theirMin, MaxVersion: test.theirMax}}
			}
			table := newVersionTable(offered)
			version, err := table.choose(test.key, test.ours)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, version)
		})
	}
}

func TestUnknownKeysInTheBrokersListAreIgnored(t *testing.T) {
	table := newVersionTable([]kmsg.ApiVersionsResponseApiKey{
		{ApiKey: 32767, MaxVersion: 1},
		{ApiKey: -32768, MaxVersion: 1},
		{ApiKey: kmsg.MaxKey + 1, MaxVersion: 1},
		{ApiKey: keyHeartbeat, MaxVersion: 3},
	})
	version, err := table.choose(keyHeartbeat, 4)
	require.NoError(t, err)
	require.Equal(t, int16(3), version)
}

func TestVersionsAreThoseOfTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, young := newBroker(t), newBroker(t)
		old.Offer(keyHeartbeat, 0, 2)
		old.Offer(keyFetch, 100, 120)
		old.Offer(keyJoin, 1, 0)
		c := connect(t, old, Config{})
		resp, err := c.Request(t.Context(), kmsg.NewPtrHeartbeatRequest())
		require.NoError(t, err)
		require.Equal(t, int16(2), resp.GetVersion())

		version, ok := c.Version(keyHeartbeat)
		require.Equal(t, int16(2), version)
		require.True(t, ok)
		version, ok = connect(t, young, Config{}).Version(keyHeartbeat)
		require.Equal(t, int16(4), version)
		require.True(t, ok)
		for _, key := range []int16{keyFetch, keyJoin, -1, kmsg.MaxKey + 1} {
			_, ok = c.Version(key)
			require.False(t, ok, "key %d", key)
		}

		_, err = c.Request(t.Context(), kmsg.NewPtrFetchRequest())
		require.ErrorContains(t, err, "broker broker:9092: Fetch: not supported by this broker: no common version: this client can send 0 to ")
		require.True(t, Unsent(err))
	})
}

func TestApiVersionsCanBeRequestedLikeAnyOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		c := connect(t, b, Config{})
		require.Equal(t, testAddr, c.Addr())
		resp, err := c.Request(t.Context(), kmsg.NewPtrApiVersionsRequest())
		require.NoError(t, err)
		table := newVersionTable(resp.(*kmsg.ApiVersionsResponse).ApiKeys)
		require.Equal(t, c.versions, table)
	})
}

func TestAnAnswerCarriesTheRequestWithoutItsCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newBroker(t), Config{})
		req := kmsg.NewPtrHeartbeatRequest()
		to := make(chan Answer, 1)
		require.NoError(t, c.Start(t.Context(), AtMost(AtMost(req, 3), 1000), to))
		a := <-to
		require.Same(t, req, a.Req)
		require.Equal(t, int16(3), a.Version)
	})
}

// The header of a response is split by the flexibility of its request.
func TestRequestsAndResponsesAreFlexibleInTheSameVersions(t *testing.T) {
	for key := range int16(kmsg.MaxKey + 1) {
		req := kmsg.RequestForKey(key)
		if req == nil {
			continue
		}
		resp := req.ResponseKind()
		for version := range req.MaxVersion() + 1 {
			req.SetVersion(version)
			resp.SetVersion(version)
			require.Equal(t, req.IsFlexible(), resp.IsFlexible(), "%s version %d", kmsg.NameForKey(key), version)
		}
	}
}

// atLeast is a request that is worth nothing in older versions.
type atLeast struct {
	*kmsg.HeartbeatRequest
	version int16
}

func (a atLeast) MinVersion() int16 { return a.version }

func TestARequestIsNotSentInAVersionBelowItsLeast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		b.Offer(keyHeartbeat, 0, 2)
		c := connect(t, b, Config{})
		_, err := c.Request(t.Context(), atLeast{kmsg.NewPtrHeartbeatRequest(), 2})
		require.NoError(t, err)
		_, err = c.Request(t.Context(), AtMost(atLeast{kmsg.NewPtrHeartbeatRequest(), 3}, 3))
		require.ErrorIs(t, err, ErrUnsupported)
		require.True(t, Unsent(err))
	})
}
