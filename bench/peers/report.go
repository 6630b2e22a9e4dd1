package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"

	"github.com/musterkafka/muster/bench/member"
)

// columns are the figures of the table.
var columns = []string{"first", "join", "kept", "moved", "leave", "close", "crowd", "disperse"}

// printReport prints medians and spreads of the file's figures, and how muster's medians stand to the best of the others.
func printReport(w io.Writer, file string) error {
	figures, err := readFigures(file)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "milliseconds: median (least-most) of each client's runs; %s, %d cores, %s/%s\n", runtime.Version(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	for _, protocol := range []member.Protocol{member.Cooperative, member.Eager} {
		out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintf(out, "\n%s\truns", protocol)
		for _, c := range columns {
			fmt.Fprintf(out, "\t%s", c)
		}
		fmt.Fprintln(out)
		for _, client := range names(figures, protocol) {
			fmt.Fprintf(out, "%s\t%s", client, count(figures, client, protocol))
			for _, c := range columns {
				fmt.Fprintf(out, "\t%s", spread(values(figures, client, protocol, c)))
			}
			fmt.Fprintln(out)
		}
		fmt.Fprint(out, "muster to the best other\t")
		for _, c := range columns {
			fmt.Fprintf(out, "\t%s", ratio(figures, protocol, c))
		}
		fmt.Fprintln(out)
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// names are the clients of which there are figures, in the order in which they came.
func names(figures []figure, protocol member.Protocol) []string {
	var list []string
	for _, f := range figures {
		if f.Protocol == protocol && !slices.Contains(list, f.Client) {
			list = append(list, f.Client)
		}
	}
	return list
}

func values(figures []figure, client string, protocol member.Protocol, name string) []float64 {
	var list []float64
	for _, f := range figures {
		if f.Client == client && f.Protocol == protocol && f.Name == name && f.Error == "" {
			list = append(list, f.Millis)
		}
	}
	slices.Sort(list)
	return list
}

// count says how many runs there were, and how many have failed.
func count(figures []figure, client string, protocol member.Protocol) string {
	runs, failed := 0, 0
	for _, f := range figures {
		if f.Client != client || f.Protocol != protocol {
			continue
		}
		runs = max(runs, f.Run+1)
		if f.Error != "" {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Sprintf("%d, %d failed", runs, failed)
	}
	return fmt.Sprint(runs)
}

func spread(sorted []float64) string {
	if len(sorted) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f (%.0f-%.0f)", median(sorted), sorted[0], sorted[len(sorted)-1])
}

func median(sorted []float64) float64 {
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return (sorted[mid-1] + sorted[mid]) / 2
}

// ratio is muster's median to the best median of the others.
func ratio(figures []figure, protocol member.Protocol, name string) string {
	ours := values(figures, "muster", protocol, name)
	best := 0.0
	for _, client := range names(figures, protocol) {
		if theirs := values(figures, client, protocol, name); client != "muster" && len(theirs) > 0 {
			if m := median(theirs); best == 0 || m < best {
				best = m
			}
		}
	}
	if len(ours) == 0 || best == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", median(ours)/best)
}
