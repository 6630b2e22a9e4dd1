package main

import (
	"strings"
	"testing"
)

func run1(ms, peakMiB float64, q quality) figures {
	return figures{Stages: stages{Decode: ms / 2, Encode: ms / 2}, CPU: ms, PeakMiB: peakMiB, Quality: q}
}

func of(client string, runs ...figures) result { return result{client: client, runs: runs} }

func TestVerdictIsAgainstTheFastestOther(t *testing.T) {
	c := benchCase{assignor: "sticky", promise: 0.5}
	even := quality{Squares: 8}
	j := verdict(c, []result{
		of("muster", run1(9, 10, even), run1(4, 10, even), run1(3, 10, even)),
		of("franz-go", run1(20, 40, even)),
		of("sarama", run1(10, 12, even)),
	})
	if j.rival != "sarama" || j.time != 0.4 || j.peak != 0.25 || len(j.missed) != 0 {
		t.Fatalf("verdict is %+v", j)
	}
}

func TestVerdictNamesEveryMiss(t *testing.T) {
	c := benchCase{assignor: "sticky", promise: 0.5}
	for name, test := range map[string]struct {
		muster, franz figures
		want          string
	}{
		"slow":   {run1(6, 1, quality{}), run1(10, 10, quality{}), "time 0.60"},
		"large":  {run1(1, 5, quality{}), run1(10, 10, quality{}), "peak memory 0.50"},
		"uneven": {run1(1, 1, quality{Squares: 2}), run1(10, 10, quality{Squares: 1}), "the plan of franz-go is better"},
		"moving": {run1(1, 1, quality{Moves: 2}), run1(10, 10, quality{Moves: 1}), "the plan of franz-go is better"},
	} {
		j := verdict(c, []result{of("muster", test.muster), of("franz-go", test.franz)})
		if len(j.missed) != 1 || !strings.Contains(j.missed[0], test.want) {
			t.Errorf("%s: verdict is %+v", name, j)
		}
	}
}

func TestReportSaysWhoCameTooLate(t *testing.T) {
	var out strings.Builder
	c := benchCase{name: "big-sticky-fresh", assignor: "sticky", promise: 0.5}
	kept, err := report(&out, c, []result{of("muster", run1(1, 1, quality{})), of("franz-go", run1(10, 10, quality{})), {client: "sarama", over: true}})
	if err != nil || !kept {
		t.Fatalf("kept %v, error %v", kept, err)
	}
	for _, want := range []string{"sarama", "over the limit", "muster to franz-go: time 0.10", "kept"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in the report:\n%s", want, out.String())
		}
	}
	if kept, _ := report(&out, c, []result{{client: "muster", over: true}, of("franz-go", run1(1, 1, quality{}))}); kept {
		t.Error("muster did not come within the limit, which counts as kept")
	}
}

func TestMedianOfRuns(t *testing.T) {
	r := of("x", run1(5, 0, quality{}), run1(1, 0, quality{}), run1(2, 0, quality{}))
	if m := r.median(milliseconds); m != 2 {
		t.Fatalf("median is %v", m)
	}
	r.runs = r.runs[:2]
	if m := r.median(milliseconds); m != 3 {
		t.Fatalf("median of two is %v", m)
	}
}
