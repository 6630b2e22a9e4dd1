package client

import (
	"errors"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/musterkafka/muster/groupmember/driver"
)

// said remembers of which kinds of errors was told since things last went well, so
// that what is tried again and again is told once. The texts of errors do not tell: they name
// ports and times.
type said struct {
	kinds []errorKind
}

// errorKind is what a person would call the same error.
type errorKind struct {
	code int16 // the broker's; 0 if it has not refused
	kind uint8 // what became of the membership, if that is the trouble
}

func kindOf(err error) (k errorKind) {
	if refusal, ok := errors.AsType[*kerr.Error](err); ok {
		k.code = refusal.Code
	}
	if failure, ok := errors.AsType[*driver.Error](err); ok {
		k.kind = uint8(failure.Kind)
	}
	return k
}

// first reports whether err is the first of its kind.
func (s *said) first(err error) bool {
	k := kindOf(err)
	if slices.Contains(s.kinds, k) {
		return false
	}
	s.kinds = append(s.kinds, k)
	return true
}

// well notes that it is over.
func (s *said) well() { s.kinds = nil }
