package integration

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports of brokers come from below the range that systems give to outgoing
// connections, so that nobody takes the port of a broker while it is stopped.
const (
	lowestPort  = 20000
	highestPort = 31999
)

// freePorts returns n different ports of 127.0.0.1 on which nothing listens.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range 100 {
		port := lowestPort + rand.IntN(highestPort-lowestPort+1)
		listener, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err != nil {
			continue
		}
		// All are held until the last is found, or one could come twice.
		defer listener.Close()
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("find %d free ports from %d to %d: only %d in 100 tries", n, lowestPort, highestPort, len(ports))
}
