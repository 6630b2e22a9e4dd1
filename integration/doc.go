// Package integration tests muster on a real Kafka, in containers: brokers to
// start, stop and kill, other clients to meet, and a judge of who owned what.
//
// It knows Docker, Kafka's own tools and the public face of other clients. It
// does not know the inside of muster.
//
// A test asks for a cluster with [Shared], [SharedThree] or, if it breaks
// brokers, [Start]. Without a Docker engine and an image such a test is
// skipped, and fails where CI=true; integration/setup/ensure provides both.
package integration
