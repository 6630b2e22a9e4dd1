// Command cmd simulates many consumer groups and says what went wrong.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/musterkafka/muster/internal/sim"
)

const (
	chunk      = 20_000 // seeds between two reports of progress
	manySeeds  = 1_000_000
	visitsThen = 100 // if there are that many seeds
)

func main() {
	seeds := flag.Uint64("seeds", 20000, "how many seeds to simulate")
	first := flag.Uint64("first", 0, "the first of them")
	seed := flag.Int64("seed", -1, "simulate this one only")
	verbose := flag.Bool("v", false, "with -seed: print the history")
	script := flag.String("script", "", "with -seed: write what each member was told and did to this file, as a script of groupmember/testdata/classic")
	visits := flag.Int("visits", -1, fmt.Sprintf("fail if an event met members in a state less often than this; -1 is %d for %d seeds and more, else 0", visitsThen, manySeeds))
	flag.Parse()
	debug.SetGCPercent(400) // little is alive at a time
	if *seed >= 0 {
		os.Exit(replay(uint64(*seed), *verbose, *script))
	}
	if *visits < 0 {
		*visits = 0
		if *seeds >= manySeeds {
			*visits = visitsThen
		}
	}
	os.Exit(simulate(*first, *seeds, *visits))
}

// replay runs one seed again.
func replay(seed uint64, verbose bool, script string) int {
	var trace func(string)
	if verbose {
		trace = func(line string) { fmt.Fprintln(os.Stdout, line) }
	}
	result := sim.Run(seed, trace)
	if script != "" {
		if err := writeScript(seed, script); err != nil {
			fmt.Fprintln(os.Stderr, "sim:", err)
			return 1
		}
	}
	sum := sim.Summary{Seeds: 1}
	if result.Violation != "" {
		sum.Failed = append(sum.Failed, result)
	}
	show(os.Stdout, sum.Failed)
	return report(sum, nil)
}

func writeScript(seed uint64, path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := sim.WriteScript(file, seed); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// simulate runs many seeds and says on standard error how far it is.
func simulate(first, seeds uint64, visits int) int {
	began := time.Now()
	sum := sim.Summary{}
	for sum.Seeds < seeds {
		part := sim.RunAll(first+sum.Seeds, min(chunk, seeds-sum.Seeds), runtime.GOMAXPROCS(0))
		show(os.Stdout, part.Failed)
		sum.Add(&part)
		if seeds > chunk {
			fmt.Fprintf(os.Stderr, "%d of %d seeds, %d violations, %v\n", sum.Seeds, seeds, len(sum.Failed), time.Since(began).Round(time.Second))
		}
	}
	if err := sum.Visits.Write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sim:", err)
	}
	return report(sum, sum.Visits.Rare(visits))
}

// show prints what went wrong, and how to see it again.
func show(to io.Writer, failed []sim.Result) {
	const shown = 20
	for i, r := range failed {
		if i == shown {
			fmt.Fprintf(to, "... and %d more\n", len(failed)-shown)
			break
		}
		fmt.Fprintf(to, "seed %d: %s\n  again: go run ./internal/sim/cmd -seed %d -v, or -script FILE\n", r.Seed, r.Violation, r.Seed)
	}
}

// report prints the rest. Its last line counts.
func report(s sim.Summary, rare []string) int {
	for _, pair := range rare {
		fmt.Fprintln(os.Stdout, "too rare:", pair)
	}
	fmt.Fprintf(os.Stdout, "sim: %d seeds, %d violations\n", s.Seeds, len(s.Failed))
	if len(s.Failed) > 0 || len(rare) > 0 {
		return 1
	}
	return 0
}
