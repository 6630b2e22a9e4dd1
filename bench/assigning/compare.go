package main

import (
	"context"
	"errors"
	"slices"
	"time"
)

// enough is how much time one client gets for all its runs of a case. The run that
// uses it up is the last.
const enough = time.Minute

// A result is what one client did in a case.
type result struct {
	client string
	runs   []figures
	over   bool // a run took longer than it may; there are none after it
}

// compare measures every client that takes a case, the clients in turn.
func compare(ctx context.Context, c benchCase, runs int, limit time.Duration, slow bool) ([]result, error) {
	var results []result
	for _, cl := range clients {
		if cl.takes(c, slow) {
			results = append(results, result{client: cl.name})
		}
	}
	spent := make([]time.Duration, len(results))
	for range runs {
		for i := range results {
			r := &results[i]
			if r.over || spent[i] >= enough {
				continue
			}
			began := time.Now()
			f, err := measureApart(ctx, r.client, c, limit)
			spent[i] += time.Since(began)
			switch {
			case errors.Is(err, errLimit):
				r.over = true
			case err != nil:
				return nil, err
			default:
				r.runs = append(r.runs, f)
			}
		}
	}
	return results, nil
}

// median is the median of one figure; runs are not none.
func (r result) median(of func(figures) float64) float64 {
	values := make([]float64, len(r.runs))
	for i, f := range r.runs {
		values[i] = of(f)
	}
	slices.Sort(values)
	mid := len(values) / 2
	if len(values)%2 == 1 {
		return values[mid]
	}
	return (values[mid-1] + values[mid]) / 2
}

// best is the best quality of all runs: the plans of some clients differ from run to run.
func (r result) best() quality {
	return slices.MinFunc(r.runs, func(a, b figures) int { return a.Quality.compare(b.Quality) }).Quality
}

// worst is the worst quality of all runs.
func (r result) worst() quality {
	return slices.MaxFunc(r.runs, func(a, b figures) int { return a.Quality.compare(b.Quality) }).Quality
}

func milliseconds(f figures) float64 { return f.Stages.total() }

func cpu(f figures) float64 { return f.CPU }

func peak(f figures) float64 { return f.PeakMiB }
