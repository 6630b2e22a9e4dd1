package assign

import "github.com/twmb/franz-go/pkg/kbin"

// This file knows the user data of the sticky assignors: what Java's StickyAssignor
// writes in version 1 (topics with partitions, then the generation) and version 0
// (without the generation), and the generation that Java's CooperativeStickyAssignor
// writes.

// appendStickyData appends version 1.
func appendStickyData(dst []byte, owned Partitions, generation int32) []byte {
	return kbin.AppendInt32(appendPartitions(dst, owned), generation)
}

// stickyData is user data of the sticky assignor that has been looked through but not
// copied.
type stickyData struct {
	topics     kbin.Reader // stands on the number of topics
	generation int32       // -1 in version 0
}

// readStickyData looks through user data. What is neither version 1 nor version 0
// is not ok.
func readStickyData(src []byte) (data stickyData, ok bool) {
	data = stickyData{topics: kbin.Reader{Src: src}, generation: -1}
	rest := data.eachTopic(func([]byte, int, kbin.Reader) {})
	if !rest.Ok() {
		return data, false
	}
	if generation := rest.Int32(); rest.Ok() {
		data.generation = max(generation, -1)
	}
	return data, true
}

// eachTopic calls visit for every topic with a reader that stands on its count
// partition numbers, and returns a reader behind the last one. Name is only valid
// during the call.
func (d stickyData) eachTopic(visit func(name []byte, count int, numbers kbin.Reader)) kbin.Reader {
	r := d.topics
	for range max(r.Int32(), 0) {
		name := r.Span(int(r.Int16()))
		count := int(max(r.Int32(), 0))
		numbers := r
		if count > len(r.Src)/4 {
			r.Span(-1) // invalidates the reader
			break
		}
		r.Span(4 * count)
		if !r.Ok() {
			break
		}
		visit(name, count, numbers)
	}
	return r
}

// sticky enters what a member says in the user data of the sticky assignor.
func (c *claims) sticky(member int32, data stickyData) {
	data.eachTopic(func(name []byte, count int, numbers kbin.Reader) {
		if topic, known := c.number[string(name)]; known {
			claimant := c.claimant(member, topic)
			for range count {
				c.add(topic, claimant, data.generation, numbers.Int32())
			}
		}
	})
}

// cooperativeGeneration returns since when a member of a cooperative group owns
// what it claims: its subscription says so from version 2 on. Before, Java's members
// have said so in user data of 4 bytes, others in that of the sticky assignor.
func cooperativeGeneration(m Member) int32 {
	if m.Generation >= 0 {
		return m.Generation
	}
	if len(m.UserData) == 4 {
		r := kbin.Reader{Src: m.UserData}
		return max(r.Int32(), -1)
	}
	data, ok := readStickyData(m.UserData)
	if !ok {
		return -1
	}
	return data.generation
}
