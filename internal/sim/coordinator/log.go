package coordinator

import (
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Log is what outlives a coordinator, in the topic __consumer_offsets: the
// group as it was when it last became stable or empty, and the committed
// offsets. A round that is under way is not in it, and neither is a member's leaving
// or expiry before the next generation. The zero value is that of a new group.
type Log struct {
	// Committed, if set, is told of each offset that replaces another one; before
	// is -1 if there was none.
	Committed func(topic string, partition int32, before, next int64)

	saved   saved
	offsets map[place]int64
	ids     int

	transactions map[int64]*transaction // by producer
}

type place struct {
	topic     string
	partition int32
}

type saved struct {
	generation       int32
	protocol, leader string
	members          []member
}

// Offset returns the committed offset of a partition, or -1.
func (l *Log) Offset(topic string, partition int32) int64 {
	if next, ok := l.offsets[place{topic, partition}]; ok {
		return next
	}
	return -1
}

func (l *Log) newID(prefix string) string {
	l.ids++
	return fmt.Sprintf("%s-%d", prefix, l.ids)
}

func (l *Log) commit(req *kmsg.OffsetCommitRequest) {
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			l.store(place{t.Topic, p.Partition}, p.Offset)
		}
	}
}

func (l *Log) store(at place, next int64) {
	if l.offsets == nil {
		l.offsets = make(map[place]int64)
	}
	if l.Committed != nil {
		l.Committed(at.topic, at.partition, l.Offset(at.topic, at.partition), next)
	}
	l.offsets[at] = next
}

// stable returns the committed offset of a partition, or that a transaction may
// change it.
func (l *Log) stable(topic string, partition int32, requireStable bool) (next int64, code int16) {
	if requireStable && l.unstable(place{topic, partition}) {
		return -1, kerr.UnstableOffsetCommit.Code
	}
	return l.Offset(topic, partition), 0
}

func (l *Log) fetch(req *kmsg.OffsetFetchRequest) *kmsg.OffsetFetchResponse {
	resp := kmsg.NewPtrOffsetFetchResponse()
	for _, t := range req.Topics { // before version 8
		topic := kmsg.NewOffsetFetchResponseTopic()
		topic.Topic = t.Topic
		for _, id := range t.Partitions {
			partition := kmsg.NewOffsetFetchResponseTopicPartition()
			partition.Partition = id
			partition.Offset, partition.ErrorCode = l.stable(t.Topic, id, req.RequireStable)
			topic.Partitions = append(topic.Partitions, partition)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	for _, g := range req.Groups {
		group := kmsg.NewOffsetFetchResponseGroup()
		group.Group = g.Group
		for _, t := range g.Topics {
			topic := kmsg.NewOffsetFetchResponseGroupTopic()
			topic.Topic = t.Topic
			for _, id := range t.Partitions {
				partition := kmsg.NewOffsetFetchResponseGroupTopicPartition()
				partition.Partition = id
				partition.Offset, partition.ErrorCode = l.stable(t.Topic, id, req.RequireStable)
				topic.Partitions = append(topic.Partitions, partition)
			}
			group.Topics = append(group.Topics, topic)
		}
		resp.Groups = append(resp.Groups, group)
	}
	return resp
}

// save writes the group to the log.
func (g *Group) save() {
	s := saved{generation: g.generation, protocol: g.protocol, leader: g.leader}
	for _, m := range g.members {
		s.members = append(s.members, member{
			id: m.id, instance: m.instance, session: m.session, rebalance: m.rebalance, assignment: m.assignment,
			protocols: slices.DeleteFunc(slices.Clone(m.protocols), func(p kmsg.JoinGroupRequestProtocol) bool { return p.Name != g.protocol }),
		})
	}
	g.log.saved = s
}

// restore reads the group from the log.
func (g *Group) restore() {
	s := g.log.saved
	g.generation, g.protocol, g.leader = s.generation, s.protocol, s.leader
	for _, m := range s.members {
		g.members = append(g.members, &m)
		g.keepAlive(&m)
	}
	if len(g.members) > 0 {
		g.state = Stable
	}
}

// Unload returns the answers to all held calls: this broker is not the
// coordinator any more. The group must not be used after it.
func (g *Group) Unload() []Answer {
	for _, m := range g.members {
		g.answer(m.join, joinRefusal(m.id, kerr.NotCoordinator))
		g.answer(m.sync, syncRefusal(kerr.NotCoordinator))
	}
	return g.done()
}

// Refuse returns the answer of a broker that does not have the group: it is not
// its coordinator, or has not loaded it yet. A broker that loads the group
// accepts every heartbeat unseen.
func Refuse(req kmsg.Request, code int16) kmsg.Response {
	problem := kerr.TypedErrorForCode(code)
	switch req := req.(type) {
	case *kmsg.JoinGroupRequest:
		return joinRefusal(req.MemberID, problem)
	case *kmsg.SyncGroupRequest:
		return syncRefusal(problem)
	case *kmsg.HeartbeatRequest:
		if problem == kerr.CoordinatorLoadInProgress {
			problem = nil
		}
		return heartbeatAnswer(problem)
	case *kmsg.LeaveGroupRequest:
		resp := kmsg.NewPtrLeaveGroupResponse()
		resp.ErrorCode = code
		return resp
	case *kmsg.OffsetCommitRequest:
		return commitAnswer(req, problem)
	case *kmsg.TxnOffsetCommitRequest:
		return txnCommitAnswer(req, problem)
	case *kmsg.OffsetFetchRequest:
		resp := kmsg.NewPtrOffsetFetchResponse()
		resp.ErrorCode = code
		for _, g := range req.Groups {
			group := kmsg.NewOffsetFetchResponseGroup()
			group.Group, group.ErrorCode = g.Group, code
			resp.Groups = append(resp.Groups, group)
		}
		return resp
	}
	return req.ResponseKind()
}
