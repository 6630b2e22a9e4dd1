package client

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The hashes are those of Kafka's own test of its Java client.
func TestMurmur2IsThatOfTheJavaClient(t *testing.T) {
	for key, want := range map[string]int32{
		"21":                         -973932308,
		"foobar":                     -790332482,
		"a-little-bit-long-string":   -985981536,
		"a-little-bit-longer-string": -1486304829,
		"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
		"abc": 479470107,
	} {
		require.Equal(t, want, int32(murmur2([]byte(key))), key)
	}
}

func TestKeysLandWhereJavaPutsThem(t *testing.T) {
	for key, want := range map[string]int32{"21": 0, "foobar": 6, "a-little-bit-long-string": 8, "abc": 3} {
		require.Equal(t, want, KeyPartitioner(&Record{Key: []byte(key)}, 12), key)
	}
}

func TestAnEmptyKeyIsAKeyAndNilIsNone(t *testing.T) {
	empty := KeyPartitioner(&Record{Key: []byte{}}, 1000)
	require.NotEqual(t, AnyPartition, empty)
	require.Equal(t, empty, KeyPartitioner(&Record{Key: []byte("")}, 1000))
	require.Equal(t, AnyPartition, KeyPartitioner(&Record{}, 1000))
}

func TestEveryKeyHasAPartition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int32Range(1, 10000).Draw(t, "partitions")
		key := rapid.SliceOf(rapid.Byte()).Draw(t, "key")
		got := KeyPartitioner(&Record{Key: append([]byte{}, key...)}, n)
		require.GreaterOrEqual(t, got, int32(0))
		require.Less(t, got, n)
	})
}
