package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// peakPromise is the peak memory of muster at most, as a part of franz-go's.
const peakPromise = 0.5

// report prints a case and returns whether muster keeps what is promised.
func report(out io.Writer, c benchCase, results []result) (kept bool, err error) {
	s := c.shape
	fmt.Fprintf(out, "%s: %d members, %d topics of %d partitions\n", c.name, s.members, s.topics, s.partitions)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "client\truns\tdecode ms\tassign\tencode\ttotal\tCPU ms\tpeak MiB\tallocs\tloads\tsquares\tmismatches\tmoves")
	for _, r := range results {
		if len(r.runs) == 0 {
			fmt.Fprintf(table, "%s\t0\tover the limit\n", r.client)
			continue
		}
		q := r.best()
		fmt.Fprintf(table, "%s\t%d\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.0f\t%d..%d\t%d\t%d\t%d\n", r.client, len(r.runs),
			r.median(func(f figures) float64 { return f.Stages.Decode }), r.median(func(f figures) float64 { return f.Stages.Assign }),
			r.median(func(f figures) float64 { return f.Stages.Encode }), r.median(milliseconds),
			r.median(cpu), r.median(peak), r.median(func(f figures) float64 { return float64(f.Allocs) }),
			q.Least, q.Most, q.Squares, q.Mismatches, q.Moves)
	}
	if err := table.Flush(); err != nil {
		return false, err
	}
	v := verdict(c, results)
	_, err = fmt.Fprintf(out, "%s\n\n", v)
	return len(v.missed) == 0, err
}

// A judgement says how muster stands to the best of the others.
type judgement struct {
	rival           string  // the fastest other client
	time, cpu, peak float64 // muster's as a part of the rival's; peak is to franz-go's
	missed          []string
}

func (j judgement) String() string {
	if j.rival == "" {
		return "  not compared: " + strings.Join(j.missed, ", ")
	}
	said := fmt.Sprintf("  muster to %s: time %.2f, CPU %.2f; peak memory to franz-go's %.2f", j.rival, j.time, j.cpu, j.peak)
	if len(j.missed) > 0 {
		return said + "; MISSED: " + strings.Join(j.missed, ", ")
	}
	return said + "; kept"
}

// verdict compares muster, which comes first in results, with the others.
func verdict(c benchCase, results []result) judgement {
	muster, others := results[0], slices.DeleteFunc(slices.Clone(results[1:]), func(r result) bool { return len(r.runs) == 0 })
	if len(muster.runs) == 0 || len(others) == 0 {
		return judgement{missed: []string{"not enough clients came within the limit"}}
	}
	fastest := slices.MinFunc(others, func(a, b result) int { return cmp.Compare(a.median(milliseconds), b.median(milliseconds)) })
	j := judgement{
		rival: fastest.client,
		time:  muster.median(milliseconds) / fastest.median(milliseconds),
		cpu:   muster.median(cpu) / fastest.median(cpu),
	}
	if j.time > c.promise {
		j.missed = append(j.missed, fmt.Sprintf("time %.2f is above %.2f", j.time, c.promise))
	}
	for _, r := range others {
		if r.client == "franz-go" {
			j.peak = muster.median(peak) / r.median(peak)
			if j.peak >= peakPromise {
				j.missed = append(j.missed, fmt.Sprintf("peak memory %.2f is not under %.2f", j.peak, peakPromise))
			}
		}
		if sticky := strings.HasSuffix(c.assignor, "sticky"); sticky && muster.worst().compare(r.best()) > 0 {
			j.missed = append(j.missed, "the plan of "+r.client+" is better")
		}
	}
	return j
}
