package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheZeroProducerConfigIsValid(t *testing.T) {
	var cfg ProducerConfig
	require.NoError(t, cfg.validate())
	d := cfg.withDefaults()
	require.Equal(t, 1<<20, d.MaxBatchBytes)
	require.Equal(t, 64<<20, d.BufferBytes)
	require.Equal(t, 2*time.Minute, d.DeliveryTimeout)
	require.Equal(t, int16(-1), d.Acks.wire())
	require.Zero(t, d.Linger)
}

func TestEveryProblemOfAProducerConfigIsNamedAtOnce(t *testing.T) {
	cfg := ProducerConfig{
		Acks: 9, Compression: 7, Linger: -1, MaxBatchBytes: -1, BufferBytes: -1, DeliveryTimeout: -1, CloseTimeout: -1,
	}
	err := cfg.validate()
	for _, field := range []string{"Acks", "Compression", "Linger", "MaxBatchBytes", "BufferBytes", "DeliveryTimeout", "CloseTimeout"} {
		require.ErrorContains(t, err, field+" is ")
	}
}

func TestLimitsThatContradictOneAnotherAreRefused(t *testing.T) {
	for want, cfg := range map[string]ProducerConfig{
		"BufferBytes is 10: it must not be below MaxBatchBytes (1048576)": {BufferBytes: 10},
		"MaxBatchBytes is 1073741824":                                     {MaxBatchBytes: 1 << 30},
		"Linger is 3m0s: it must be below DeliveryTimeout (2m0s)":         {Linger: 3 * time.Minute},
	} {
		require.ErrorContains(t, cfg.validate(), want)
	}
	require.NoError(t, (&ProducerConfig{MaxBatchBytes: 64 << 20}).validate())
}
