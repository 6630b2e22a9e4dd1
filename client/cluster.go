package client

import (
	"maps"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// broker is one broker as the cluster describes it.
type broker struct {
	id   int32
	host string
	port int32
	addr string // host and port
	rack string // "" if unknown
}

func newBroker(id int32, host string, port int32, rack *string) broker {
	return broker{id, host, port, net.JoinHostPort(host, strconv.Itoa(int(port))), deref(rack)}
}

// partition is one partition as the metadata has it.
type partition struct {
	id          int32
	leader      int32 // -1 if there is none at the moment
	leaderEpoch int32 // -1 if the brokers are too old to say (KIP-320)
	err         int16 // in the last answer; 0 if none
	replicas    []int32
	isr         []int32
	older       int // answers in a row that were ignored for their older epoch
}

// topic is one watched topic. While err is set, its partitions are what was
// known before; otherwise there is at least one.
type topic struct {
	name       string
	internal   bool        // Kafka's own
	id         [16]byte    // zero if the brokers are too old to have IDs (KIP-516)
	former     [16]byte    // the ID before, if it was created again; else zero
	err        int16       // of the last answer about it; 0 if none
	absent     int         // answers in a row in which it did not exist
	partitions []partition // the index is the partition's ID
}

// count returns how many partitions t has, 0 if it does not exist.
func (t *topic) count() int32 {
	if t.absent >= absentAnswers {
		return 0
	}
	return int32(len(t.partitions))
}

// cluster is what is known of the brokers and of the topics that somebody
// watches, by name or by pattern. It is immutable: whoever has one may read it
// without a lock, and must not write to it.
type cluster struct {
	number     uint64    // of the request that was answered last; 0 before the first answer
	asked      time.Time // when that request began
	id         string    // "" if unknown
	controller int32     // -1 if unknown
	brokers    map[int32]broker
	racks      map[int32]string // of brokers, those that are down too; none for an unknown rack
	topics     map[string]topic
	names      map[[16]byte]string
}

// topic returns the watched topic of that name; false if no answer has been
// about it yet.
func (c *cluster) topic(name string) (topic, bool) {
	t, ok := c.topics[name]
	return t, ok
}

// describes reports whether the last answer was about all of topics, and without an error.
func (c *cluster) describes(topics []string) bool {
	return !slices.ContainsFunc(topics, func(name string) bool {
		t, ok := c.topics[name]
		return !ok || t.err != 0
	})
}

// nameOf returns the name of the watched topic with that ID.
func (c *cluster) nameOf(id [16]byte) (string, bool) {
	name, ok := c.names[id]
	return name, ok
}

// awaits reports whether a watched topic may be there soon, or is only not known
// yet to the broker that answered. Whoever watches it should not learn that by
// the age of the metadata.
func (c *cluster) awaits() bool {
	for _, t := range c.topics {
		if kerr.IsRetriable(kerr.ErrorForCode(t.err)) {
			return true
		}
	}
	return false
}

func (c *cluster) broker(id int32) (broker, bool) {
	b, ok := c.brokers[id]
	return b, ok
}

// with returns c with b, unless c knows that broker already.
func (c *cluster) with(b broker) *cluster {
	if _, ok := c.brokers[b.id]; ok {
		return c
	}
	next := *c
	next.brokers = maps.Clone(c.brokers)
	next.brokers[b.id] = b
	return &next
}

// apply returns what is known after the answer resp to the request of that
// number for the topics asked.
func (c *cluster) apply(number uint64, asked scope, resp *kmsg.MetadataResponse) *cluster {
	next := &cluster{
		number:     number,
		id:         c.id,
		controller: resp.ControllerID,
		brokers:    make(map[int32]broker, len(resp.Brokers)),
		topics:     make(map[string]topic, len(asked.topics)),
		names:      make(map[[16]byte]string, len(asked.topics)),
	}
	if resp.ClusterID != nil {
		next.id = *resp.ClusterID
	}
	for _, b := range resp.Brokers {
		if b.NodeID < 0 {
			continue // there is no such broker: to us it would be one of the seeds
		}
		next.brokers[b.NodeID] = newBroker(b.NodeID, b.Host, b.Port, b.Rack)
	}
	next.racks = c.racksWith(next.brokers)
	answers := make(map[string]*kmsg.MetadataResponseTopic, len(resp.Topics))
	for i := range resp.Topics {
		if name := resp.Topics[i].Topic; name != nil {
			answers[*name] = &resp.Topics[i]
		}
	}
	for name := range c.concerned(asked, answers) {
		t := c.topics[name]
		t.name = name
		t = t.apply(answers[name])
		next.topics[name] = t
		if t.id != [16]byte{} {
			next.names[t.id] = name
		}
	}
	return next
}

// concerned returns the topics that the answer to a request for asked is about. What
// has matched a pattern and is not there any more is kept until another answer
// says so too: the broker may only have started a moment ago.
func (c *cluster) concerned(asked scope, answers map[string]*kmsg.MetadataResponseTopic) map[string]struct{} {
	concerned := make(map[string]struct{}, len(asked.topics))
	for _, name := range asked.topics {
		concerned[name] = struct{}{}
	}
	if !asked.everything() {
		return concerned
	}
	for name, answer := range answers {
		if asked.covers(name, answer.IsInternal) {
			concerned[name] = struct{}{}
		}
	}
	for name, t := range c.topics {
		if t.absent+1 < absentAnswers && asked.covers(name, t.internal) {
			concerned[name] = struct{}{}
		}
	}
	return concerned
}

// racksWith returns the racks of brokers, and those that were known before of
// brokers that are not there at the moment: a broker that is down has not moved.
func (c *cluster) racksWith(brokers map[int32]broker) map[int32]string {
	racks := make(map[int32]string, len(brokers))
	maps.Copy(racks, c.racks)
	for id, b := range brokers {
		if racks[id] = b.rack; b.rack == "" {
			delete(racks, id)
		}
	}
	return racks
}

// apply returns t after the answer, which is nil if the topic was missing in
// it. An error leaves the partitions as they were: a broker that has just
// started may not have heard of the topic.
func (t topic) apply(answer *kmsg.MetadataResponseTopic) topic {
	code := kerr.UnknownTopicOrPartition.Code
	if answer != nil {
		code = answer.ErrorCode
	}
	if t.err = code; code != 0 {
		if code == kerr.UnknownTopicOrPartition.Code || code == kerr.UnknownTopicID.Code {
			t.absent++
		}
		return t
	}
	if answer.TopicID == t.former && t.former != [16]byte{} {
		return t // a broker that lags behind: IDs do not come back
	}
	before := t.partitions
	if t.id != answer.TopicID { // created again: nothing of the old one counts, nor its epochs
		before = nil
	}
	after := mergePartitions(before, answer.Partitions)
	if len(after) == 0 {
		t.err = kerr.LeaderNotAvailable.Code // no broker says this of a topic that is there
		return t
	}
	if t.id != answer.TopicID && answer.TopicID != [16]byte{} {
		t.former = t.id
	}
	t.id, t.internal, t.absent, t.partitions = answer.TopicID, answer.IsInternal, 0, after
	return t
}

// mergePartitions returns the partitions of a topic after an answer. A topic
// never shrinks, so partitions that the answer leaves out stay as they were;
// one that has never been described has no leader.
func mergePartitions(before []partition, answer []kmsg.MetadataResponseTopicPartition) []partition {
	count := len(before)
	limit := int32(len(before) + 2*len(answer) + 16) // memory stays in proportion to the answer
	for _, a := range answer {
		if a.Partition >= 0 && a.Partition < limit {
			count = max(count, int(a.Partition)+1)
		}
	}
	after := make([]partition, count)
	for i := range after {
		after[i] = partition{id: int32(i), leader: -1, leaderEpoch: -1, err: kerr.LeaderNotAvailable.Code}
	}
	copy(after, before)
	for _, a := range answer {
		if a.Partition >= 0 && int(a.Partition) < count {
			after[a.Partition] = after[a.Partition].apply(a)
		}
	}
	return after
}

// staleAnswers is how many answers in a row with an older leader epoch are
// taken for those of brokers that lag behind. More of them are the truth: a
// cluster may lose epochs when it is restored.
const staleAnswers = 2

// apply returns p after the answer about it.
func (p partition) apply(answer kmsg.MetadataResponseTopicPartition) partition {
	if answer.LeaderEpoch >= 0 && answer.LeaderEpoch < p.leaderEpoch && p.older < staleAnswers {
		p.older++
		return p
	}
	p = partition{
		id:          answer.Partition,
		leader:      answer.Leader,
		leaderEpoch: answer.LeaderEpoch,
		err:         answer.ErrorCode,
		replicas:    slices.Clone(answer.Replicas),
		isr:         slices.Clone(answer.ISR),
	}
	if p.leader < 0 || p.err == kerr.LeaderNotAvailable.Code || p.err == kerr.ListenerNotFound.Code {
		p.leader = -1
	}
	return p
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
