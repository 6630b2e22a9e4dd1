package driver

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// lines collects what is logged at Info and above.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }
func (l *lines) WithAttrs([]slog.Attr) slog.Handler               { return l }
func (l *lines) WithGroup(string) slog.Handler                    { return l }

func (l *lines) Handle(_ context.Context, r slog.Record) error {
	line := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += " " + a.Key + "=" + a.Value.String()
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line)
	return nil
}

func TestEachRebalanceIsOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := new(lines)
		ports := new(world).ports()
		ports.Log = slog.New(log)
		g := Start(config, ports)
		time.Sleep(time.Minute)
		require.NoError(t, g.Leave(within(t, time.Second), "done", false))
		require.Equal(t, []string{
			"INFO group member rebalanced group=g member=m-1 generation=1 rebalance=1 outcome=settled trigger=member started: consumer started took=0s before=-1 after=1" +
				" protocol=range leader=true gained=orders[0] change=1 member",
			"INFO group member rebalanced group=g member=m-1 generation=1 rebalance=2 outcome=left trigger=leave requested: done took=0s before=1 after=-1 revoked=orders[0]",
		}, log.all)
	})
}

func TestEndThatNobodyAskedForIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := new(lines)
		ports := (&world{request: refuse(kmsg.JoinGroup, kerr.InconsistentGroupProtocol)}).ports()
		ports.Log = slog.New(log)
		g := Start(config, ports)
		<-g.Done()
		require.Len(t, log.all, 1)
		require.Contains(t, log.all[0], "ERROR group member ended group=g")
		require.Contains(t, log.all[0], "INCONSISTENT_GROUP_PROTOCOL")
	})
}

func TestCoordinatorThatIsNotFoundIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := new(lines)
		ports := (&world{find: func(context.Context) (int16, error) { return kerr.CoordinatorNotAvailable.Code, nil }}).ports()
		ports.Log = slog.New(log)
		g := Start(config, ports)
		time.Sleep(10 * time.Minute)
		requireState(t, g, groupmember.Finding)
		require.Equal(t, []string{
			"WARN no coordinator found in 3 attempts, trying on: COORDINATOR_NOT_AVAILABLE group=g member= generation=-1",
		}, log.all)
		require.NoError(t, g.Leave(within(t, time.Second), "done", false))
	})
}
