package history

import (
	"fmt"
	"reflect"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// codec writes values as JSON and reads them back. It is not safe for concurrent
// use.
type codec struct{ shapes map[reflect.Type]*shape }

// shape is what the codec knows of a type.
type shape struct {
	form   form
	fields []field          // of a struct
	words  map[uint8]string // of an enumeration
}

// form is how a type is written.
type form uint8

const (
	unwritable  form = iota
	boolean          // true
	signed           // -1
	unsigned         // 1
	enumeration      // "Stable"
	duration         // "3s"
	text             // "orders"
	binary           // base64
	list             // [...]
	table            // {"orders":[0,1]}
	record           // {"Seq":1}
	optional         // null, or what it points at
	sealed           // {"Find":{"Seq":1}}
	tags             // {"5":"base64"}, the unknown tags of a message
)

type field struct {
	name  string
	index int
	shape *shape
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	tagsType     = reflect.TypeFor[kmsg.Tags]()
	byteType     = reflect.TypeFor[byte]()
	stringerType = reflect.TypeFor[fmt.Stringer]()
)

// shape returns what is known of t, found out once.
func (c *codec) shape(t reflect.Type) *shape {
	if s := c.shapes[t]; s != nil {
		return s
	}
	if c.shapes == nil {
		c.shapes = make(map[reflect.Type]*shape)
	}
	s := new(shape)
	c.shapes[t] = s // before its fields: a type may hold its like
	s.form = formOf(t)
	switch s.form {
	case enumeration:
		s.words = words(t)
	case record:
		for i := range t.NumField() {
			f := t.Field(i)
			of := c.shape(f.Type)
			if !f.IsExported() {
				of = new(shape)
			}
			s.fields = append(s.fields, field{name: f.Name, index: i, shape: of})
		}
	case unwritable, boolean, signed, unsigned, duration, text, binary, list, table, optional, sealed, tags:
	}
	return s
}

func formOf(t reflect.Type) form {
	switch t {
	case durationType:
		return duration
	case tagsType:
		return tags
	}
	switch t.Kind() {
	case reflect.Bool:
		return boolean
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		return signed
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		if t.Kind() == reflect.Uint8 && t.Implements(stringerType) {
			return enumeration
		}
		return unsigned
	case reflect.String:
		return text
	case reflect.Slice, reflect.Array:
		if t.Elem() == byteType {
			return binary
		}
		if t.Kind() == reflect.Slice {
			return list
		}
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return table
		}
	case reflect.Struct:
		return record
	case reflect.Pointer:
		return optional
	case reflect.Interface:
		if families[t] != nil {
			return sealed
		}
	case reflect.Invalid, reflect.Uintptr, reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128, reflect.Chan,
		reflect.Func, reflect.UnsafePointer:
	}
	return unwritable
}

func errUnwritable(t reflect.Type) error {
	return fmt.Errorf("a value of type %v cannot be written", t)
}
