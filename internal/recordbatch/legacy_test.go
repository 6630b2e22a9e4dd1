package recordbatch

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// message encodes one message of format v0 or v1 with the twin.
func message(magic int8, offset int64, attributes int8, timestamp int64, key, value []byte) []byte {
	var raw []byte
	if magic == 0 {
		raw = (&kmsg.MessageV0{Offset: offset, Magic: 0, Attributes: attributes, Key: key, Value: value}).AppendTo(nil)
	} else {
		raw = (&kmsg.MessageV1{Offset: offset, Magic: 1, Attributes: attributes, Timestamp: timestamp, Key: key, Value: value}).AppendTo(nil)
	}
	return sealMessage(raw)
}

func sealMessage(raw []byte) []byte {
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	binary.BigEndian.PutUint32(raw[12:], crc32.ChecksumIEEE(raw[16:]))
	return raw
}

func pack(t *testing.T, codec Codec, set []byte) []byte {
	t.Helper()
	c, err := NewCompressor(codec)
	require.NoError(t, err)
	return c.append(nil, set)
}

func TestUncompressedMessages(t *testing.T) {
	k, v := []byte("k"), []byte("v")
	require.Equal(t, []row{{5, -1, k, v, nil}}, readAll(t, message(0, 5, 0, 0, k, v)))
	require.Equal(t, []row{{5, -1, nil, nil, nil}}, readAll(t, message(0, 5, 0, 0, nil, nil)))
	require.Equal(t, []row{{5, 99, k, nil, nil}}, readAll(t, message(1, 5, 0, 99, k, nil)))
	require.Equal(t, []row{{5, 99, []byte{}, []byte{}, nil}}, readAll(t, message(1, 5, logAppendTimeFlag, 99, []byte{}, []byte{})))

	b := only(t, message(1, 5, logAppendTimeFlag, 99, k, v))
	b.payload = nil
	require.Equal(t, Batch{
		BaseOffset: 5, LastOffset: 5, LeaderEpoch: -1, Magic: 1, LogAppendTime: true,
		FirstTimestamp: 99, MaxTimestamp: 99, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1,
		Count: 1, Size: 36,
	}, b)
}

func TestCompressedMessages(t *testing.T) {
	a, b, c := []byte("aaaaaaaaaa"), []byte("bbbbbbbbbb"), []byte("cccccccccc")
	inner := func(magic int8, offsets ...int64) (set []byte) {
		for i, offset := range offsets {
			set = append(set, message(magic, offset, 0, int64(10+i), nil, [][]byte{a, b, c}[i])...)
		}
		return set
	}
	for _, test := range []struct {
		name    string
		wrapper func(codec Codec, set []byte) []byte
		set     []byte
		want    []row
	}{
		{
			"v0 has absolute offsets",
			func(codec Codec, set []byte) []byte { return message(0, 52, int8(codec), 0, nil, set) },
			inner(0, 50, 51, 52),
			[]row{{50, -1, nil, a, nil}, {51, -1, nil, b, nil}, {52, -1, nil, c, nil}},
		},
		{
			"v1 has relative offsets",
			func(codec Codec, set []byte) []byte { return message(1, 52, int8(codec), 12, nil, set) },
			inner(1, 0, 1, 2),
			[]row{{50, 10, nil, a, nil}, {51, 11, nil, b, nil}, {52, 12, nil, c, nil}},
		},
		{
			"v1 with holes left by compaction",
			func(codec Codec, set []byte) []byte { return message(1, 59, int8(codec), 12, nil, set) },
			inner(1, 3, 7),
			[]row{{55, 10, nil, a, nil}, {59, 11, nil, b, nil}},
		},
		{
			"v1 with log append time",
			func(codec Codec, set []byte) []byte {
				return message(1, 51, int8(codec)|logAppendTimeFlag, 777, nil, set)
			},
			inner(1, 0, 1),
			[]row{{50, 777, nil, a, nil}, {51, 777, nil, b, nil}},
		},
		{
			"the last inner message is cut off",
			func(codec Codec, set []byte) []byte { return message(1, 50, int8(codec), 12, nil, set) },
			inner(1, 0, 1)[:50],
			[]row{{50, 10, nil, a, nil}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for codec := Gzip; codec <= LZ4; codec++ {
				raw := test.wrapper(codec, pack(t, codec, test.set))
				require.Equal(t, test.want, readAll(t, raw), codec)
				require.EqualValues(t, -1, only(t, raw).Count)
			}
		})
	}
}

// Producers of format v0 wrote a wrong checksum into the header of LZ4 frames
// (KIP-57).
func TestWrongLZ4HeaderChecksumIsIgnored(t *testing.T) {
	packed := pack(t, LZ4, message(0, 50, 0, 0, nil, []byte("value")))
	packed[6] = ^packed[6]
	require.Len(t, readAll(t, message(0, 50, int8(LZ4), 0, nil, packed)), 1)
}

func TestCorruptMessages(t *testing.T) {
	sound := message(1, 0, 0, 10, []byte("k"), []byte("value"))
	changed := func(at int, to byte) []byte {
		raw := append([]byte(nil), sound...)
		raw[at] = to
		return raw
	}
	for _, test := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"key longer than the message", sealMessage(changed(29, 200)), "key or value"},
		{"value longer than the message", sealMessage(changed(34, 200)), "key or value"},
		{"value shorter than the message", sealMessage(changed(34, 4)), "key or value"},
		{"null value under compression", message(1, 9, int8(Gzip), 0, nil, nil), "value of a compressed message is not there"},
		{"nothing under compression", message(1, 9, int8(Gzip), 0, nil, pack(t, Gzip, nil)), "holds no message"},
		{"not compressed at all", message(1, 9, int8(Gzip), 0, nil, sound), "corrupt gzip records"},
		{"zstd, which v1 has not", message(1, 9, int8(Zstd), 0, nil, sound), "corrupt zstd records"},
		{"compressed twice", message(1, 9, int8(Gzip), 0, nil, pack(t, Gzip,
			message(1, 0, int8(Gzip), 0, nil, pack(t, Gzip, sound)))), "compressed message within a compressed message"},
		{"inner offsets above the outer", message(1, 0, int8(Gzip), 0, nil, pack(t, Gzip,
			message(1, 1, 0, 0, nil, nil))), "above the outer one"},
		{"inner offset negative", message(1, 9, int8(Gzip), 0, nil, pack(t, Gzip,
			message(1, -5, 0, 0, nil, nil))), "is negative"},
		{"v0 inner offset above the outer", message(0, 9, int8(Gzip), 0, nil, pack(t, Gzip,
			message(0, 10, 0, 0, nil, nil))), "outside the offsets"},
		{"inner message of format v2", message(1, 9, int8(Gzip), 0, nil, pack(t, Gzip,
			twinBatch(threeBatch()))), "above the outer one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := only(t, test.raw)
			r, err := b.Open(nil, roomy)
			if err == nil {
				collect(&r)
				err = r.Err()
			}
			require.ErrorContains(t, err, test.want)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, b.LastOffset, e.Offset)
			require.Equal(t, b.LastOffset+1, e.Resume)
		})
	}
}
