// Command idle measures what a member of a group costs that has nothing to do: many groups of one
// member each, which read a topic of one partition to which nobody writes. It compares clients on one real broker, in turn;
// muster twice, with a Client for each member and with one for all.
//
// Each client is measured in a process of its own: goroutines, resident memory and TCP
// connections above what the process had before its first member, after a time of rest and a garbage
// collection. One goroutine of each member is the program's own, which asks for records (sarama
// and librdkafka have further ones that call the program).
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// settings are the same for all clients.
type settings struct {
	Broker  string
	Topic   string
	Members int
	Rest    time.Duration
	Client  string // to measure in this process; "" in the first one
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "idle:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var s settings
	flag.StringVar(&s.Broker, "broker", "", "host:port of the broker, on which a topic is created; required")
	flag.IntVar(&s.Members, "members", 200, "members of each client")
	flag.DurationVar(&s.Rest, "rest", 10*time.Second, "how long members rest before they are measured")
	only := flag.String("only", "", "only the clients whose name has this in it")
	child := flag.String("child", "", "used by idle itself: what to measure in this process, as JSON")
	flag.Parse()
	if *child != "" {
		if err := json.Unmarshal([]byte(*child), &s); err != nil {
			return fmt.Errorf("-child: %w", err)
		}
		return measureHere(ctx, s)
	}
	if s.Broker == "" || s.Members < 1 {
		return fmt.Errorf("-broker must be host:port, -members above 0")
	}
	s.Topic = fmt.Sprintf("idle-%d", time.Now().UnixNano())
	if err := createTopic(ctx, s); err != nil {
		return err
	}
	fmt.Printf("%s, %d cores, %s/%s, %d groups of one member after %v of rest\n\n", runtime.Version(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, s.Members, s.Rest)
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "each member\tgoroutines\tresident KiB\tlive heap KiB\tstacks KiB\tTCP connections")
	for _, v := range variants() {
		if !strings.Contains(v.name, *only) {
			continue
		}
		s.Client = v.name
		c, err := measureApart(ctx, s)
		if err != nil {
			return err
		}
		n := float64(s.Members)
		fmt.Fprintf(out, "%s\t%.1f\t%.0f\t%.0f\t%.0f\t%.2f\n", v.name,
			float64(c.Goroutines)/n, c.ResidentKiB/n, c.HeapKiB/n, c.StacksKiB/n, float64(c.Connections)/n)
	}
	return out.Flush()
}

// measureApart measures a client in a process of its own.
func measureApart(ctx context.Context, s settings) (cost, error) {
	self, err := os.Executable()
	if err != nil {
		return cost{}, err
	}
	encoded, err := json.Marshal(s)
	if err != nil {
		return cost{}, err
	}
	cmd := exec.CommandContext(ctx, self, "-child", string(encoded))
	cmd.Env = append(os.Environ(), "GOGC=100", "GOMEMLIMIT=off")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return cost{}, fmt.Errorf("measure %s: %w", s.Client, err)
	}
	var c cost
	if err := json.Unmarshal(out, &c); err != nil {
		return cost{}, fmt.Errorf("measure %s: printed %q: %w", s.Client, out, err)
	}
	return c, nil
}
