package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const javaName = "java"

// prepareJava compiles Peers.java against the jars of the Kafka image and returns the command
// that runs it.
func prepareJava(ctx context.Context) ([]string, error) {
	image := os.Getenv("KAFKA_IMAGE")
	if image == "" {
		return nil, errors.New("KAFKA_IMAGE is not set")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(cache, "muster-peers", strings.ReplaceAll(filepath.Base(image), ":", "-")) // a colon separates class paths
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	const script = `set -e
cd "$1"
if [ ! -d libs ]; then
	container=$(docker create --entrypoint true "$KAFKA_IMAGE")
	trap 'docker rm "$container" >/dev/null' EXIT
	docker cp "$container:/opt/kafka/libs" libs.part >/dev/null
	mv libs.part libs
fi
javac -encoding UTF-8 -d classes -cp "libs/*" "$2"`
	source, err := filepath.Abs("java/Peers.java")
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", script, "sh", dir, source)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("compile Peers.java (it needs docker and a JDK 17): %w: %s", err, out)
	}
	return []string{"java", "-cp", filepath.Join(dir, "classes") + ":" + filepath.Join(dir, "libs", "*"), "Peers"}, nil
}

// javaCommand runs a task with Peers.java.
func javaCommand(ctx context.Context, java []string, t task) *exec.Cmd {
	args := append(java[1:len(java):len(java)], t.Case, string(t.Protocol), t.Broker)
	for _, g := range t.Groups {
		args = append(args, fmt.Sprintf("%s,%s,%d,%d", g.Topic, g.Name, g.Run, g.Phase.Milliseconds()))
	}
	cmd := exec.CommandContext(ctx, java[0], args...)
	cmd.Stderr = os.Stderr
	return cmd
}
