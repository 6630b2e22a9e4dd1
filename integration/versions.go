package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Newest is the version of Kafka that a cluster is of unless it asks for another.
const Newest = "newest"

// Versions returns the versions of Kafka of which there are brokers, the oldest
// first and [Newest] last. The others come from the environment variable
// KAFKA_OLD_VERSIONS; where that is empty, the test is skipped, and fails where CI=true.
func Versions(t testing.TB) []string {
	t.Helper()
	requireEngine(t)
	old := oldVersions()
	if len(old) == 0 {
		t.Skip("there are no older brokers: KAFKA_OLD_VERSIONS is empty; make integration prepares their image")
	}
	return append(old, Newest)
}

func oldVersions() []string {
	return strings.Fields(os.Getenv("KAFKA_OLD_VERSIONS"))
}

// SharedVersion is [Shared] with a broker of one of the [Versions].
func SharedVersion(t testing.TB, version string) *Cluster {
	t.Helper()
	if version == Newest {
		return Shared(t)
	}
	shared, _ := sharedVersions.LoadOrStore(version, startOnce(version))
	return share(t, shared.(func() (*Cluster, error)))
}

func startOnce(version string) func() (*Cluster, error) {
	return sync.OnceValues(func() (*Cluster, error) {
		return start(context.Background(), Options{Version: version})
	})
}

var sharedVersions sync.Map // version to func() (*Cluster, error)

// A release is a version of Kafka, as it is found in an image and started.
type release struct {
	image     string
	home      string // has libs, and classes if they are archived
	script    string
	zookeeper bool // it has no controllers of its own
}

func findRelease(o Options) (release, error) {
	if o.Version == "" || o.Version == Newest {
		return release{image: os.Getenv("KAFKA_IMAGE"), home: "/opt/kafka", script: brokerScript}, nil
	}
	if !slices.Contains(oldVersions(), o.Version) {
		return release{}, fmt.Errorf("there is no broker of Kafka %q: KAFKA_OLD_VERSIONS names %q", o.Version, oldVersions())
	}
	r := release{image: os.Getenv("KAFKA_OLD_IMAGE"), home: path.Join("/opt/kafka-old", o.Version), script: brokerScript}
	if strings.HasPrefix(o.Version, "2.") {
		r.script, r.zookeeper = zookeeperScript, true
	}
	if r.zookeeper && o.Brokers > 1 {
		return release{}, errors.New("a broker with a ZooKeeper in its container stands alone")
	}
	return r, nil
}

// zookeeperScript starts a broker with a ZooKeeper beside it, for which it waits.
const zookeeperScript = kafkaFunction + `cd /tmp
cat >zookeeper.properties <<end
dataDir=/tmp/zookeeper
clientPort=2181
clientPortAddress=127.0.0.1
admin.enableServer=false
tickTime=500
end
(kafka org.apache.zookeeper.server.quorum.QuorumPeerMain zookeeper.properties) &
kafka kafka.Kafka broker.properties`

// adapt turns the settings of a broker that is a controller, too, into those of
// one that has a ZooKeeper.
func (r release) adapt(properties map[string]string) {
	if !r.zookeeper {
		return
	}
	properties["broker.id"] = properties["node.id"]
	properties["zookeeper.connect"] = "127.0.0.1:2181"
	for _, name := range []string{"process.roles", "node.id", "controller.quorum.voters", "controller.listener.names"} {
		delete(properties, name)
	}
	for _, name := range []string{"listeners", "listener.security.protocol.map"} {
		properties[name], _, _ = strings.Cut(properties[name], ",CONTROLLER:")
	}
}
