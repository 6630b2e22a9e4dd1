package conn

import (
	"testing"

	"github.com/musterkafka/muster/internal/fakebroker"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"
)

const (
	testAddr = "broker:9092"

	keyProduce   = 0
	keyFetch     = 1
	keyMetadata  = 3
	keyFind      = 10
	keyJoin      = 11
	keyHeartbeat = 12
	keySync      = 14
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newBroker returns a broker that answers FindCoordinator with the host that is
// the key that was asked for, so that answers can be told apart, and the rest with
// empty responses.
func newBroker(t testing.TB) *fakebroker.Broker {
	b := fakebroker.New(t)
	for _, key := range []int16{keyProduce, keyFetch, keyMetadata, keyJoin, keyHeartbeat, keySync} {
		b.On(key, func(req kmsg.Request) kmsg.Response { return req.ResponseKind() })
	}
	b.On(keyFind, func(req kmsg.Request) kmsg.Response {
		resp := kmsg.NewPtrFindCoordinatorResponse()
		resp.Host = req.(*kmsg.FindCoordinatorRequest).CoordinatorKey
		return resp
	})
	return b
}

func connect(t testing.TB, b *fakebroker.Broker, cfg Config) *Conn {
	cfg.Dial = b.Dial
	c, err := Dial(t.Context(), testAddr, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// ask returns a request that newBroker's broker answers with name.
func ask(name string) kmsg.Request {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKey = name
	return AtMost(req, 3) // one key and one answer, no batch
}

func host(t testing.TB, a Answer) string {
	require.NoError(t, a.Err)
	resp := kmsg.NewPtrFindCoordinatorResponse()
	require.NoError(t, a.Into(resp))
	a.Release()
	return resp.Host
}

// rawFrame returns a response frame of this correlation ID and these bytes behind it.
func rawFrame(id byte, rest ...byte) []byte {
	frame := []byte{0, 0, byte((4 + len(rest)) >> 8), byte(4 + len(rest)), 0, 0, 0, id}
	return append(frame, rest...)
}
