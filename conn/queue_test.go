package conn

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRingIsFirstInFirstOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ring[int]
		var want []int
		next := 1
		t.Repeat(map[string]func(*rapid.T){
			"push": func(*rapid.T) {
				r.push(next)
				want = append(want, next)
				next++
			},
			"pop": func(t *rapid.T) {
				if len(want) == 0 {
					t.Skip("empty")
				}
				require.Equal(t, want[0], r.pop())
				want = want[1:]
			},
			"": func(t *rapid.T) {
				require.Equal(t, len(want), r.len())
				kept := 0
				for _, item := range r.items {
					if item != 0 {
						kept++
					}
				}
				require.Equal(t, len(want), kept, "what was taken is let go")
				if len(want) == 0 {
					require.Nil(t, r.head())
					require.Nil(t, r.tail())
					return
				}
				require.Equal(t, want[0], *r.head())
				require.Equal(t, want[len(want)-1], *r.tail())
			},
		})
	})
}

var epoch = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

func second(n int) time.Time { return epoch.Add(time.Duration(n) * time.Second) }

// newQueue returns a queue with a call for each of the given allowances.
func newQueue(allowances ...time.Duration) *queue {
	q := &queue{patience: 30 * time.Second}
	for _, a := range allowances {
		q.push(call{req: ask("x"), limited: a >= 0, allowance: a})
	}
	return q
}

func TestQueueGivesTheAlarmOfTheOldestWaitingCall(t *testing.T) {
	q := newQueue(0, 10*time.Second, -1, 0)
	for range 4 {
		c, ok, _ := q.next(second(0))
		require.True(t, ok)
		q.wrote(c.id, second(int(c.id))) // at seconds 1 to 4
	}
	alarmAt := func(now int) time.Time {
		_, ok, alarm := q.next(second(now))
		require.False(t, ok)
		return alarm
	}
	require.Equal(t, second(31), alarmAt(5), "from when it was written")
	c, ok, hurry := q.answered(second(6))
	require.Equal(t, []any{int32(1), true, false}, []any{c.id, ok, hurry})
	require.Equal(t, second(46), alarmAt(6), "from when it became the oldest, plus its allowance")
	q.answered(second(7))
	require.Zero(t, alarmAt(7), "without limit")
	c, ok, hurry = q.answered(second(8))
	require.Equal(t, []any{int32(3), true, true}, []any{c.id, ok, hurry})
	require.Equal(t, second(38), alarmAt(8))

	_, _, late := q.overdue(second(37))
	require.False(t, late)
	c, waited, late := q.overdue(second(38))
	require.Equal(t, []any{int32(4), 30 * time.Second, true}, []any{c.id, waited, late})
}

func TestQueueHasNoDeadlineForWhatIsStillBeingWritten(t *testing.T) {
	q := newQueue(0, 0)
	first, _, _ := q.next(second(0))
	q.wrote(first.id, second(1))
	last, _, _ := q.next(second(1))
	q.answered(second(2))
	_, _, alarm := q.next(second(2))
	require.Zero(t, alarm, "the oldest is not written yet")
	q.wrote(last.id, second(50))
	_, _, alarm = q.next(second(50))
	require.Equal(t, second(80), alarm)
}

func TestQueueTakesAnAnswerThatIsFasterThanTheEndOfItsWrite(t *testing.T) {
	q := newQueue(0, 0)
	first, _, _ := q.next(second(0))
	_, ok, _ := q.answered(second(1))
	require.True(t, ok)
	second1, _, _ := q.next(second(1))
	q.wrote(first.id, second(2))
	_, _, late := q.overdue(second(1000))
	require.False(t, late, "the end of the first write says nothing of the second call")
	q.wrote(second1.id, second(3))
	_, _, late = q.overdue(second(33))
	require.True(t, late)
}

func TestQueueHoldsWritingUntilTheLatestThrottleEnds(t *testing.T) {
	q := newQueue(0)
	q.holdUntil(second(9))
	q.holdUntil(second(5))
	_, ok, alarm := q.next(second(8))
	require.False(t, ok)
	require.Equal(t, second(9), alarm)
	_, ok, _ = q.next(second(9))
	require.True(t, ok)
}

func TestAClosedQueueReturnsWhatIsUnansweredAndTakesNothing(t *testing.T) {
	q := newQueue(0, 0, 0)
	c, _, _ := q.next(second(0))
	q.wrote(c.id, second(0))
	c, _, _ = q.next(second(0))
	q.unsent(c.id)
	var sent []bool
	for _, c := range q.close() {
		sent = append(sent, c.sent)
	}
	require.Equal(t, []bool{true, false, false}, sent)
	require.False(t, q.push(call{}))
	require.Empty(t, q.close())
}
