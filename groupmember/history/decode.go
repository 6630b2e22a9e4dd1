package history

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// decoder reads one line. What it reads goes into types of ours, so that neither the
// depth nor the memory of a value is more than the line gives reason for.
type decoder struct {
	*codec
	tokens *json.Decoder
	next   json.Token // already taken from tokens
	peeked bool       // whether there is a next
}

func (c *codec) decoder(line []byte) *decoder {
	tokens := json.NewDecoder(bytes.NewReader(line))
	tokens.UseNumber()
	return &decoder{codec: c, tokens: tokens}
}

var errEnds = errors.New("the line ends in the middle")

// token returns the next token: json.Delim, string, json.Number, bool or nil.
func (d *decoder) token() (json.Token, error) {
	if d.peeked {
		d.peeked = false
		return d.next, nil
	}
	token, err := d.tokens.Token()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errEnds
	}
	return token, err
}

// null takes the next token if it is null.
func (d *decoder) null() (bool, error) {
	token, err := d.token()
	if token == nil || err != nil {
		return true, err
	}
	d.next, d.peeked = token, true
	return false, nil
}

// end requires that the line holds nothing else.
func (d *decoder) end() error {
	token, err := d.tokens.Token()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%v follows where the line should end", token)
}

// value reads a token that is not a delimiter.
func value[T any](d *decoder, what string) (T, error) {
	token, err := d.token()
	v, ok := token.(T)
	if err == nil && !ok {
		err = fmt.Errorf("%v is not %s", token, what)
	}
	return v, err
}

// object reads an object, field by field. A field may come once.
func (d *decoder) object(read func(name string) error) error {
	if err := d.expect('{'); err != nil {
		return err
	}
	seen := make(map[string]bool)
	for d.tokens.More() {
		name, err := d.text()
		if err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("%q is there twice", name)
		}
		seen[name] = true
		if err := read(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return d.expect('}')
}

func (d *decoder) expect(want json.Delim) error {
	token, err := d.token()
	if err == nil && token != want {
		err = fmt.Errorf("%v is found in place of %v", token, want)
	}
	return err
}

func (d *decoder) number() (string, error) {
	n, err := value[json.Number](d, "a number")
	return n.String(), err
}

// text reads any string, as appendText writes it.
func (d *decoder) text() (string, error) {
	s, err := value[string](d, "a string")
	if data, ok := strings.CutPrefix(s, base64Mark); ok && err == nil {
		return unpack(data)
	}
	return s, err
}

func unpack(data string) (string, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(data)
	if err != nil {
		return "", fmt.Errorf("%q is not base64: %w", data, err)
	}
	return string(raw), nil
}

// binary reads base64; null is a nil slice.
func (d *decoder) binary() ([]byte, error) {
	if null, err := d.null(); null {
		return nil, err
	}
	s, err := value[string](d, "a string of base64")
	if err != nil {
		return nil, err
	}
	data, err := unpack(s)
	return []byte(data), err
}
