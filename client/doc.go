// Package client is what applications import: a [Client] for one Kafka
// cluster, and on top of it consumers, producers and admin calls.
//
// It knows brokers, routing, metadata, positions, fetching and producing. It
// does not know how a group rebalances: that is package groupmember.
package client
