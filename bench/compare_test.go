package main

import (
	"testing"
)

func TestMediansAreOfEachFigure(t *testing.T) {
	m := medians([]figures{
		{RecordsPerSecond: 3, MicrosPerRecord: 10},
		{RecordsPerSecond: 1, MicrosPerRecord: 30},
		{RecordsPerSecond: 2, MicrosPerRecord: 20},
	})
	if m.RecordsPerSecond != 2 || m.MicrosPerRecord != 20 {
		t.Fatalf("medians are %+v", m)
	}
	if got := median([]figures{{PeakMiB: 1}, {PeakMiB: 4}}, func(f figures) float64 { return f.PeakMiB }); got != 2.5 {
		t.Fatalf("median of two is %v", got)
	}
}

func TestSameSumFindsAClientThatReadOtherValues(t *testing.T) {
	results := [][]figures{{{Records: 5, Sum: 7}}, {{Records: 5, Sum: 7}, {Records: 6, Sum: 9}}, {{Records: 5, Sum: 8}}}
	if err := sameSum(workload{name: "w"}, results); err == nil {
		t.Fatal("a different sum went unnoticed")
	}
	if err := sameSum(workload{name: "w"}, results[:2]); err != nil {
		t.Fatal(err)
	}
}
