// Command peers compares how groups of several Kafka clients rebalance, on one real broker, in one run:
// muster, franz-go, sarama, kafka-go, confluent-kafka-go (librdkafka) and Kafka's own Java client.
//
// What is measured (all heartbeats every 3 s, all sessions 45 s):
//
//   - first: from starting the only member of a new group of 12 partitions to its first record;
//   - join: from starting a second member until both have had 6 partitions for a second;
//   - kept, moved: meanwhile, the longest pause between two records of a partition that stayed with
//     the first member, and of one that moved;
//   - leave: from closing the second member until the first has had all 12 for half a second;
//   - close: how long that closing took;
//   - crowd: from starting 20 members at once until each has had 5 of 100 partitions for 1.5 s;
//   - disperse: closing these 20 at once.
//
// The first member learns of a change by its next heartbeat, so what matters most is when between two
// heartbeats the change falls. Run i of n makes its changes i/n of an interval after one of them.
//
// Every figure is written to a file as soon as it is known. A run that was cut short goes on where it
// was; -report prints the table of a file alone.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var s settings
	broker := flag.String("broker", "", "host:port of the broker, which is filled with test data; required unless -report")
	flag.IntVar(&s.runs, "runs", 20, "runs of each client and protocol")
	flag.IntVar(&s.atOnce, "at-once", 5, "groups of one client that are measured at the same time")
	only := flag.String("only", "", "only these clients, separated by commas")
	cases := flag.String("cases", "pair,crowd", "which of pair (two members) and crowd (twenty) to measure")
	flag.StringVar(&s.file, "file", "peers.jsonl", "the file of figures; those that it has are not measured again")
	report := flag.Bool("report", false, "only print the table of the file")
	child := flag.String("child", "", "used by peers itself: a task as JSON to do in this process")
	flag.Parse()
	s.broker = *broker
	if *child != "" {
		return work(ctx, *child)
	}
	if *report {
		return printReport(os.Stdout, s.file)
	}
	if s.broker == "" || s.runs < 1 || s.atOnce < 1 {
		return fmt.Errorf("-broker must be host:port, -runs and -at-once above 0")
	}
	if *only != "" {
		s.only = strings.Split(*only, ",")
	}
	s.cases = strings.Split(*cases, ",")
	if err := measureAll(ctx, s); err != nil {
		return err
	}
	return printReport(os.Stdout, s.file)
}
