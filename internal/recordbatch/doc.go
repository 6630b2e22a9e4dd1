// Package recordbatch reads and writes the batches in which Kafka stores and
// carries records: format v2 both ways, and the message sets v0 and v1 of old
// segments for reading.
//
// A Scanner cuts the batches of one partition out of a fetch answer, where
// they lie. A Batch is opened into Records, which is when it is decompressed,
// and Records decodes one record at a time as it is asked for. A Builder goes
// the other way: each record is encoded once, into the batch that is sent.
//
// Nothing is copied that need not be, so nearly everything returned here is
// borrowed; each comment says for how long. Nothing read is trusted: damaged or
// hostile bytes give an error, never a panic, and memory is bounded by a limit
// of the caller's.
//
// The package knows no topics, partitions, positions, requests, transactions or
// clocks, and starts no goroutine.
package recordbatch
