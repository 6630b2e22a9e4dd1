// Package conn is one connection to one Kafka broker: it turns kmsg requests
// into bytes and bytes into answers.
//
// It knows frames, the versions that both ends speak, pipelining, time limits
// and throttling. It does not know groups, topics, retries or other brokers: a
// Conn that has ended stays ended, and its owner dials another one.
//
// A broker answers the requests of one connection one after another, in order.
// A request that the broker holds back (JoinGroup, SyncGroup, a waiting Fetch)
// therefore holds back everything that was sent behind it. What may wait does
// not belong on a connection with what may not.
package conn
