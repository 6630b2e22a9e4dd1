package demo

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// status is what has become of a member.
type status string

const (
	joining status = "joining"
	member  status = "member"
	left    status = "left"
	crashed status = "crashed"
)

// row is one member as the table shows it.
type row struct {
	Name       string
	Status     status
	Generation int32
	Owned      []int32
	Records    int
}

// board is what is known of the group, gathered from the members' own events.
// It may be used from many goroutines.
type board struct {
	started time.Time
	mu      sync.Mutex
	rows    []row
	news    []string // what happened, oldest first
}

func (b *board) update(name string, change func(*row)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.rows, func(r row) bool { return r.Name == name })
	if i < 0 {
		b.rows = append(b.rows, row{Name: name, Status: joining})
		i = len(b.rows) - 1
	}
	change(&b.rows[i])
}

func (b *board) tell(format string, args ...any) {
	line := fmt.Sprintf("%6.1fs  ", time.Since(b.started).Seconds()) + fmt.Sprintf(format, args...)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.news = append(b.news, line)
}

// look returns a copy of the rows, and of the news from the given index on.
func (b *board) look(from int) (rows []row, news []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.rows), slices.Clone(b.news[min(from, len(b.news)):])
}
