package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
)

// compare measures every client on every workload, the clients in turn, and
// prints medians and ratios.
func compare(ctx context.Context, brokers []string, runs int, scale float64, only string) error {
	fmt.Printf("%s, %d cores, %s/%s, median of %d alternating runs\n\n", runtime.Version(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runs)
	for _, w := range workloads(scale) {
		if !strings.Contains(w.name, only) {
			continue
		}
		if err := fill(ctx, brokers, w); err != nil {
			return err
		}
		results := make([][]figures, len(readers))
		for range runs {
			for i, r := range readers {
				f, err := measureApart(ctx, brokers, r.name, w)
				if err != nil {
					return err
				}
				results[i] = append(results[i], f)
			}
		}
		if err := sameSum(w, results); err != nil {
			return err
		}
		if err := report(w, results); err != nil {
			return err
		}
	}
	return nil
}

// sameSum checks that all clients read the same values: whoever read exactly
// as many records as another must have the same sum.
func sameSum(w workload, results [][]figures) error {
	sums := map[int]uint64{}
	for i, list := range results {
		for _, f := range list {
			sum, ok := sums[f.Records]
			if ok && sum != f.Sum {
				return fmt.Errorf("%s: %s read other values than the rest", w.name, readers[i].name)
			}
			sums[f.Records] = f.Sum
		}
	}
	return nil
}

func report(w workload, results [][]figures) error {
	fmt.Printf("%s: %d records of %d B, %d partitions, codec %s\n", w.name, w.records, w.size, w.partitions, w.codec)
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "client\trecords/s\tCPU us/record\tallocs/record\tpeak MiB\trecords/s ratio\tCPU ratio\tpeak ratio")
	base := medians(results[0])
	for i, list := range results {
		m := medians(list)
		fmt.Fprintf(out, "%s\t%.0f\t%.3f\t%.4f\t%.0f\t%.2f\t%.2f\t%.2f\n", readers[i].name,
			m.RecordsPerSecond, m.MicrosPerRecord, m.AllocsPerRecord, m.PeakMiB,
			m.RecordsPerSecond/base.RecordsPerSecond, m.MicrosPerRecord/base.MicrosPerRecord, m.PeakMiB/base.PeakMiB)
	}
	fmt.Fprintln(out)
	return out.Flush()
}

// medians is the median of each figure on its own.
func medians(list []figures) figures {
	return figures{
		RecordsPerSecond: median(list, func(f figures) float64 { return f.RecordsPerSecond }),
		MicrosPerRecord:  median(list, func(f figures) float64 { return f.MicrosPerRecord }),
		AllocsPerRecord:  median(list, func(f figures) float64 { return f.AllocsPerRecord }),
		PeakMiB:          median(list, func(f figures) float64 { return f.PeakMiB }),
	}
}

func median(list []figures, of func(figures) float64) float64 {
	values := make([]float64, len(list))
	for i, f := range list {
		values[i] = of(f)
	}
	slices.Sort(values)
	mid := len(values) / 2
	if len(values)%2 == 1 {
		return values[mid]
	}
	return (values[mid-1] + values[mid]) / 2
}
