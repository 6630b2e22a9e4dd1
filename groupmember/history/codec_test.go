package history

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// Whatever a type can hold, in every field of it, comes back as it was.
func TestEveryValueOfEveryTypeSurvives(t *testing.T) {
	f := filler{random: rand.New(rand.NewPCG(1, 1))}
	c := new(codec)
	for _, all := range []family{events, actions} {
		for name, of := range all {
			t.Run(name, func(t *testing.T) {
				for range 100 {
					requireSurvives(t, c, f.value(of))
				}
			})
		}
	}
	t.Run("Config", func(t *testing.T) {
		for range 100 {
			requireSurvives(t, c, f.value(reflect.TypeFor[groupmember.Config]()))
		}
	})
}

func requireSurvives(t *testing.T, c *codec, v reflect.Value) {
	t.Helper()
	text, err := c.append(nil, v)
	require.NoError(t, err)
	require.True(t, json.Valid(text), "%s", text)
	read := reflect.New(v.Type()).Elem()
	d := c.decoder(text)
	require.NoError(t, d.read(read), "%s", text)
	require.NoError(t, d.end())
	require.Equal(t, v.Interface(), read.Interface(), "%s", text)
	again, err := c.append(nil, read)
	require.NoError(t, err)
	require.Equal(t, string(text), string(again))
}

// What a struct wraps to cap the version of its message is written as that message.
func TestCappedRequestIsWrittenAsTheRequest(t *testing.T) {
	type capped struct{ *kmsg.OffsetCommitRequest }
	var c codec
	plain := &kmsg.OffsetCommitRequest{Group: "g"}
	for _, req := range []kmsg.Request{plain, capped{plain}} {
		text, err := c.append(nil, reflect.ValueOf(groupmember.Send{Seq: 1, Req: req}))
		require.NoError(t, err)
		require.Equal(t, `{"Seq":1,"Route":"group","Req":{"OffsetCommit":{"Group":"g"}}}`, string(text))
	}
}

func TestWhatCannotBeReadBackIsNotWritten(t *testing.T) {
	type hidden struct{ secret int }
	type other struct{ kmsg.Response }
	for name, v := range map[string]any{
		"a field that is not exported": hidden{1},
		"a channel":                    make(chan int),
		"a float":                      1.5,
		"a response of no API":         groupmember.Replied{Resp: other{}},
		"a nil response":               groupmember.Replied{Resp: (*kmsg.HeartbeatResponse)(nil)},
	} {
		var c codec
		_, err := c.append(nil, reflect.ValueOf(v))
		require.ErrorContains(t, err, "cannot be written", name)
	}
}

// filler makes random values.
type filler struct{ random *rand.Rand }

var strange = []string{
	"orders", "", "base64:", "base64:AA==", "\xff\xfe", "a\x00b", "\"\\\n", "<&>", "\u2028", "caf\u00e9", "\ufffd", "null", "{",
}

func (f filler) value(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(f.random.IntN(2) == 0)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt([]int64{0, 1, -1, math.MinInt64, math.MaxInt64, f.random.Int64()}[f.random.IntN(6)])
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		v.SetUint([]uint64{0, 1, 3, math.MaxUint64, f.random.Uint64()}[f.random.IntN(5)])
	case reflect.String:
		v.SetString(strange[f.random.IntN(len(strange))])
	case reflect.Struct:
		f.fill(v)
	case reflect.Pointer:
		if f.random.IntN(3) > 0 {
			v.Set(reflect.New(t.Elem()))
			v.Elem().Set(f.value(t.Elem()))
		}
	case reflect.Slice:
		if n := f.random.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(t, n-1, n-1))
		}
		f.elements(v)
	case reflect.Array:
		f.elements(v)
	case reflect.Map:
		if f.random.IntN(4) > 0 {
			v.Set(reflect.MakeMap(t))
			for range f.random.IntN(4) {
				v.SetMapIndex(f.value(t.Key()), f.value(t.Elem()))
			}
		}
	case reflect.Interface:
		f.message(v)
	case reflect.Invalid, reflect.Uintptr, reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128, reflect.Chan,
		reflect.Func, reflect.UnsafePointer:
		panic("BUG: no value is made for " + t.String())
	}
	return v
}

func (f filler) elements(v reflect.Value) {
	for i := range v.Len() {
		v.Index(i).Set(f.value(v.Type().Elem()))
	}
}

func (f filler) fill(v reflect.Value) {
	if v.Type() == tagsType {
		for range f.random.IntN(3) {
			v.Addr().Interface().(*kmsg.Tags).Set(f.random.Uint32(), []byte(strange[f.random.IntN(len(strange))]))
		}
		return
	}
	for _, field := range v.Fields() {
		field.Set(f.value(field.Type()))
	}
}

// message puts one of the messages into v that members send and get.
func (f filler) message(v reflect.Value) {
	keys := []kmsg.Key{
		kmsg.JoinGroup, kmsg.SyncGroup, kmsg.Heartbeat, kmsg.LeaveGroup, kmsg.OffsetCommit, kmsg.OffsetFetch,
		kmsg.TxnOffsetCommit, kmsg.ConsumerGroupHeartbeat,
	}
	n := f.random.IntN(len(keys) + 1)
	if n == len(keys) {
		return // no message at all
	}
	of := families[v.Type()][kmsg.NameForKey(int16(keys[n]))].Elem()
	message := reflect.New(of)
	message.Elem().Set(f.value(of))
	v.Set(message)
}

func TestDurationsAreWrittenToTheNanosecond(t *testing.T) {
	for _, d := range []time.Duration{0, 1, -1, 999, 1001, 1234567890123456789, math.MaxInt64, math.MinInt64} {
		requireSurvives(t, new(codec), reflect.ValueOf(&d).Elem())
	}
}
