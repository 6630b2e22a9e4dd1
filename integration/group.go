package integration

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A Group is a classic group as its coordinator describes it.
type Group struct {
	State    string // "Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead"
	Protocol string // the assignor chosen; "" unless Stable
	Members  []GroupMember
}

// A GroupMember is one member as the coordinator describes it. Partitions are
// empty while the group rebalances.
type GroupMember struct {
	ID         string
	InstanceID string // "" unless a static member
	ClientID   string
	Partitions []Partition // in the order of the assignment
}

// Owners says which client owns which partition, by client ID. If two members
// own one, which a coordinator does not exclude, it is an error.
func (g Group) Owners() (map[Partition]string, error) {
	owners := map[Partition]string{}
	for _, m := range g.Members {
		for _, p := range m.Partitions {
			if other, taken := owners[p]; taken {
				return nil, fmt.Errorf("the broker has %s assigned to both %s and %s", p, other, m.ClientID)
			}
			owners[p] = m.ClientID
		}
	}
	return owners, nil
}

// Describe asks the coordinator of a group, by DescribeGroups, who is in it
// and owns what.
func (c *Cluster) Describe(ctx context.Context, group string) (Group, error) {
	request := kmsg.NewPtrDescribeGroupsRequest()
	request.Groups = []string{group}
	response, err := requestCoordinator[*kmsg.DescribeGroupsResponse](ctx, c, group, request)
	if err != nil {
		return Group{}, fmt.Errorf("describe group %q: %w", group, err)
	}
	if len(response.Groups) != 1 {
		return Group{}, fmt.Errorf("describe group %q: %d answers", group, len(response.Groups))
	}
	described := response.Groups[0]
	if err := kerr.ErrorForCode(described.ErrorCode); err != nil {
		return Group{}, fmt.Errorf("describe group %q: %w", group, err)
	}
	result := Group{State: described.State, Protocol: described.Protocol}
	for _, m := range described.Members {
		partitions, err := decodeAssignment(m.MemberAssignment)
		if err != nil {
			return Group{}, fmt.Errorf("describe group %q: assignment of %s: %w", group, m.MemberID, err)
		}
		member := GroupMember{ID: m.MemberID, ClientID: m.ClientID, Partitions: partitions}
		if m.InstanceID != nil {
			member.InstanceID = *m.InstanceID
		}
		result.Members = append(result.Members, member)
	}
	return result, nil
}

// decodeAssignment reads what a leader sent in SyncGroup. A member that waits
// for its first assignment has no bytes.
func decodeAssignment(wire []byte) ([]Partition, error) {
	if len(wire) == 0 {
		return nil, nil
	}
	var assignment kmsg.ConsumerMemberAssignment
	if err := assignment.ReadFrom(wire); err != nil {
		return nil, err
	}
	var partitions []Partition
	for _, topic := range assignment.Topics {
		for _, number := range topic.Partitions {
			partitions = append(partitions, Partition{topic.Topic, number})
		}
	}
	return partitions, nil
}

// RequireGeneration asks the coordinator, by a heartbeat in the name of each member
// of a group, whether the group is in a generation and at rest.
func (c *Cluster) RequireGeneration(t testing.TB, group string, generation int32) {
	t.Helper()
	described, err := c.Describe(t.Context(), group)
	require.NoError(t, err)
	require.NotEmpty(t, described.Members)
	for _, m := range described.Members {
		request := kmsg.NewPtrHeartbeatRequest()
		request.Group, request.Generation, request.MemberID = group, generation, m.ID
		if m.InstanceID != "" {
			request.InstanceID = &m.InstanceID
		}
		response, err := requestCoordinator[*kmsg.HeartbeatResponse](t.Context(), c, group, request)
		require.NoError(t, err)
		require.NoError(t, kerr.ErrorForCode(response.ErrorCode), "group %q in generation %d, as %s", group, generation, m.ID)
	}
}
