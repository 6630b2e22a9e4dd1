package integration

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if config, ok := os.LookupEnv(childVariable); ok {
		os.Exit(childMain(config))
	}
	if config, ok := os.LookupEnv(PeerVariable); ok {
		os.Exit(PeerMain(config))
	}
	os.Exit(Main(m))
}
