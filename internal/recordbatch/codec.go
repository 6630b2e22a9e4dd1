package recordbatch

import "fmt"

// Codec says how the records of a batch are compressed. Its values are those of
// the lowest three bits of a batch's attributes.
type Codec int8

// The codecs of Kafka. Zstd needs a broker and consumers of Kafka 2.1 or later
// (KIP-110).
const (
	None Codec = iota
	Gzip
	Snappy
	LZ4
	Zstd
)

// String returns Kafka's name of c, as in the topic setting compression.type.
func (c Codec) String() string {
	switch c {
	case None:
		return "none"
	case Gzip:
		return "gzip"
	case Snappy:
		return "snappy"
	case LZ4:
		return "lz4"
	case Zstd:
		return "zstd"
	default:
		return fmt.Sprintf("codec %d", int8(c))
	}
}
