package client

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func (p *position) check(t require.TestingT) {
	require.LessOrEqual(t, p.committed, p.done.next, "nothing is committed that is not done")
	require.LessOrEqual(t, p.done.next, p.delivered, "nothing is done that was not delivered")
	require.LessOrEqual(t, p.delivered, p.fetched, "nothing is delivered that was not fetched")
}

func TestPositionKeepsItsOrderWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.Int64Range(0, 1<<40).Draw(t, "start")
		p := startAt(mark{start, 3}, rapid.Bool().Draw(t, "committed"))
		offset := func() int64 { return start + rapid.Int64Range(-5, 40).Draw(t, "offset") }
		t.Repeat(map[string]func(*rapid.T){
			"":        func(t *rapid.T) { p.check(t) },
			"fetch":   func(*rapid.T) { p.fetch(offset()) },
			"deliver": func(*rapid.T) { p.deliver(offset()) },
			"finish":  func(*rapid.T) { p.finish(mark{offset(), 4}) },
			"commit":  func(*rapid.T) { p.commit(offset()) },
			"pass": func(*rapid.T) {
				if p.done.next == p.delivered {
					p.pass(mark{offset(), 4})
				}
			},
			"refetch": func(*rapid.T) { p.refetch() },
			"skip":    func(*rapid.T) { p.skipTo(offset()) },
		})
	})
}

func TestDoneNeverGoesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := startAt(mark{100, -1}, true)
		p.fetch(200)
		p.deliver(200)
		for _, next := range rapid.SliceOf(rapid.Int64Range(90, 210)).Draw(t, "marks") {
			before := p.done.next
			p.finish(mark{next, 1})
			require.GreaterOrEqual(t, p.done.next, before)
		}
	})
}

func TestAMarkBeyondWhatWasDeliveredIsCut(t *testing.T) {
	p := startAt(mark{10, -1}, true)
	p.fetch(30)
	p.deliver(20)
	p.finish(mark{25, 7})
	require.Equal(t, mark{20, 7}, p.done)
}

func TestWhatIsWorthACommit(t *testing.T) {
	p := startAt(mark{10, -1}, true)
	_, ok := p.uncommitted()
	require.False(t, ok, "a committed offset that nothing was added to")

	p = startAt(mark{10, -1}, false)
	m, ok := p.uncommitted()
	require.True(t, ok, "an offset that a reset has found: a restart must not skip what comes meanwhile")
	require.Equal(t, mark{10, -1}, m)

	p.fetch(20)
	p.deliver(15)
	p.finish(mark{12, 5})
	p.commit(12)
	_, ok = p.uncommitted()
	require.False(t, ok)
	p.finish(mark{13, 5})
	m, ok = p.uncommitted()
	require.True(t, ok)
	require.Equal(t, mark{13, 5}, m)
}

func TestAnAnswerToAnOldCommitDoesNotHideWhatIsDoneSince(t *testing.T) {
	p := startAt(mark{0, -1}, true)
	p.fetch(20)
	p.deliver(20)
	p.finish(mark{10, 1})
	p.commit(20) // not ours: only 10 were done
	require.EqualValues(t, 10, p.committed)
}

func TestRefetchGoesBackToWhatIsNotDone(t *testing.T) {
	p := startAt(mark{0, -1}, true)
	p.fetch(20)
	p.deliver(15)
	p.finish(mark{12, 1})
	p.refetch()
	require.EqualValues(t, 12, p.fetched)
	require.False(t, p.fetch(12), "no progress")
	require.True(t, p.fetch(20))
}

func TestSkipNeverGoesBack(t *testing.T) {
	p := startAt(mark{50, 2}, true)
	p.skipTo(40)
	require.Equal(t, mark{50, 2}, p.done)
	p.skipTo(60)
	require.Equal(t, mark{60, -1}, p.done)
	require.EqualValues(t, 60, p.fetched)
}
