package history

import (
	"fmt"
	"reflect"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/musterkafka/muster/groupmember"
)

// The values of the sealed types, one of each type. A type that is missing here
// cannot be written or read; a test compares the lists with package groupmember.
var (
	events = typesOf[groupmember.Event](
		groupmember.Found{}, groupmember.Replied{}, groupmember.Encoded{}, groupmember.Planned{}, groupmember.Decoded{},
		groupmember.Released{}, groupmember.Start{}, groupmember.Rejoin{}, groupmember.Asked{}, groupmember.Commit{}, groupmember.Withdraw{},
		groupmember.LookUp{}, groupmember.Leave{}, groupmember.Abandon{}, groupmember.Elapsed{},
	)
	actions = typesOf[groupmember.Action](
		groupmember.Find{}, groupmember.Send{}, groupmember.Encode{}, groupmember.Plan{}, groupmember.Decode{},
		groupmember.Resolve{}, groupmember.Revoke{}, groupmember.Cancel{}, groupmember.Assigned{}, groupmember.Suspended{},
		groupmember.Resumed{}, groupmember.Committed{}, groupmember.LookedUp{}, groupmember.Warned{}, groupmember.Rebalanced{},
		groupmember.Moved{}, groupmember.Exit{},
	)
	requests  = messages(kmsg.RequestForKey)
	responses = messages(kmsg.ResponseForKey)
)

// family is the types that a value of an interface may have, by name.
type family map[string]reflect.Type

func typesOf[T any](all ...T) family {
	f := make(family, len(all))
	for _, one := range all {
		t := reflect.TypeOf(one)
		f[t.Name()] = t
	}
	return f
}

// messages are the pointers to requests or responses of all APIs, by the API's
// name.
func messages[M any](forKey func(int16) M) family {
	f := make(family)
	for key := range int16(kmsg.MaxKey + 1) {
		if t := reflect.TypeOf(forKey(key)); t != nil {
			f[kmsg.NameForKey(key)] = t
		}
	}
	return f
}

// families are the interfaces that can be written and read.
var families = map[reflect.Type]family{
	reflect.TypeFor[groupmember.Event]():  events,
	reflect.TypeFor[groupmember.Action](): actions,
	reflect.TypeFor[kmsg.Request]():       requests,
	reflect.TypeFor[kmsg.Response]():      responses,
}

// member returns the name of v's type in the family, and v. A struct with nothing
// but an embedded message, as there are to cap the message's version, is that message.
func (f family) member(v reflect.Value) (string, reflect.Value, error) {
	if v.Kind() == reflect.Struct && v.NumField() == 1 && v.Type().Field(0).Anonymous {
		v = v.Field(0)
	}
	name := v.Type().Name()
	if v.Kind() == reflect.Pointer {
		name = ""
		if m, ok := v.Interface().(interface{ Key() int16 }); ok && !v.IsNil() {
			name = kmsg.NameForKey(m.Key())
		}
	}
	if f[name] != v.Type() {
		return "", v, fmt.Errorf("a value of type %v cannot be written", v.Type())
	}
	return name, v, nil
}

// words returns the names of an enumeration's values, which are numbered from 0.
// The first name that comes again is what a value without one says.
func words(t reflect.Type) map[uint8]string {
	names, taken := make(map[uint8]string), make(map[string]bool)
	for n := range 256 {
		v := reflect.New(t).Elem()
		v.SetUint(uint64(n))
		name := v.Interface().(fmt.Stringer).String()
		if taken[name] {
			break
		}
		names[uint8(n)], taken[name] = name, true
	}
	return names
}
