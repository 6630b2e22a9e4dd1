package assign

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kbin"
)

// ReadSubscription reads what a member said when it joined, of any version from
// 0 up: of a newer one it takes the fields of version 3. The result shares no
// memory with src and has neither ID nor InstanceID. Topics and Owned come out in
// order, with duplicates merged and negative partitions dropped; Generation is -1
// if absent or negative; UserData is nil if empty. Bytes may end after the user data
// or any later field, which leaves the rest absent, and bytes behind the last field
// are ignored. Everything else is an error. Memory is bounded by the length of src.
func ReadSubscription(src []byte) (Member, error) {
	r := newReader()
	return r.subscription(src)
}

// ReadAssignment reads what the leader gave a member, of any version from 0 up.
// Zero bytes mean nothing was given. Order does not matter, duplicates are
// merged, user data is ignored. A negative partition is an error: only a broken
// leader sends one. Memory is bounded by the length of src, with which the result
// shares none.
func ReadAssignment(src []byte) (Partitions, error) {
	if len(src) == 0 {
		return Partitions{}, nil
	}
	r := newReader()
	p, err := r.assignment(src)
	if err != nil {
		return nil, err
	}
	for _, topic := range sortedKeys(p) {
		if lowest := slices.Min(p[topic]); lowest < 0 {
			return nil, fmt.Errorf("assignment names partition %d of topic %q; check the assignor of the group's leader", lowest, topic)
		}
	}
	return p.normalise(), nil
}

// Joined is a member in the answer to JoinGroup, as only the leader gets it.
type Joined struct {
	ID         string
	InstanceID string // empty for a dynamic member
	Metadata   []byte // its subscription, not read yet
}

// ReadMembers turns the answer to JoinGroup into the members of a Group,
// ascending by ID. One member's bad bytes never fail the others: a member whose
// subscription cannot be read subscribes to nothing, and one that is listed twice
// counts once. Each such thing is one error in problems, which names the member; members are
// always complete and usable. The result shares no memory with the metadata, but members
// with equal subscriptions share one list of topics.
func ReadMembers(joined []Joined) (members []Member, problems []error) {
	joined = slices.Clone(joined)
	slices.SortFunc(joined, compareJoined)
	r := newReader()
	members = make([]Member, 0, len(joined))
	for i, j := range joined {
		if i > 0 && j.ID == joined[i-1].ID {
			problems = append(problems, fmt.Errorf("member %q is listed twice in the answer to JoinGroup; the second entry is ignored", j.ID))
			continue
		}
		m, err := r.subscription(j.Metadata)
		if err != nil {
			problems = append(problems, fmt.Errorf("member %q gets no partitions: %w", j.ID, err))
			m = Member{Generation: -1}
		}
		m.ID, m.InstanceID = j.ID, j.InstanceID
		members = append(members, m)
	}
	return members, problems
}

// reader reads subscriptions and assignments one after the other.
type reader struct {
	kbin.Reader
	// names holds every topic name met so far: a group's members name the same
	// topics over and over.
	names map[string]string
	// lists holds the lists of topics read last, as bytes and as names: members of one
	// group mostly subscribe to the same.
	lists [4]topicList
	next  int // the oldest of lists
	block []int32
}

type topicList struct {
	bytes []byte // beginning with the number of topics
	names []string
}

func newReader() *reader { return &reader{names: make(map[string]string)} }

var errDamaged = errors.New("it ends early or holds an impossible length")

func (r *reader) subscription(src []byte) (Member, error) {
	m := Member{Generation: -1}
	version, err := r.begin(src)
	if err != nil {
		return m, fmt.Errorf("unreadable subscription of %d bytes: %w; check what client that member runs", len(src), err)
	}
	m.Topics = r.topics()
	m.UserData = r.userData()
	// Some clients write a version whose later fields they do not have, so an end
	// between fields is not damage (IBM/sarama#2618).
	if version >= 1 && r.more() {
		m.Owned = r.partitions()
		m.Owned.tidy()
	}
	if version >= 2 && r.more() {
		m.Generation = max(r.Int32(), -1)
	}
	if version >= 3 && r.more() {
		m.Rack = r.nullableName()
	}
	if !r.Ok() {
		return Member{Generation: -1}, fmt.Errorf("unreadable subscription of %d bytes, version %d: %w; check what client that member runs", len(src), version, errDamaged)
	}
	return m, nil
}

func (r *reader) assignment(src []byte) (Partitions, error) {
	version, err := r.begin(src)
	if err != nil {
		return nil, fmt.Errorf("unreadable assignment of %d bytes: %w; check what client leads the group", len(src), err)
	}
	p := r.partitions()
	if !r.Ok() {
		return nil, fmt.Errorf("unreadable assignment of %d bytes, version %d: %w; check what client leads the group", len(src), version, errDamaged)
	}
	return p, nil
}

// begin starts on src and returns the version in front.
func (r *reader) begin(src []byte) (int16, error) {
	r.Reader = kbin.Reader{Src: src}
	version := r.Int16()
	if !r.Ok() {
		return 0, errDamaged
	}
	if version < 0 {
		return 0, fmt.Errorf("its version is %d", version)
	}
	return version, nil
}

func (r *reader) more() bool { return r.Ok() && len(r.Src) > 0 }

func (r *reader) topics() []string {
	for _, list := range r.lists {
		if len(list.bytes) > 0 && bytes.HasPrefix(r.Src, list.bytes) {
			r.Src = r.Src[len(list.bytes):]
			return list.names
		}
	}
	src := r.Src
	n := r.arrayLen(2)
	topics := make([]string, 0, n)
	for range n {
		topics = append(topics, r.name())
	}
	topics = sortedUnique(topics)
	if r.Ok() && n > 0 {
		r.lists[r.next] = topicList{src[:len(src)-len(r.Src)], topics}
		r.next = (r.next + 1) % len(r.lists)
	}
	return topics
}

func (r *reader) userData() []byte {
	data := r.NullableBytes()
	if len(data) == 0 {
		return nil
	}
	return slices.Clone(data)
}

// partitions reads [topic, [partition]] as it stands, except that entries of one
// topic are put together. No list in it is empty.
func (r *reader) partitions() Partitions {
	n := r.arrayLen(6)
	p := make(Partitions, n)
	for range n {
		topic := r.name()
		numbers := r.numbers(p[topic])
		if len(numbers) > 0 {
			p[topic] = numbers
		}
	}
	return p
}

func (r *reader) numbers(list []int32) []int32 {
	n := r.arrayLen(4)
	list = r.grow(list, n)
	for range n {
		list = append(list, r.Int32())
	}
	return list
}

// grow makes room for n more numbers. Lists are parts of larger blocks, because most of them
// are short.
func (r *reader) grow(list []int32, n int) []int32 {
	if len(list) > 0 {
		return slices.Grow(list, n)
	}
	if n > len(r.block) {
		r.block = make([]int32, max(n, min(len(r.Src)/4, 1024)))
	}
	list, r.block = r.block[:0:n], r.block[n:]
	return list
}

// arrayLen reads a length and makes sure that as many entries of at least size
// bytes can follow before anybody makes room for them. Null is empty.
func (r *reader) arrayLen(size int) int {
	n := int(r.Int32())
	switch {
	case n == -1:
		return 0
	case n < 0 || n > len(r.Src)/size:
		r.Span(-1) // invalidates the reader
		return 0
	}
	return n
}

func (r *reader) name() string {
	name := r.Span(int(r.Int16()))
	if known, ok := r.names[string(name)]; ok {
		return known
	}
	known := string(name)
	r.names[known] = known
	return known
}

func (r *reader) nullableName() string {
	name := r.NullableString()
	if name == nil {
		return ""
	}
	return *name
}
