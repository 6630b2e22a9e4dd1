package planner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/musterkafka/muster/assign"
)

// input is a group as JSON has it.
type input struct {
	Topics  map[string]inputTopic `json:"topics"`
	Members []inputMember         `json:"members"`
}

type inputTopic struct {
	Partitions int32      `json:"partitions"`
	Racks      [][]string `json:"racks"` // of each partition's replicas
}

type inputMember struct {
	ID         string             `json:"id"`
	Instance   string             `json:"instance"`
	Rack       string             `json:"rack"`
	Topics     []string           `json:"topics"`
	Owned      map[string][]int32 `json:"owned"`
	Generation *int32             `json:"generation"` // of owned; absent: unknown
}

// Read reads one group. A field that a group does not have is an error, so that
// a misspelled one is not taken for an absent one.
func Read(r io.Reader) (assign.Group, error) {
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	var in input
	if err := decoder.Decode(&in); err != nil {
		return assign.Group{}, fmt.Errorf("read the group: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return assign.Group{}, errors.New("read the group: something follows it: there can be only one")
	}
	return in.group(), nil
}

func (in *input) group() assign.Group {
	g := assign.Group{Topics: make(map[string]assign.Topic, len(in.Topics))}
	for name, t := range in.Topics {
		g.Topics[name] = assign.Topic{Partitions: t.Partitions, Racks: t.Racks}
	}
	for _, m := range in.Members {
		member := assign.Member{ID: m.ID, InstanceID: m.Instance, Rack: m.Rack, Generation: -1, Owned: assign.Partitions{}}
		member.Topics = slices.Compact(slices.Sorted(slices.Values(m.Topics)))
		for topic, partitions := range m.Owned {
			member.Owned[topic] = slices.Compact(slices.Sorted(slices.Values(partitions)))
		}
		if m.Generation != nil {
			member.Generation = *m.Generation
		}
		g.Members = append(g.Members, member)
	}
	return g
}
