package history

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// append writes v behind b. Equal values give equal bytes.
func (c *codec) append(b []byte, v reflect.Value) ([]byte, error) {
	s := c.shape(v.Type())
	switch s.form {
	case boolean:
		return strconv.AppendBool(b, v.Bool()), nil
	case signed:
		return strconv.AppendInt(b, v.Int(), 10), nil
	case unsigned:
		return strconv.AppendUint(b, v.Uint(), 10), nil
	case enumeration:
		if word, ok := s.words[uint8(v.Uint())]; ok {
			return appendText(b, word), nil
		}
		return strconv.AppendUint(b, v.Uint(), 10), nil
	case duration:
		return appendText(b, time.Duration(v.Int()).String()), nil
	case text:
		return appendText(b, v.String()), nil
	case binary:
		return appendBinary(b, v), nil
	case list:
		return c.appendList(b, v)
	case table:
		return c.appendTable(b, v)
	case record:
		return c.appendRecord(b, v, s)
	case optional:
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		return c.append(b, v.Elem())
	case sealed:
		return c.appendSealed(b, v)
	case tags:
		return appendTags(b, v.Interface().(kmsg.Tags)), nil
	case unwritable:
	}
	return b, errUnwritable(v.Type())
}

func (c *codec) appendList(b []byte, v reflect.Value) (_ []byte, err error) {
	if v.IsNil() {
		return append(b, "null"...), nil
	}
	b = append(b, '[')
	for i := range v.Len() {
		b = separate(b)
		if b, err = c.append(b, v.Index(i)); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

func (c *codec) appendTable(b []byte, v reflect.Value) (_ []byte, err error) {
	if v.IsNil() {
		return append(b, "null"...), nil
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	b = append(b, '{')
	for _, key := range keys {
		b = append(appendText(separate(b), key.String()), ':')
		if b, err = c.append(b, v.MapIndex(key)); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// appendRecord leaves out fields that are zero, except enumerations, whose zero is a
// word like any other.
func (c *codec) appendRecord(b []byte, v reflect.Value, s *shape) (_ []byte, err error) {
	b = append(b, '{')
	for _, f := range s.fields {
		value := v.Field(f.index)
		if f.shape.form == unwritable {
			return b, errUnwritable(v.Type())
		}
		if f.shape.form != enumeration && value.IsZero() {
			continue
		}
		b = append(appendText(separate(b), f.name), ':')
		if b, err = c.append(b, value); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// appendSealed writes what an interface holds, under the name of its type.
func (c *codec) appendSealed(b []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(b, "null"...), nil
	}
	name, value, err := families[v.Type()].member(v.Elem())
	if err != nil {
		return b, err
	}
	b = append(appendText(append(b, '{'), name), ':')
	if b, err = c.append(b, value); err != nil {
		return b, err
	}
	return append(b, '}'), nil
}

func appendTags(b []byte, t kmsg.Tags) []byte {
	b = append(b, '{')
	t.Each(func(key uint32, value []byte) {
		b = append(strconv.AppendUint(append(separate(b), '"'), uint64(key), 10), '"', ':')
		b = appendBinary(b, reflect.ValueOf(value))
	})
	return append(b, '}')
}

func appendBinary(b []byte, v reflect.Value) []byte {
	if v.Kind() == reflect.Slice && v.IsNil() {
		return append(b, "null"...)
	}
	data := make([]byte, v.Len())
	reflect.Copy(reflect.ValueOf(data), v)
	return append(base64.StdEncoding.AppendEncode(append(b, '"'), data), '"')
}

// base64Mark is in front of a string that is written in base64.
const base64Mark = "base64:"

// appendText writes any string, so that it can be read back as it was.
func appendText(b []byte, s string) []byte {
	if !utf8.ValidString(s) || strings.HasPrefix(s, base64Mark) {
		b = append(append(b, '"'), base64Mark...)
		return append(base64.StdEncoding.AppendEncode(b, []byte(s)), '"')
	}
	if strings.IndexFunc(s, escaped) < 0 {
		return append(append(append(b, '"'), s...), '"')
	}
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string can be encoded, and a buffer takes it
	return append(b, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
}

// escaped reports whether r may not stand in a JSON string as it is.
func escaped(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }

// separate writes the comma in front of all elements but the first.
func separate(b []byte) []byte {
	switch b[len(b)-1] {
	case '[', '{':
		return b
	}
	return append(b, ',')
}
