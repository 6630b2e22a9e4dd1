package client

import (
	"errors"
	"fmt"
)

var (
	// ErrConsumerClosed is yielded by a loop that starts after Close.
	ErrConsumerClosed = errors.New("consumer is closed")

	// ErrBusy is yielded by a loop that starts while another one of the same
	// Consumer is running.
	ErrBusy = errors.New("another loop of this consumer is running: there can be one at a time")

	// ErrNoOffset is wrapped by a *PartitionError with ResetNone, when nothing
	// is committed or the committed offset is not there any more.
	ErrNoOffset = errors.New("there is no offset to start at, and ConsumerConfig.Reset is ResetNone: commit one, or choose another Reset")

	// ErrNotOwned is returned by Skip for a partition that was taken back.
	ErrNotOwned = errors.New("the partition is not owned any more")
)

// PartitionError says that reading a partition does not go on by itself. The
// Consumer tries again as soon as there is a loop; Consumer.Skip goes past what
// cannot be read.
type PartitionError struct {
	Topic     string
	Partition int32
	Offset    int64 // of the first record that was not read; -1 if it is not known
	Err       error

	owned  *ownedPartition
	resume int64 // where Skip goes on; -1 if there is nothing to skip
}

// Error names the partition, the offset and the cause.
func (e *PartitionError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("topic %q partition %d: %v", e.Topic, e.Partition, e.Err)
	}
	return fmt.Sprintf("topic %q partition %d at offset %d: %v", e.Topic, e.Partition, e.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *PartitionError) Unwrap() error { return e.Err }

// partitionError makes err one of p's.
func partitionError(p *ownedPartition, offset, resume int64, err error) *PartitionError {
	return &PartitionError{
		Topic: p.key.topic, Partition: p.key.partition, Offset: offset, Err: err,
		owned: p, resume: resume,
	}
}
