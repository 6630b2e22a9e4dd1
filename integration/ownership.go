package integration

import (
	"slices"
	"sync"
	"time"
)

// An EventKind is what a client can report to a Recorder.
type EventKind int

const (
	Assigned EventKind = iota + 1 // the member owns the partition from now on
	Revoked                       // the member has let go of the partition
	Gone                          // the member was killed or cut off, and can say no more
	Read                          // the member gave the record at Offset to the application
)

// An Event is what one member did at one moment.
type Event struct {
	At         time.Duration // since the Recorder was made
	Kind       EventKind
	Member     string
	Partition  Partition // not of Gone
	Generation int32     // of Assigned; -1 if unknown
	Offset     int64     // of Read
}

// A Recorder collects what all clients of a test do, on one clock and in one
// order. A client must report Assigned before it reads, and Revoked after its
// last read and before it tells the broker. Its methods may be called from
// any goroutine.
type Recorder struct {
	begin time.Time

	mu     sync.Mutex
	events []Event
}

// NewRecorder returns a Recorder whose clock starts now.
func NewRecorder() *Recorder {
	return &Recorder{begin: time.Now()}
}

// Assigned records that a member was given partitions in a generation of the
// group, -1 if the client does not tell it.
func (r *Recorder) Assigned(member string, generation int32, partitions ...Partition) {
	for _, p := range partitions {
		r.add(Event{Kind: Assigned, Member: member, Partition: p, Generation: generation})
	}
}

// Revoked records that a member has let go of partitions, asked to or not.
func (r *Recorder) Revoked(member string, partitions ...Partition) {
	for _, p := range partitions {
		r.add(Event{Kind: Revoked, Member: member, Partition: p})
	}
}

// Gone records that the test has killed a member or cut it off. What it owned
// may be assigned to others from now on, and it must read nothing more.
func (r *Recorder) Gone(member string) {
	r.add(Event{Kind: Gone, Member: member})
}

// Read records that a member gave a record to the application.
func (r *Recorder) Read(member string, partition Partition, offset int64) {
	r.add(Event{Kind: Read, Member: member, Partition: partition, Offset: offset})
}

// Events returns all events so far, in the order in which they happened.
func (r *Recorder) Events() []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Event(nil), r.events...)
}

// insert adds an event that is told late where it belongs.
func (r *Recorder) insert(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := len(r.events)
	for i > 0 && r.events[i-1].At > e.At {
		i--
	}
	r.events = slices.Insert(r.events, i, e)
}

func (r *Recorder) add(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.At = time.Since(r.begin) // under the lock, so that order and clock agree
	r.events = append(r.events, e)
}
