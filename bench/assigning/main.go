// Command assigning compares muster's assignors with those of other clients on
// the same groups, in turn, in one run. It needs no broker. It prints
// every client's medians and how muster stands to the best of the others; an absolute
// figure says more about the machine than about a client.
//
// What is measured is what the leader of a group does between the answer to its JoinGroup
// and its SyncGroup: decode the subscriptions of all members, assign, check the plan (only
// muster does), and encode every member's assignment. All clients are given the same bytes.
// Not measured are metadata requests and what clients write to their logs.
//
// Each measurement is a process of its own, so that its peak memory is its own, and
// all of them have the same garbage collector settings. What comes out is decoded again,
// checked, and judged by this program, for all clients alike.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "assigning:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	runs := flag.Int("runs", 5, "runs of each client and group; the median counts")
	only := flag.String("case", "", "only the cases whose name has this in it")
	limit := flag.Duration("limit", 3*time.Minute, "how long one measurement may take")
	slow := flag.Bool("slow", false, "also measure what takes minutes and gigabytes: sarama's sticky assignors on large groups")
	child := flag.String("child", "", "used by assigning itself: CLIENT,CASE to measure in this process")
	flag.Parse()
	if *child != "" {
		return measureHere(*child)
	}
	if *runs < 1 || *limit <= 0 {
		return fmt.Errorf("-runs is %d and -limit %v: both must be above 0", *runs, *limit)
	}
	fmt.Printf("%s, %d cores, %s/%s, medians of up to %d alternating runs\n\n", runtime.Version(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, *runs)
	missed := 0
	for _, c := range cases() {
		if !strings.Contains(c.name, *only) {
			continue
		}
		results, err := compare(ctx, c, *runs, *limit, *slow)
		if err != nil {
			return err
		}
		kept, err := report(os.Stdout, c, results)
		if err != nil {
			return err
		}
		if !kept {
			missed++
		}
	}
	fmt.Printf("cases that miss what is promised: %d\n", missed)
	return nil
}
