package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// patience is how long one measurement may take before it counts as hung.
const patience = 3 * time.Minute

// figures are one measurement.
type figures struct {
	RecordsPerSecond float64
	MicrosPerRecord  float64 // CPU, user and system
	AllocsPerRecord  float64
	PeakMiB          float64 // resident
	Records          int
	Sum              uint64 // must be equal for all clients
}

func (t *tally) start() {
	if t.records == 0 {
		t.first = time.Now()
	}
}

func (t *tally) stop() { t.last = time.Now() }

// measureHere is the child's part: it measures what spec names and prints the
// figures as JSON.
func measureHere(ctx context.Context, brokers []string, spec string) error {
	parts := strings.Split(spec, ",")
	if len(parts) != 3 {
		return fmt.Errorf("-child is %q, not CLIENT,TOPIC,RECORDS", spec)
	}
	n, err := strconv.Atoi(parts[2])
	if err != nil {
		return fmt.Errorf("-child: %w", err)
	}
	for _, r := range readers {
		if r.name != parts[0] {
			continue
		}
		f, err := measure(ctx, brokers, r.read, r.name, parts[1], n)
		if err != nil {
			return fmt.Errorf("%s on %s: %w", r.name, parts[1], err)
		}
		return json.NewEncoder(os.Stdout).Encode(f)
	}
	return fmt.Errorf("-child: no client %q", parts[0])
}

func measure(ctx context.Context, brokers []string, read reader, name, topic string, n int) (figures, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	group := fmt.Sprintf("muster-bench-%s-%d", name, time.Now().UnixNano())
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began, err := usage()
	if err != nil {
		return figures{}, err
	}
	var t tally
	if err := read(ctx, brokers, topic, group, n, &t); err != nil {
		return figures{}, err
	}
	used, err := usage()
	if err != nil {
		return figures{}, err
	}
	runtime.ReadMemStats(&after)
	per := 1 / float64(t.records)
	return figures{
		RecordsPerSecond: float64(t.records) / t.last.Sub(t.first).Seconds(),
		MicrosPerRecord:  float64((used.cpu - began.cpu).Nanoseconds()) / 1000 * per,
		AllocsPerRecord:  float64(after.Mallocs-before.Mallocs) * per,
		PeakMiB:          used.peakMiB,
		Records:          t.records,
		Sum:              t.sum,
	}, nil
}

// resources are what this process has used so far.
type resources struct {
	cpu     time.Duration
	peakMiB float64
}

func usage() (resources, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return resources{}, fmt.Errorf("read the CPU time: %w", err)
	}
	peak, err := peakMiB()
	return resources{cpu: time.Duration(r.Utime.Nano() + r.Stime.Nano()), peakMiB: peak}, err
}

// peakMiB reads the peak resident memory of this process. Rusage has one too,
// but a child's begins with its parent's.
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

// measureApart measures in a process of its own.
func measureApart(ctx context.Context, brokers []string, client string, w workload) (figures, error) {
	self, err := os.Executable()
	if err != nil {
		return figures{}, err
	}
	cmd := exec.CommandContext(ctx, self, "-brokers", strings.Join(brokers, ","),
		"-child", fmt.Sprintf("%s,%s,%d", client, w.topic(), w.records))
	cmd.Env = append(os.Environ(), "GOGC=100", "GOMEMLIMIT=off")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return figures{}, fmt.Errorf("measure %s on %s: %w", client, w.name, err)
	}
	var f figures
	if err := json.Unmarshal(out, &f); err != nil {
		return figures{}, fmt.Errorf("measure %s on %s: printed %q: %w", client, w.name, out, err)
	}
	if f.Records < w.records {
		return figures{}, fmt.Errorf("measure %s on %s: read %d records of %d", client, w.name, f.Records, w.records)
	}
	return f, nil
}
