package coordinator

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// prepare opens a round: whoever waits for an assignment is sent back to join.
func (g *Group) prepare() {
	if g.state == Completing {
		g.refuseSyncs(kerr.RebalanceInProgress)
	}
	g.syncEnd = time.Time{}
	for _, m := range g.members {
		m.toSync = false
	}
	g.initial = g.state == Empty
	g.state = Preparing
	if g.initial {
		g.grown = false
		g.initialLeft = max(g.rebalanceTimeout()-g.initialDelay, 0)
		g.joinEnd = g.now.Add(g.initialDelay)
		return
	}
	g.joinEnd = g.now.Add(g.rebalanceTimeout())
	g.maybeCompleteJoin()
}

func (g *Group) refuseSyncs(code *kerr.Error) {
	for _, m := range g.members {
		g.answer(m.sync, syncRefusal(code))
		m.sync, m.assignment = 0, nil
	}
}

// rebalanceTimeout is the largest of all members.
func (g *Group) rebalanceTimeout() time.Duration {
	var largest time.Duration
	for _, m := range g.members {
		largest = max(largest, m.rebalance)
	}
	return largest
}

// maybeCompleteJoin ends the join phase if nobody is missing.
func (g *Group) maybeCompleteJoin() {
	missing := slices.ContainsFunc(g.members, func(m *member) bool { return m.join == 0 })
	if g.state == Preparing && !g.initial && !missing && len(g.pending) == 0 {
		g.completeJoin()
	}
}

// endJoin is the end of the time to join. The first round of a group waits
// longer while members keep coming.
func (g *Group) endJoin() {
	if g.initial && g.grown && g.initialLeft > 0 {
		wait := min(g.initialDelay, g.initialLeft)
		g.grown, g.initialLeft = false, g.initialLeft-wait
		g.joinEnd = g.now.Add(wait)
		return
	}
	g.completeJoin()
}

// completeJoin goes on with those who have joined. Static members that have
// not are kept, and their sessions decide.
func (g *Group) completeJoin() {
	g.initial, g.joinEnd = false, time.Time{}
	for _, m := range slices.Clone(g.members) {
		if m.join == 0 && m.instance == "" {
			g.takeOut(m)
		}
	}
	if len(g.members) > 0 && !g.electLeader() {
		g.joinEnd = g.now.Add(g.rebalanceTimeout()) // until sessions end or somebody joins
		return
	}
	g.generation++
	if len(g.members) == 0 {
		g.state, g.protocol, g.leader = Empty, "", ""
		g.save()
		return
	}
	g.state, g.protocol = Completing, g.elect()
	for _, m := range g.members {
		g.answer(m.join, g.joined(m))
		m.join, m.isNew, m.toSync = 0, false, true
		g.keepAlive(m)
	}
	g.syncEnd = g.now.Add(g.rebalanceTimeout())
}

// electLeader makes sure that the leader is one who has joined, if any has.
func (g *Group) electLeader() bool {
	if leader := g.member(g.leader); leader != nil && leader.join != 0 {
		return true
	}
	for _, m := range g.members {
		if m.join != 0 {
			g.leader = m.id
			return true
		}
	}
	return false
}

// endSync removes those who have joined and then sent no SyncGroup.
func (g *Group) endSync() {
	g.syncEnd = time.Time{}
	missing := false
	for _, m := range slices.Clone(g.members) {
		if m.toSync {
			missing = true
			g.takeOut(m)
		}
	}
	if missing {
		g.prepare()
	}
}
