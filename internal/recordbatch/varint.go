package recordbatch

// varintAt reads the zigzag varint at b[i:] and returns the position behind it.
// If there is none, it returns 0 and a position past the end of b; so it does for
// every i past the end, so that a failure stays one.
//
// It is small enough to be inlined; what takes more than one byte does not.
func varintAt(b []byte, i int) (int64, int) {
	if uint(i) < uint(len(b)) && b[i] < 0x80 {
		return int64(b[i]>>1) ^ -int64(b[i]&1), i + 1
	}
	return longVarintAt(b, i)
}

func longVarintAt(b []byte, i int) (int64, int) {
	if uint(i) < uint(len(b)) {
		b, start := b[i:], i
		var u uint64
		for k, c := range b {
			if k == 9 && c > 1 {
				break // more than 64 bits
			}
			u |= uint64(c&0x7f) << (7 * k)
			if c < 0x80 {
				return int64(u>>1) ^ -int64(u&1), start + k + 1
			}
		}
		i = start
	}
	return 0, len(b) + 1
}

// appendVarint appends v as a zigzag varint.
func appendVarint(dst []byte, v int64) []byte {
	u := uint64(v)<<1 ^ uint64(v>>63)
	for u >= 0x80 {
		dst = append(dst, byte(u)|0x80)
		u >>= 7
	}
	return append(dst, byte(u))
}
