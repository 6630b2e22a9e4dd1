package demo

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRangesAreShort(t *testing.T) {
	for want, numbers := range map[string][]int32{
		"nothing": nil,
		"4":       {4},
		"0-2":     {0, 1, 2},
		"0-1 3 7": {0, 1, 3, 7},
	} {
		require.Equal(t, want, ranges(numbers))
	}
}

func TestPictureShowsEveryMemberAndTheCount(t *testing.T) {
	text := picture([]row{
		{Name: "member-1", Status: member, Generation: 3, Owned: []int32{0, 1, 2}, Records: 700},
		{Name: "member-2", Status: crashed, Generation: 2, Records: 12},
	}, []string{"something happened"}, totals{Produced: 900, Consumed: 712, Lost: 188})
	for _, want := range []string{"member-1", "0-2", "700", "crashed", "900 produced, 712 consumed, 188 not read yet, 0 duplicated", "something happened"} {
		require.Contains(t, text, want)
	}
}

func TestTheWholeTableFitsInto80Columns(t *testing.T) {
	scattered := []int32{0, 2, 4, 6, 8, 10}
	text := picture([]row{{Name: "member-5", Status: crashed, Generation: 100, Owned: scattered, Records: 1_000_000}}, nil,
		totals{Produced: 1_000_000, Consumed: 1_000_000, Lost: 1_000_000, Duplicated: 1_000_000})
	require.Equal(t, text, cut(text, 80))
}

func TestViewTellsNewsOnceWhereThereIsNoTerminal(t *testing.T) {
	var out bytes.Buffer
	b, v := &board{}, newView(&out)
	b.tell("first")
	v.draw(b, totals{})
	b.tell("second")
	v.draw(b, totals{})
	v.draw(b, totals{})
	require.Equal(t, 1, bytes.Count(out.Bytes(), []byte("first")))
	require.Equal(t, 2, bytes.Count(out.Bytes(), []byte("\n")))
}

func TestLinesAreCutToTheTerminal(t *testing.T) {
	require.Equal(t, "abc\nd\n", cut("abcdef\nd\n", 3))
}

func TestACrashedMemberSaysNothingMore(t *testing.T) {
	b, n := &board{}, &network{}
	w := newsWriter{board: b, name: "member-1", net: n}
	_, err := w.Write([]byte("alive\n"))
	require.NoError(t, err)
	n.cut()
	_, err = w.Write([]byte("dead\n"))
	require.NoError(t, err)
	_, news := b.look(0)
	require.Len(t, news, 1)
	require.Contains(t, news[0], "member-1: alive")
}
