package client

import "encoding/binary"

// AnyPartition leaves the choice of a partition to the Producer, which fills a
// batch of one partition before it goes on to another (KIP-480, KIP-794).
const AnyPartition int32 = -1

// Partitioner chooses the partition of a record, from 0 to partitions-1, or
// AnyPartition. Any other number refuses the record. It is called once for each
// record, by the goroutine that sends it, before the record waits for room: it
// may be called from several goroutines at once. It must not change rec, nor keep it.
type Partitioner func(rec *Record, partitions int32) int32

// KeyPartitioner puts a record where Kafka's Java client puts it: by the
// murmur2 hash of its key, over all partitions, those without a leader too. An empty key is a key; a
// record whose key is nil goes to any partition.
func KeyPartitioner(rec *Record, partitions int32) int32 {
	if rec.Key == nil {
		return AnyPartition
	}
	return int32(murmur2(rec.Key)&0x7fffffff) % partitions
}

// ManualPartitioner puts a record into its field Partition, which may be
// AnyPartition. Other partitioners do not read that field.
func ManualPartitioner(rec *Record, _ int32) int32 { return rec.Partition }

// murmur2 is MurmurHash2 with the seed of Kafka's Java client
// (org.apache.kafka.common.utils.Utils).
func murmur2(data []byte) uint32 {
	const (
		seed = 0x9747b28c
		m    = 0x5bd1e995
	)
	h := seed ^ uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		k := binary.LittleEndian.Uint32(data) * m
		h = h*m ^ (k^k>>24)*m
	}
	if len(data) > 0 {
		var tail [4]byte
		copy(tail[:], data)
		h = (h ^ binary.LittleEndian.Uint32(tail[:])) * m
	}
	h = (h ^ h>>13) * m
	return h ^ h>>15
}
