package demo

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// embedded starts a broker inside this process. stop ends it.
func embedded() (addrs []string, stop func(), err error) {
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1),
		kfake.GroupMinSessionTimeout(time.Second),
		kfake.BrokerConfigs(map[string]string{"group.initial.rebalance.delay.ms": "0"}),
	)
	if err != nil {
		return nil, nil, fmt.Errorf("start the broker inside this process: %w", err)
	}
	return cluster.ListenAddrs(), cluster.Close, nil
}
