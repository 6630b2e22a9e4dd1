package client

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrProducerClosed is why a record was refused, or given up, by a
	// Producer that was closed.
	ErrProducerClosed = errors.New("producer is closed")

	// ErrDeliveryTimeout is wrapped by the *ProduceError of a record that
	// could not be written within ProducerConfig.DeliveryTimeout.
	ErrDeliveryTimeout = errors.New("delivery timeout")

	// ErrRecordTooLarge is wrapped by the *ProduceError of a record that does
	// not fit into ProducerConfig.MaxBatchBytes.
	ErrRecordTooLarge = errors.New("record is too large")
)

// ProduceError says that a record was not written, as far as is known. It
// unwraps to the error of package kerr if a broker refused the record.
type ProduceError struct {
	Topic        string
	Partition    int32  // AnyPartition if it was not chosen yet
	MaybeWritten bool   // a broker may have written the record all the same
	Message      string // the broker's own words; "" if it had none
	Err          error
}

// Error names the partition, the cause, and what to check.
func (e *ProduceError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "produce to topic %q", e.Topic)
	if e.Partition != AnyPartition {
		fmt.Fprintf(&b, " partition %d", e.Partition)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	if e.Message != "" {
		fmt.Fprintf(&b, " (the broker says: %s)", e.Message)
	}
	if check := produceCheck(e.Err); check != "" {
		b.WriteString("; " + check)
	}
	if e.MaybeWritten {
		b.WriteString("; the record may have been written all the same")
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *ProduceError) Unwrap() error { return e.Err }
