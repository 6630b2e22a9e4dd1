package assign

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawWires draws a network in which all supplies can reach something. The last node is the
// sink.
func drawWires(t *rapid.T) (nodes int, wires []wire, supply []int32) {
	nodes = rapid.IntRange(2, 8).Draw(t, "nodes")
	node := rapid.Int32Range(0, int32(nodes)-1)
	supply = make([]int32, nodes)
	for v := range supply[:nodes-1] {
		supply[v] = rapid.Int32Range(0, 4).Draw(t, "supply")
	}
	for range rapid.IntRange(0, 16).Draw(t, "wires") {
		w := wire{
			from: node.Draw(t, "from"),
			to:   node.Draw(t, "to"),
			room: rapid.Int32Range(0, 4).Draw(t, "room"),
			cost: rapid.Int8Range(0, 4).Draw(t, "cost"),
		}
		if w.from != w.to && int(w.from) != nodes-1 {
			wires = append(wires, w)
		}
	}
	return nodes, wires, supply
}

// slowFlow sends one unit after the other along a cheapest path, found by going over all
// wires again and again (Bellman, Ford).
func slowFlow(nodes int, wires []wire, supply []int32, prices [5]int64) (sent int, cost int64) {
	used := make([]int32, len(wires))
	const far = int64(1) << 40
	for {
		dist, by := make([]int64, nodes), make([]int, nodes)
		for v := range dist {
			dist[v], by[v] = far, -1
			if supply[v] > 0 {
				dist[v] = 0
			}
		}
		for range nodes {
			for i, w := range wires {
				if c := dist[w.from] + prices[w.cost]; used[i] < w.room && c < dist[w.to] && dist[w.from] < far {
					dist[w.to], by[w.to] = c, i
				}
				if c := dist[w.to] - prices[w.cost]; used[i] > 0 && c < dist[w.from] && dist[w.to] < far {
					dist[w.from], by[w.from] = c, i
				}
			}
		}
		v := int32(nodes - 1)
		if dist[v] == far {
			return sent, cost
		}
		sent++
		cost += dist[v]
		for by[v] >= 0 {
			if w := wires[by[v]]; w.to == v {
				used[by[v]]++
				v = w.from
			} else {
				used[by[v]]--
				v = w.to
			}
		}
		supply[v]--
	}
}

func (n *network) cost() (cost int64) {
	for _, a := range n.arcs {
		if a.forth() {
			cost += int64(n.sent(a)) * n.price(a)
		}
	}
	return cost
}

func TestNetworkSendsAllItCanAtTheLeastCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes, wires, supply := drawWires(t)
		total := 0
		for _, s := range supply {
			total += int(s)
		}
		prices := [5]int64{0, 0, 1, 10, 100}
		n := newNetwork(nodes, wires, append([]int32(nil), supply...), int32(nodes-1))
		n.prices = prices
		all := n.send()
		sent, cost := slowFlow(nodes, wires, supply, prices)
		require.Equal(t, sent, total-n.left())
		require.Equal(t, sent == total, all)
		require.Equal(t, cost, n.cost())
		for at, a := range n.arcs {
			require.GreaterOrEqual(t, a.room, int32(0))
			require.Equal(t, int32(at), n.arcs[a.mate].mate)
		}
	})
}

// The least square sum of loads is what even loads are: every partition that could go
// along a path from a member to one with at least two fewer lowers it.
func TestLevelsAreAsEvenAsSubscriptionsAllow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		group := drawUneven(t)
		r, err := newRoster(group, compareIDs)
		require.NoError(t, err)
		if len(r.topics) == 0 {
			return
		}
		owner := newClaims(r).settle()
		r.balance(group.Topics, owner, workLimit)
		load := make([]int, len(r.members))
		for _, m := range owner {
			load[m]++
		}
		for from := range r.members {
			for to := range reachable(r, owner, int32(from)) {
				require.LessOrEqual(t, load[from], load[to]+1, "from %q to %q", r.members[from].ID, r.members[to].ID)
			}
		}
	})
}

// reachable returns the members to which a partition could be passed on from one, each member on
// the way giving one and taking one.
func reachable(r *roster, owner []int32, from int32) map[int32]bool {
	met := map[int32]bool{from: true}
	for queue := []int32{from}; len(queue) > 0; queue = queue[1:] {
		for p, m := range owner {
			topic, _ := r.locate(int32(p))
			for _, other := range r.subscribers()[topic] {
				if m == queue[0] && !met[other] {
					met[other] = true
					queue = append(queue, other)
				}
			}
		}
	}
	return met
}

func drawUneven(t *rapid.T) Group {
	names := []string{"A", "B", "C", "D", "E"}
	group := Group{Topics: map[string]Topic{}}
	for _, name := range names {
		topic := Topic{Partitions: rapid.Int32Range(0, 12).Draw(t, "partitions")}
		for range topic.Partitions {
			topic.Racks = append(topic.Racks, []string{rapid.SampledFrom([]string{"a", "b"}).Draw(t, "rack")})
		}
		group.Topics[name] = topic
	}
	for i := range rapid.IntRange(1, 9).Draw(t, "members") {
		m := Member{ID: string(rune('a' + i)), Rack: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "rack")}
		for _, name := range names {
			if rapid.IntRange(0, 2).Draw(t, "subscribes") == 0 {
				m.Topics = append(m.Topics, name)
			}
		}
		if len(m.Topics) > 0 {
			m.Owned = Partitions{m.Topics[0]: {0, 1, 2, 3}}
		}
		m.Generation = int32(i)
		group.Members = append(group.Members, m)
	}
	return group
}

// However little work is allowed, every partition that can have an owner gets one, and nothing
// that was allowed to finish differs from the best plan.
func TestPlansAreCompleteWhateverWorkIsAllowed(t *testing.T) {
	outcomes := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		group := drawUneven(t)
		plan := func(work int64) (Plan, int64) {
			r, err := newRoster(group, compareIDs)
			require.NoError(t, err)
			c := newClaims(r)
			for m := range r.members {
				c.owned(int32(m), r.members[m].Generation)
			}
			owner := c.settle()
			left := r.balance(group.Topics, owner, work)
			return (&decision{roster: r, owner: owner}).plan(), left
		}
		best, left := plan(workLimit)
		require.Positive(t, left)
		for _, work := range []int64{0, 1, 30, 100, 300, 1000, 100_000} {
			got, left := plan(work)
			require.NoError(t, Check(group, got))
			require.Empty(t, Unassigned(group, got))
			if left > 0 {
				require.Equal(t, best, got)
				outcomes["best"]++
			} else {
				outcomes["bounded"]++
			}
		}
	})
	require.Positive(t, outcomes["best"])
	require.Positive(t, outcomes["bounded"])
}

// The largest load stays within the bound that estimate promises.
func TestEstimatedLoadsAreWithinTheirBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		group := drawUneven(t)
		r, err := newRoster(group, compareIDs)
		require.NoError(t, err)
		if len(r.topics) == 0 {
			return
		}
		largest := func(work int64) (most int32) {
			l := findLevels(newClasses(r), work)
			for _, level := range l.level {
				most = max(most, level)
			}
			return most
		}
		bits := 1
		for 1<<bits < len(r.members) {
			bits++
		}
		require.LessOrEqual(t, largest(0), int32(1+bits)*largest(workLimit))
	})
}

// Room is reserved by products of sizes that a hostile group makes large.
func TestReservedRoomIsLimited(t *testing.T) {
	require.Equal(t, 6, atMost(7, 2, 3))
	require.Equal(t, 7, atMost(7, 1<<30, 1<<30))
}
