// Command bench compares muster with other clients on one real broker, in turn,
// in one run. It prints every client's medians and the ratios between them; an
// absolute figure says more about the machine than about a client.
//
// Each measurement is a process of its own, so that its CPU time and peak
// memory are its own. All of them have the same garbage collector settings,
// check every CRC and touch every value.
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
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	brokers := flag.String("brokers", "", "host:port of the broker, or several separated by commas; required")
	runs := flag.Int("runs", 5, "runs of each client and case; the median counts")
	scale := flag.Float64("scale", 1, "of the number of records; below 1 for a quick look")
	only := flag.String("case", "", "only the cases whose name has this in it")
	child := flag.String("child", "", "used by bench itself: CLIENT,TOPIC,RECORDS to measure in this process")
	flag.Parse()
	switch {
	case *brokers == "":
		return fmt.Errorf("-brokers is required: host:port of a Kafka broker that may be filled with test data")
	case *runs < 1 || *scale <= 0:
		return fmt.Errorf("-runs is %d and -scale %v: both must be above 0", *runs, *scale)
	}
	addrs := strings.Split(*brokers, ",")
	if *child != "" {
		return measureHere(ctx, addrs, *child)
	}
	return compare(ctx, addrs, *runs, *scale, *only)
}
