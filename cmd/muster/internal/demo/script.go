package demo

import "time"

// act is what a member does in a step.
type act string

const (
	join  act = "joins"
	leave act = "leaves"
	crash act = "crashes"
)

// step is one thing that happens to the group, after a pause.
type step struct {
	After  time.Duration
	Member string
	Act    act
}

// story is what the demo tells: growing, shrinking, a crash, and a
// replacement. Somebody is always there to read.
func story() []step {
	return []step{
		{0, "member-1", join},
		{2 * time.Second, "member-2", join},
		{2 * time.Second, "member-3", join},
		{2 * time.Second, "member-2", leave},
		{2 * time.Second, "member-4", join},
		{2 * time.Second, "member-3", crash},
		{2 * time.Second, "member-5", join},
	}
}

// length is how long the script takes.
func length(steps []step) time.Duration {
	var sum time.Duration
	for _, s := range steps {
		sum += s.After
	}
	return sum
}
