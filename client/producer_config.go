package client

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/musterkafka/muster/internal/recordbatch"
)

const (
	defaultProduceBatchBytes  = 1 << 20
	defaultProduceBufferBytes = 64 << 20
	defaultDeliveryTimeout    = 2 * time.Minute
	defaultProduceClose       = 30 * time.Second
	largestProduceBatch       = 64 << 20 // below what a connection takes in one request
)

// Acks says when a broker acknowledges records.
type Acks int8

const (
	// AcksAll waits for all replicas that are in sync.
	AcksAll Acks = iota
	// AcksLeader waits for the partition's leader only: if that one dies
	// before the others have copied a record, it is lost.
	AcksLeader
	// AcksNone waits for nobody: a record counts as done when it was written
	// to the connection, and its offset is -1. Nothing tells if it was lost.
	AcksNone
)

// String returns the value of Kafka's setting acks.
func (a Acks) String() string {
	switch a {
	case AcksAll:
		return "all"
	case AcksLeader:
		return "1"
	case AcksNone:
		return "0"
	default:
		return fmt.Sprintf("acks %d", int8(a))
	}
}

// wire is the number of a in a Produce request.
func (a Acks) wire() int16 {
	switch a {
	case AcksLeader:
		return 1
	case AcksNone:
		return 0
	case AcksAll:
	}
	return -1
}

// Codec is a compression of record batches. A batch that would not shrink stays as it
// is.
type Codec = recordbatch.Codec

// The codecs of Kafka.
const (
	NoCompression = recordbatch.None
	Gzip          = recordbatch.Gzip
	Snappy        = recordbatch.Snappy
	LZ4           = recordbatch.LZ4
	Zstd          = recordbatch.Zstd
)

// ProducerConfig says how a Producer writes. The zero value works. It is not
// written to after it was passed on. Negative values are refused.
type ProducerConfig struct {
	// Acks says what a record must have reached to count as written. Zero
	// means AcksAll.
	Acks Acks

	// Compression is applied to whole batches. Zero means none: it costs
	// nobody's processor anything. LZ4 and Zstd pay where the network or the disks are slow.
	Compression Codec

	// Linger is how long a record may wait for others to share its batch.
	// Zero means that it does not: as there is one batch of a partition on its way at a time, records
	// gather behind it as soon as they come fast, and only then. Flush, Close and a full batch end the wait.
	Linger time.Duration

	// MaxBatchBytes limits a batch, before compression, and so a single
	// record. Brokers refuse what exceeds their message.max.bytes, or the topic's
	// max.message.bytes. Zero means 1 MiB, as brokers have it by default.
	MaxBatchBytes int

	// BufferBytes limits the records that wait to be written or for their
	// acknowledgement, as they are encoded before compression. Send waits while they would exceed it,
	// and while more than that waits for callbacks to return. It may not be below MaxBatchBytes. Zero means 64 MiB.
	BufferBytes int

	// DeliveryTimeout limits how long a record is tried for after Send has
	// taken it (KIP-91), and how long Send waits for a topic to exist. Zero
	// means 2 min.
	DeliveryTimeout time.Duration

	// CloseTimeout limits Close, unless its context has a nearer deadline.
	// Zero means 30 s.
	CloseTimeout time.Duration

	// Partitioner chooses the partition of each record. Nil means
	// KeyPartitioner.
	Partitioner Partitioner
}

// validate returns every problem of the configuration.
func (c *ProducerConfig) validate() error {
	var problems []error
	if c.Acks < AcksAll || c.Acks > AcksNone {
		problems = append(problems, fmt.Errorf("Acks is %d: it must be AcksAll, AcksLeader or AcksNone", c.Acks))
	}
	if c.Compression < NoCompression || c.Compression > Zstd {
		problems = append(problems, fmt.Errorf("Compression is %d: it must be NoCompression, Gzip, Snappy, LZ4 or Zstd", c.Compression))
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"Linger", c.Linger},
		{"DeliveryTimeout", c.DeliveryTimeout},
		{"CloseTimeout", c.CloseTimeout},
	} {
		if d.value < 0 {
			problems = append(problems, fmt.Errorf("%s is %v: it must not be negative; zero means the default", d.name, d.value))
		}
	}
	problems = append(problems, c.sizeProblems()...)
	if d := c.withDefaults(); d.Linger >= d.DeliveryTimeout && d.DeliveryTimeout > 0 {
		problems = append(problems, fmt.Errorf("Linger is %v: it must be below DeliveryTimeout (%v), or nothing would be sent in time", d.Linger, d.DeliveryTimeout))
	}
	if len(problems) > 0 {
		return fmt.Errorf("producer config: %w", errors.Join(problems...))
	}
	return nil
}

func (c *ProducerConfig) sizeProblems() (problems []error) {
	for _, n := range []struct {
		name  string
		value int
	}{
		{"MaxBatchBytes", c.MaxBatchBytes},
		{"BufferBytes", c.BufferBytes},
	} {
		if n.value < 0 {
			problems = append(problems, fmt.Errorf("%s is %d: it must not be negative; zero means the default", n.name, n.value))
		}
	}
	switch d := c.withDefaults(); {
	case d.MaxBatchBytes > largestProduceBatch:
		problems = append(problems, fmt.Errorf("MaxBatchBytes is %d: it may be %d at most", d.MaxBatchBytes, largestProduceBatch))
	case d.BufferBytes >= 0 && d.BufferBytes < d.MaxBatchBytes:
		problems = append(problems, fmt.Errorf("BufferBytes is %d: it must not be below MaxBatchBytes (%d)", d.BufferBytes, d.MaxBatchBytes))
	}
	return problems
}

func (c ProducerConfig) withDefaults() ProducerConfig {
	c.MaxBatchBytes = cmp.Or(c.MaxBatchBytes, defaultProduceBatchBytes)
	c.BufferBytes = cmp.Or(c.BufferBytes, max(defaultProduceBufferBytes, c.MaxBatchBytes))
	c.DeliveryTimeout = cmp.Or(c.DeliveryTimeout, defaultDeliveryTimeout)
	c.CloseTimeout = cmp.Or(c.CloseTimeout, defaultProduceClose)
	if c.Partitioner == nil {
		c.Partitioner = KeyPartitioner
	}
	return c
}
