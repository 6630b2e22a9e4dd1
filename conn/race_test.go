//go:build race

package conn

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

const raceDetector = true

func TestReleasedMemoryIsOverwritten(t *testing.T) {
	f := newFrame(8)
	copy(f.data, "deadbeef")
	a := Answer{frame: f, body: f.data[4:]}
	kept := a.Body()
	a.Release()
	require.Equal(t, bytes.Repeat([]byte{0xdb}, 4), kept)
}
