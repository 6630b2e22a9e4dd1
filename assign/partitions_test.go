package assign_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/musterkafka/muster/assign"
)

func TestPartitionsAll(t *testing.T) {
	var seen []string
	for topic, number := range (assign.Partitions{"b": {0, 3}, "a": {7}, "none": {}}).All() {
		seen = append(seen, fmt.Sprintf("%s-%d", topic, number))
		if len(seen) == 2 {
			break
		}
	}
	require.Equal(t, []string{"a-7", "b-0"}, seen)
	for range assign.Partitions(nil).All() {
		require.Fail(t, "the nil set is empty")
	}
}

func TestPartitionsContains(t *testing.T) {
	p := assign.Partitions{"a": {0, 2, 5}}
	for number, want := range map[int32]bool{-1: false, 0: true, 1: false, 2: true, 5: true, 6: false} {
		require.Equal(t, want, p.Contains("a", number), "partition %d", number)
	}
	require.False(t, p.Contains("b", 0))
	require.False(t, assign.Partitions(nil).Contains("a", 0))
}

func TestPartitionsMinus(t *testing.T) {
	for _, c := range []struct{ from, take, want assign.Partitions }{
		{nil, nil, assign.Partitions{}},
		{assign.Partitions{"a": {0, 1}}, nil, assign.Partitions{"a": {0, 1}}},
		{assign.Partitions{"a": {0, 1, 4}}, assign.Partitions{"a": {1, 2, 3, 5}}, assign.Partitions{"a": {0, 4}}},
		{assign.Partitions{"a": {0}, "b": {0}}, assign.Partitions{"a": {0}, "c": {0}}, assign.Partitions{"b": {0}}},
	} {
		require.Equal(t, c.want, c.from.Minus(c.take), "%v minus %v", c.from, c.take)
	}
}

func TestPartitionsEqual(t *testing.T) {
	a := assign.Partitions{"a": {0, 1}}
	require.True(t, a.Equal(assign.Partitions{"a": {0, 1}, "b": {}}))
	require.True(t, assign.Partitions(nil).Equal(assign.Partitions{"b": nil}))
	require.False(t, a.Equal(assign.Partitions{"a": {0}}))
	require.False(t, a.Equal(assign.Partitions{"a": {0, 1}, "b": {0}}))
	require.False(t, assign.Partitions(nil).Equal(a))
}

func TestPartitionsCloneIsIndependent(t *testing.T) {
	p := assign.Partitions{"a": {0, 1}, "none": {}}
	clone := p.Clone()
	require.Equal(t, assign.Partitions{"a": {0, 1}}, clone)
	clone["a"][0] = 9
	clone["b"] = []int32{3}
	require.Equal(t, assign.Partitions{"a": {0, 1}, "none": {}}, p)
	require.NotNil(t, assign.Partitions(nil).Clone())
}

func TestPartitionsMinusAndCountAgreeWithAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"a", "b", "c"}
		p := drawPartitions(names).Draw(t, "p")
		other := drawPartitions(names).Draw(t, "other")
		rest := p.Minus(other)
		left, all := 0, 0
		for topic, number := range p.All() {
			all++
			if !other.Contains(topic, number) {
				left++
				require.True(t, rest.Contains(topic, number))
			}
		}
		require.Equal(t, all, p.Count())
		require.Equal(t, left, rest.Count())
	})
}
