package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	zero = Partition{"orders", 0}
	one  = Partition{"orders", 1}
)

func TestJudgeFindsNothingWrongWithAHandOver(t *testing.T) {
	r := NewRecorder()
	r.Assigned("ann", 1, zero, one)
	r.Read("ann", zero, 0)
	r.Read("ann", one, 0)
	r.Revoked("ann", zero, one)
	r.Assigned("ann", 2, zero)
	r.Assigned("bob", 2, one)
	r.Read("bob", one, 1)
	r.Read("ann", zero, 1)

	v := Judge(r.Events(), map[Partition]int64{zero: 2, one: 2})
	require.Empty(t, v.Problems)
	require.Equal(t, 4, v.Read)
	require.Zero(t, v.Duplicates)
	require.Equal(t, map[Partition]string{zero: "ann", one: "bob"}, v.Owners)
}

func TestJudgeCountsWhatIsReadAgainAfterACrash(t *testing.T) {
	r := NewRecorder()
	r.Assigned("ann", 1, zero)
	r.Read("ann", zero, 0)
	r.Read("ann", zero, 1)
	r.Gone("ann")
	r.Assigned("bob", 2, zero)
	r.Read("bob", zero, 0)
	r.Read("bob", zero, 1)
	r.Read("bob", zero, 2)
	r.Revoked("ann", zero) // cut off, it learns late

	v := Judge(r.Events(), map[Partition]int64{zero: 3})
	require.Empty(t, v.Problems)
	require.Equal(t, 3, v.Read)
	require.Equal(t, 2, v.Duplicates)
	require.Equal(t, map[Partition]string{zero: "bob"}, v.Owners)
}

func TestJudgeLetsAMemberKeepWhatItOwns(t *testing.T) {
	r := NewRecorder()
	r.Assigned("ann", 1, zero)
	r.Read("ann", zero, 0)
	r.Assigned("ann", 2, zero)
	r.Read("ann", zero, 0)

	v := Judge(r.Events(), nil)
	require.Len(t, v.Problems, 1, "to keep a partition is no leave to go back in it")
	require.Contains(t, v.Problems[0], "orders/0 at offset 0 read by ann after offset 0")
}

func TestJudgeFinds(t *testing.T) {
	for _, test := range []struct {
		name    string
		history func(r *Recorder)
		want    string
	}{
		{"an assignment while another member owns it", func(r *Recorder) {
			r.Assigned("ann", 1, zero)
			r.Assigned("bob", 2, zero)
		}, "orders/0 assigned to bob while ann owns it"},
		{"two owners in one generation", func(r *Recorder) {
			r.Assigned("ann", 1, zero)
			r.Revoked("ann", zero)
			r.Assigned("bob", 1, zero)
		}, "orders/0 assigned to bob in generation 1, in which ann got it"},
		{"a revocation from one who owns nothing", func(r *Recorder) {
			r.Revoked("ann", zero)
		}, "orders/0 revoked from ann, which does not own it"},
		{"a revocation from one who does not own it", func(r *Recorder) {
			r.Assigned("ann", 1, zero)
			r.Revoked("bob", zero)
		}, "orders/0 revoked from bob, which does not own it"},
		{"a read before the assignment", func(r *Recorder) {
			r.Read("ann", zero, 0)
		}, "orders/0 at offset 0 read by ann while nobody owns it"},
		{"a read after the revocation", func(r *Recorder) {
			r.Assigned("ann", 1, zero)
			r.Revoked("ann", zero)
			r.Read("ann", zero, 5)
		}, "orders/0 at offset 5 read by ann while nobody owns it"},
		{"a read by another than the owner", func(r *Recorder) {
			r.Assigned("ann", 1, zero)
			r.Read("bob", zero, 5)
		}, "orders/0 at offset 5 read by bob while ann owns it"},
		{"a read by one who is gone", func(r *Recorder) {
			r.Assigned("ann", 1, zero)
			r.Gone("ann")
			r.Read("ann", zero, 5)
		}, "orders/0 at offset 5 read by ann while nobody owns it"},
		{"records out of order", func(r *Recorder) {
			r.Assigned("ann", 1, zero)
			r.Read("ann", zero, 6)
			r.Read("ann", zero, 5)
		}, "orders/0 at offset 5 read by ann after offset 6"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := NewRecorder()
			test.history(r)
			v := Judge(r.Events(), nil)
			require.Len(t, v.Problems, 1)
			require.Contains(t, v.Problems[0], test.want)
		})
	}
}

func TestJudgeFindsRecordsThatNobodyRead(t *testing.T) {
	r := NewRecorder()
	r.Assigned("ann", 1, zero)
	r.Read("ann", zero, 0)
	r.Read("ann", zero, 3)

	v := Judge(r.Events(), map[Partition]int64{zero: 5, one: 2})
	require.Equal(t, []string{
		"orders/0: 3 of 5 records never read, the first at offset 1",
		"orders/1: 2 of 2 records never read, the first at offset 0",
	}, v.Problems)
}

func TestRecorderKeepsOrderAndClockTogether(t *testing.T) {
	r := NewRecorder()
	t.Run("events of several members", func(t *testing.T) {
		for _, member := range []string{"ann", "bob", "cid"} {
			t.Run(member, func(t *testing.T) {
				t.Parallel()
				for offset := range int64(1000) {
					r.Read(member, zero, offset)
				}
			})
		}
	})
	events := r.Events()
	require.Len(t, events, 3000)
	for i, e := range events[1:] {
		require.LessOrEqual(t, events[i].At, e.At)
	}
}
