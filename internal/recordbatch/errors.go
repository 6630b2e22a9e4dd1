package recordbatch

import (
	"errors"
	"fmt"
)

// ErrTooLarge is wrapped by the error of a batch whose records would take more
// memory, once decompressed, than the caller allows. The batch itself may be
// sound: a higher limit reads it.
var ErrTooLarge = errors.New("too large")

// Error says that a batch cannot be read.
type Error struct {
	// Offset is the first offset of the batch, as far as its bytes can be
	// believed.
	Offset int64

	// Resume is the offset at which to go on for whoever wants to skip the
	// batch, or -1 if the batch is so damaged that its end is not known.
	Resume int64

	// Err is the cause.
	Err error
}

// Error names the offset and the cause.
func (e *Error) Error() string {
	return fmt.Sprintf("record batch at offset %d: %v", e.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
