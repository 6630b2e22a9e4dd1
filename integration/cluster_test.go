package integration

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOneBrokerAnswers(t *testing.T) {
	c := Shared(t)
	id, err := c.Coordinator(t.Context(), "group")
	require.NoError(t, err)
	require.Equal(t, 1, id)
}
