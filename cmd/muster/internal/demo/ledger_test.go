package demo

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLedgerCountsLostAndDuplicated(t *testing.T) {
	l := newLedger(5)
	for _, number := range []int{0, 1, 2, 3} {
		l.written(number)
	}
	for _, number := range []int{0, 1, 1, 1, 3, 99, -1} {
		l.read(number)
	}
	require.Equal(t, totals{Produced: 4, Consumed: 3, Lost: 1, Duplicated: 2}, l.totals())
}

func TestLedgerCountsARecordReadBeforeItsAcknowledgement(t *testing.T) {
	l := newLedger(1)
	l.read(0)
	require.Equal(t, totals{Consumed: 1}, l.totals())
	l.written(0)
	require.Equal(t, totals{Produced: 1, Consumed: 1}, l.totals())
}
