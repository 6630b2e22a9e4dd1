// Command cmd simulates many consumer groups and says what went wrong.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"

	"github.com/musterkafka/muster/internal/sim"
)

func main() {
	seeds := flag.Uint64("seeds", 20000, "how many seeds to simulate")
	first := flag.Uint64("first", 0, "the first of them")
	seed := flag.Int64("seed", -1, "simulate this one only")
	verbose := flag.Bool("v", false, "with -seed: print the history")
	visits := flag.Int("visits", 0, "fail if an event met members in a state less often than this")
	flag.Parse()
	if *seed >= 0 {
		os.Exit(replay(uint64(*seed), *verbose))
	}
	os.Exit(simulate(*first, *seeds, *visits))
}

// replay runs one seed again.
func replay(seed uint64, verbose bool) int {
	var trace func(string)
	if verbose {
		trace = func(line string) { fmt.Fprintln(os.Stdout, line) }
	}
	return report(sim.Summary{Seeds: 1, Failed: failed(sim.Run(seed, trace))}, nil)
}

func failed(r sim.Result) []sim.Result {
	if r.Violation == "" {
		return nil
	}
	return []sim.Result{r}
}

func simulate(first, seeds uint64, visits int) int {
	s := sim.RunAll(first, seeds, runtime.GOMAXPROCS(0))
	return report(s, s.Visits.Rare(visits))
}

// report prints what went wrong, and how to see it again. Its last line counts.
func report(s sim.Summary, rare []string) int {
	const shown = 20
	for i, r := range s.Failed {
		if i == shown {
			fmt.Fprintf(os.Stdout, "... and %d more\n", len(s.Failed)-shown)
			break
		}
		fmt.Fprintf(os.Stdout, "seed %d: %s\n  again: go run ./internal/sim/cmd -seed %d -v\n", r.Seed, r.Violation, r.Seed)
	}
	for _, pair := range rare {
		fmt.Fprintln(os.Stdout, "too rare:", pair)
	}
	fmt.Fprintf(os.Stdout, "sim: %d seeds, %d violations\n", s.Seeds, len(s.Failed))
	if len(s.Failed) > 0 || len(rare) > 0 {
		return 1
	}
	return 0
}
