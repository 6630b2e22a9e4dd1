package integration

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	dockernetwork "github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/network"
)

// Ports inside the containers. Clients on the host use the external one, tools
// in a container and the other brokers the internal one.
const (
	externalPort   = "9092"
	internalPort   = "9192"
	controllerPort = "9193"
)

// stopTimeout is how long a broker may take to stop by itself.
const stopTimeout = 30 * time.Second

// kafkaFunction starts a shell script. Its function replaces the shell by one
// of Kafka's programs, by the name of its class: a broker or a tool needs no
// script of its image, only Java and the jars, which are in $KAFKA_HOME. Tests want
// a quick start more than speed; classes archived in the image, if there are
// any, help with that.
const kafkaFunction = `kafka() {
	exec java -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
		-XX:SharedArchiveFile="$KAFKA_HOME/classes/$1.jsa" \
		-Dlog4j2.configurationFile=/tmp/log4j2.properties \
		-Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
		-cp "$KAFKA_HOME/libs/*" "$@"
}
`

// Formatting a second time, after a stop, changes nothing.
const brokerScript = kafkaFunction + `cd /tmp
(kafka kafka.tools.StorageTool format --ignore-formatted -t Ib7aVd9nQ3Om4m5Y2yZQxw -c broker.properties) &&
	kafka kafka.Kafka broker.properties`

const log4jProperties = `status=error
rootLogger.level=WARN
rootLogger.appenderRef.stderr.ref=stderr
appender.stderr.type=Console
appender.stderr.name=stderr
appender.stderr.target=SYSTEM_ERR
appender.stderr.layout.type=PatternLayout
appender.stderr.layout.pattern=%d{HH:mm:ss.SSS} %p %c: %m%n
`

type broker struct {
	id        int
	addr      string // as clients on the host reach it
	container *testcontainers.DockerContainer
}

func internalAddr(id int) string {
	return "kafka" + strconv.Itoa(id) + ":" + internalPort
}

// brokerProperties are the settings of one broker of n: small, quick, and
// safe against the loss of one broker where there are three.
func brokerProperties(id, n, port int) map[string]string {
	var voters []string
	for voter := range n {
		voters = append(voters, fmt.Sprintf("%d@kafka%d:%s", voter+1, voter+1, controllerPort))
	}
	replicas, minISR := strconv.Itoa(min(n, 3)), strconv.Itoa(min(n, 2))
	return map[string]string{
		"process.roles":                  "broker,controller",
		"node.id":                        strconv.Itoa(id),
		"controller.quorum.voters":       strings.Join(voters, ","),
		"listeners":                      fmt.Sprintf("EXTERNAL://:%s,INTERNAL://:%s,CONTROLLER://:%s", externalPort, internalPort, controllerPort),
		"advertised.listeners":           fmt.Sprintf("EXTERNAL://127.0.0.1:%d,INTERNAL://%s", port, internalAddr(id)),
		"listener.security.protocol.map": "EXTERNAL:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
		"inter.broker.listener.name":     "INTERNAL",
		"controller.listener.names":      "CONTROLLER",
		"log.dirs":                       "/tmp/kafka-data",

		"auto.create.topics.enable":                        "false",
		"default.replication.factor":                       replicas,
		"min.insync.replicas":                              minISR,
		"offsets.topic.num.partitions":                     "3",
		"offsets.topic.replication.factor":                 replicas,
		"transaction.state.log.num.partitions":             "3",
		"transaction.state.log.replication.factor":         replicas,
		"transaction.state.log.min.isr":                    minISR,
		"share.coordinator.state.topic.num.partitions":     "3",
		"share.coordinator.state.topic.replication.factor": replicas,
		"share.coordinator.state.topic.min.isr":            minISR,

		// Groups form at once, and a dead broker is noticed in 3 s, not 9.
		"group.initial.rebalance.delay.ms": "0",
		"group.min.session.timeout.ms":     "1000",
		"broker.heartbeat.interval.ms":     "500",
		"broker.session.timeout.ms":        "3000",
	}
}

func runBroker(ctx context.Context, rel release, id, port int, properties map[string]string, nw *testcontainers.DockerNetwork) (*broker, error) {
	localhost := netip.MustParseAddr("127.0.0.1")
	bindings := dockernetwork.PortMap{
		dockernetwork.MustParsePort(externalPort):   {{HostIP: localhost, HostPort: strconv.Itoa(port)}},
		dockernetwork.MustParsePort(controllerPort): {{HostIP: localhost}},
	}
	c, err := testcontainers.Run(ctx, rel.image,
		testcontainers.WithLabels(map[string]string{ownerLabel: owner()}),
		testcontainers.WithEnv(map[string]string{"KAFKA_HOME": rel.home}),
		testcontainers.WithEntrypoint("sh", "-c", rel.script),
		testcontainers.WithFiles(
			testcontainers.ContainerFile{Reader: propertiesFile(properties), ContainerFilePath: "/tmp/broker.properties", FileMode: 0o644},
			testcontainers.ContainerFile{Reader: strings.NewReader(log4jProperties), ContainerFilePath: "/tmp/log4j2.properties", FileMode: 0o644},
		),
		testcontainers.WithExposedPorts(externalPort+"/tcp", controllerPort+"/tcp"),
		testcontainers.WithHostConfigModifier(func(h *container.HostConfig) { h.PortBindings = bindings }),
		network.WithNetwork([]string{"kafka" + strconv.Itoa(id)}, nw),
	)
	if err != nil {
		return nil, fmt.Errorf("run broker %d on port %d: %w", id, port, err)
	}
	return &broker{id: id, addr: "127.0.0.1:" + strconv.Itoa(port), container: c}, nil
}

func propertiesFile(properties map[string]string) io.Reader {
	var file strings.Builder
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		fmt.Fprintf(&file, "%s=%s\n", name, properties[name])
	}
	return strings.NewReader(file.String())
}

// ControllerAddr returns where broker 1 listens as a controller: it speaks
// Kafka there, but not with clients.
func (c *Cluster) ControllerAddr(t testing.TB) string {
	t.Helper()
	port, err := c.brokers[0].container.MappedPort(t.Context(), controllerPort+"/tcp")
	require.NoError(t, err)
	return "127.0.0.1:" + port.Port()
}

// Stop stops a broker in good order: it hands over what it leads, and ends.
func (c *Cluster) Stop(t testing.TB, id int) {
	t.Helper()
	timeout := stopTimeout
	require.NoError(t, c.brokers[id-1].container.Stop(t.Context(), &timeout), "stop broker %d", id)
}

// Start starts a broker that was stopped or killed, and returns when the
// cluster has it back.
func (c *Cluster) Start(t testing.TB, id int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), readyTimeout)
	defer cancel()
	require.NoError(t, c.brokers[id-1].container.Start(ctx), "start broker %d", id)
	require.NoError(t, c.awaitBroker(ctx, c.brokers[id-1]), "start broker %d", id)
}

// Kill ends a broker at once, without a word to anybody.
func (c *Cluster) Kill(t testing.TB, id int) {
	t.Helper()
	c.withDocker(t, id, "kill", func(docker *client.Client, container string) error {
		_, err := docker.ContainerKill(t.Context(), container, client.ContainerKillOptions{Signal: "KILL"})
		return err
	})
}

// Pause freezes a broker: its connections stay open and nobody answers.
func (c *Cluster) Pause(t testing.TB, id int) {
	t.Helper()
	c.withDocker(t, id, "pause", func(docker *client.Client, container string) error {
		_, err := docker.ContainerPause(t.Context(), container, client.ContainerPauseOptions{})
		return err
	})
}

// Unpause lets a paused broker go on, as if no time had passed.
func (c *Cluster) Unpause(t testing.TB, id int) {
	t.Helper()
	c.withDocker(t, id, "unpause", func(docker *client.Client, container string) error {
		_, err := docker.ContainerUnpause(t.Context(), container, client.ContainerUnpauseOptions{})
		return err
	})
}

func (c *Cluster) withDocker(t testing.TB, id int, what string, f func(docker *client.Client, container string) error) {
	t.Helper()
	docker, err := testcontainers.NewDockerClientWithOpts(t.Context())
	require.NoError(t, err)
	defer docker.Close()
	require.NoError(t, f(docker.Client, c.brokers[id-1].container.GetContainerID()), "%s broker %d", what, id)
}

// logTail returns the last lines of a broker's log, or why there are none.
func (b *broker) logTail() string {
	const lines = 20
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	log, err := b.container.Logs(ctx)
	if err != nil {
		return err.Error()
	}
	defer log.Close()
	text, err := io.ReadAll(log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
