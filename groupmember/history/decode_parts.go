package history

import (
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// read reads a value into v, which is zero and can be set.
func (d *decoder) read(v reflect.Value) error {
	s := d.shape(v.Type())
	switch s.form {
	case boolean:
		b, err := value[bool](d, "true or false")
		v.SetBool(b)
		return err
	case signed, unsigned:
		n, err := d.number()
		if err != nil {
			return err
		}
		return setNumber(v, n)
	case enumeration:
		return d.readEnumeration(v, s)
	case duration:
		return d.readDuration(v)
	case text:
		t, err := d.text()
		v.SetString(t)
		return err
	case binary:
		return d.readBinary(v)
	case list:
		return d.readList(v)
	case table:
		return d.readTable(v)
	case record:
		return d.readRecord(v, s)
	case optional:
		if null, err := d.null(); null {
			return err
		}
		v.Set(reflect.New(v.Type().Elem()))
		return d.read(v.Elem())
	case sealed:
		return d.readSealed(v)
	case tags:
		return d.readTags(v.Addr().Interface().(*kmsg.Tags))
	case unwritable:
	}
	return fmt.Errorf("a value of type %v cannot be read", v.Type())
}

func setNumber(v reflect.Value, text string) error {
	if v.CanInt() {
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		v.SetInt(n)
		return err
	}
	n, err := strconv.ParseUint(text, 10, v.Type().Bits())
	v.SetUint(n)
	return err
}

func (d *decoder) readEnumeration(v reflect.Value, s *shape) error {
	token, err := d.token()
	if err != nil {
		return err
	}
	for n, word := range s.words {
		if word == token {
			v.SetUint(uint64(n))
			return nil
		}
	}
	if n, err := strconv.ParseUint(fmt.Sprint(token), 10, 8); err == nil {
		v.SetUint(n)
		return nil
	}
	return fmt.Errorf("%v is not a %s", token, v.Type().Name())
}

func (d *decoder) readDuration(v reflect.Value) error {
	text, err := value[string](d, "a duration")
	if err != nil {
		return err
	}
	length, err := time.ParseDuration(text)
	v.SetInt(int64(length))
	return err
}

func (d *decoder) readBinary(v reflect.Value) error {
	data, err := d.binary()
	if err != nil {
		return err
	}
	if v.Kind() == reflect.Slice {
		v.SetBytes(data)
		return nil
	}
	if len(data) != v.Len() {
		return fmt.Errorf("there are %d bytes in place of %d", len(data), v.Len())
	}
	reflect.Copy(v, reflect.ValueOf(data))
	return nil
}

func (d *decoder) readList(v reflect.Value) error {
	if null, err := d.null(); null {
		return err
	}
	if err := d.expect('['); err != nil {
		return err
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for i := 0; d.tokens.More(); i++ {
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		if err := d.read(v.Index(i)); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return d.expect(']')
}

func (d *decoder) readTable(v reflect.Value) error {
	if null, err := d.null(); null {
		return err
	}
	v.Set(reflect.MakeMap(v.Type()))
	return d.object(func(name string) error {
		element := reflect.New(v.Type().Elem()).Elem()
		err := d.read(element)
		v.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), element)
		return err
	})
}

func (d *decoder) readRecord(v reflect.Value, s *shape) error {
	return d.object(func(name string) error {
		for _, f := range s.fields {
			if f.name == name {
				return d.read(v.Field(f.index))
			}
		}
		return fmt.Errorf("%s has no such field", v.Type().Name())
	})
}

// readSealed reads a value of an interface, under the name of its type.
func (d *decoder) readSealed(v reflect.Value) error {
	if null, err := d.null(); null {
		return err
	}
	err := d.object(func(name string) error {
		t := families[v.Type()][name]
		if t == nil {
			return fmt.Errorf("there is no such %s", v.Type().Name())
		}
		if !v.IsNil() {
			return fmt.Errorf("there is a %s already", v.Type().Name())
		}
		one := reflect.New(t).Elem()
		if t.Kind() == reflect.Pointer {
			one.Set(reflect.New(t.Elem()))
			v.Set(one)
			return d.read(one.Elem())
		}
		err := d.read(one)
		v.Set(one)
		return err
	})
	if err == nil && v.IsNil() {
		return fmt.Errorf("there is no %s", v.Type().Name())
	}
	return err
}

func (d *decoder) readTags(t *kmsg.Tags) error {
	return d.object(func(name string) error {
		key, err := strconv.ParseUint(name, 10, 32)
		if err != nil {
			return err
		}
		data, err := d.binary()
		t.Set(uint32(key), data)
		return err
	})
}
