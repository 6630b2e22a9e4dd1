package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGroupsHoldTheirPromises(t *testing.T) {
	for seed := range uint64(200) {
		r := Run(seed, nil)
		require.Empty(t, r.Violation, "seed %d", seed)
	}
}
