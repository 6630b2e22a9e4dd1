package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/musterkafka/muster/assign"
)

// figures are one measurement.
type figures struct {
	Stages  stages
	CPU     float64 // milliseconds, user and system, with the garbage collector's
	PeakMiB float64 // resident
	Allocs  uint64
	Quality quality
}

var errLimit = errors.New("over the limit")

// measureApart measures in a process of its own.
func measureApart(ctx context.Context, client string, c benchCase, limit time.Duration) (figures, error) {
	self, err := os.Executable()
	if err != nil {
		return figures{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "-child", client+","+c.name)
	cmd.Env = append(os.Environ(), "GOGC=100", "GOMEMLIMIT=off")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err != nil {
		return figures{}, fmt.Errorf("measure %s on %s: %w", client, c.name, err)
	}
	var f figures
	if err := json.Unmarshal(out, &f); err != nil {
		return figures{}, fmt.Errorf("measure %s on %s: printed %q: %w", client, c.name, out, err)
	}
	return f, nil
}

// measureHere is the child's part: it measures what spec names and prints the figures
// as JSON.
func measureHere(spec string) error {
	name, caseName, _ := strings.Cut(spec, ",")
	list := cases()
	which := slices.IndexFunc(clients, func(c client) bool { return c.name == name })
	what := slices.IndexFunc(list, func(b benchCase) bool { return b.name == caseName })
	if which < 0 || what < 0 {
		return fmt.Errorf("-child is %q, not CLIENT,CASE", spec)
	}
	f, err := measure(clients[which], list[what])
	if err != nil {
		return fmt.Errorf("%s on %s: %w", name, caseName, err)
	}
	return json.NewEncoder(os.Stdout).Encode(f)
}

func measure(cl client, c benchCase) (figures, error) {
	work, err := cl.prepare(c.assignor, c.shape.group())
	if err != nil {
		return figures{}, err
	}
	f, assignments, err := timed(work)
	if err != nil {
		return figures{}, err
	}
	g := c.shape.group() // again, so that it did not take memory until now
	plan, q, unassigned, err := judge(g, assignments)
	if err != nil {
		return figures{}, err
	}
	if a := assignorOf(c.assignor); a.Cooperative() {
		q, unassigned, err = secondRound(cl, c.assignor, g, plan)
		if err != nil {
			return figures{}, fmt.Errorf("second round: %w", err)
		}
	}
	if unassigned > 0 {
		return figures{}, fmt.Errorf("%d partitions are left to nobody", unassigned)
	}
	f.Quality = q
	return f, nil
}

// timed does the work once, from a small heap on.
func timed(work lead) (figures, map[string][]byte, error) {
	debug.FreeOSMemory()
	if err := forgetPeak(); err != nil {
		return figures{}, nil, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began, err := cpuTime()
	if err != nil {
		return figures{}, nil, err
	}
	var w stopwatch
	w.start()
	assignments, err := work(&w)
	if err != nil {
		return figures{}, nil, err
	}
	ended, err := cpuTime()
	if err != nil {
		return figures{}, nil, err
	}
	runtime.ReadMemStats(&after)
	peak, err := peakMiB()
	return figures{Stages: w.stages, CPU: (ended - began).Seconds() * 1000, PeakMiB: peak, Allocs: after.Mallocs - before.Mallocs}, assignments, err
}

// secondRound lets members join again with what the first round of a cooperative assignor left
// them, and rates who has what in the end by who had it in the beginning.
func secondRound(cl client, assignor string, g assign.Group, first assign.Plan) (quality, int, error) {
	again := assign.Group{Members: slices.Clone(g.Members), Topics: g.Topics}
	for i, m := range again.Members {
		again.Members[i].Owned, again.Members[i].Generation = first[m.ID], generation+1
	}
	work, err := cl.prepare(assignor, again)
	if err != nil {
		return quality{}, 0, err
	}
	assignments, err := work(new(stopwatch))
	if err != nil {
		return quality{}, 0, err
	}
	_, q, unassigned, err := judge(g, assignments)
	return q, unassigned, err
}

func cpuTime() (time.Duration, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0, fmt.Errorf("read the CPU time: %w", err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), nil
}

// forgetPeak makes the peak memory of this process what it has now.
func forgetPeak() error {
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		return fmt.Errorf("reset the peak memory, which only Linux can: %w", err)
	}
	return nil
}

// peakMiB reads the peak resident memory of this process.
func peakMiB() (float64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("read the peak memory, which only Linux tells: %w", err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kib float64
	if _, err := fmt.Sscan(after, &kib); err != nil {
		return 0, fmt.Errorf("read the peak memory: %w", err)
	}
	return kib / 1024, nil
}
