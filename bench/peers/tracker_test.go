package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestAwaitReturnsSinceWhenAllHaveTheirShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTracker()
		one, two := tr.events(1), tr.events(2)
		start := time.Now()
		go func() {
			one.Assigned([]int32{0, 1})
			two.Assigned([]int32{1}) // twice
			one.Record(0)
			time.Sleep(time.Second)
			one.Revoked([]int32{1}) // true for half a second only
			time.Sleep(time.Second / 2)
			two.Cleared()
			time.Sleep(time.Second)
			two.Assigned([]int32{1})
		}()
		at, err := tr.await(t.Context(), map[int]int{1: 1, 2: 1}, time.Second)
		if err != nil || at.Sub(start) != 5*time.Second/2 {
			t.Fatalf("since %v, %v", at.Sub(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := tr.await(ctx, map[int]int{1: 2}, 0); err == nil {
			t.Fatal("nobody has two partitions")
		}
	})
}

func TestPausesAreOfWhatStayedAndOfTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTracker()
		e := tr.events(1)
		e.Assigned([]int32{0, 1})
		e.Record(0)
		e.Record(1)
		before, end := tr.partitions(1), tr.measurePauses()
		time.Sleep(10 * time.Millisecond)
		e.Record(0)
		time.Sleep(20 * time.Millisecond)
		e.Record(0)
		e.Revoked([]int32{1})
		tr.events(2).Record(1)
		if kept, moved := end(before, tr.partitions(1)); kept != 20*time.Millisecond || moved != 30*time.Millisecond {
			t.Fatalf("kept %v, moved %v", kept, moved)
		}
	})
}
