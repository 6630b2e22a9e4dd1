package integration

import (
	"github.com/musterkafka/muster/assign"
)

// using makes a member offer these assignors.
func using(assignors ...assign.Assignor) func(*MusterConfig) {
	return func(cfg *MusterConfig) { cfg.Consumer.Assignors = assignors }
}

// static makes a member a static one.
func static(instance string) func(*MusterConfig) {
	return func(cfg *MusterConfig) { cfg.Consumer.InstanceID = instance }
}
