package main

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/assign"
)

var franzBalancers = map[string]func() kgo.GroupBalancer{
	"range":              kgo.RangeBalancer,
	"roundrobin":         kgo.RoundRobinBalancer,
	"sticky":             kgo.StickyBalancer,
	"cooperative-sticky": kgo.CooperativeStickyBalancer,
}

func prepareFranz(assignor string, g assign.Group) (lead, error) {
	balancer := franzBalancers[assignor]()
	var members []kmsg.JoinGroupResponseMember
	for _, j := range subscriptions(assignor, g) {
		m := kmsg.NewJoinGroupResponseMember()
		m.MemberID, m.ProtocolMetadata = j.ID, j.Metadata
		members = append(members, m)
	}
	topics := make(map[string]int32, len(g.Topics))
	racks := make(map[string][]string) // of the leaders; franz-go looks at no other replica
	for name, t := range g.Topics {
		topics[name] = t.Partitions
		for _, r := range t.Racks {
			racks[name] = append(racks[name], r[0])
		}
	}
	return func(w *stopwatch) (map[string][]byte, error) {
		decoded, _, err := balancer.MemberBalancer(members)
		if err != nil {
			return nil, err
		}
		w.lap(&w.stages.Decode)
		consumer, ok := decoded.(*kgo.ConsumerBalancer)
		if !ok {
			return nil, fmt.Errorf("franz-go's %s is a %T", assignor, decoded)
		}
		if len(racks) > 0 {
			balanceRacks(consumer, racks)
		}
		plan, err := consumer.BalanceOrError(topics)
		if err != nil {
			return nil, err
		}
		w.lap(&w.stages.Assign)
		encoded := plan.IntoSyncAssignment()
		w.lap(&w.stages.Encode)
		out := make(map[string][]byte, len(encoded))
		for _, e := range encoded {
			out[e.MemberID] = e.MemberAssignment
		}
		return out, nil
	}, nil
}

// balanceRacks does what kgo's client does with the option BalanceRacks: it gives the balancer the
// racks of the partitions' leaders. There is no public way to do so without a cluster.
func balanceRacks(b *kgo.ConsumerBalancer, racks map[string][]string) {
	set := func(field string, value any) {
		f := reflect.ValueOf(b).Elem().FieldByName(field)
		reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Set(reflect.ValueOf(value))
	}
	set("partitionRacks", racks)
	set("balanceRacks", true)
}
