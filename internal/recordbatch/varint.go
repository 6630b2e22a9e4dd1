package recordbatch

// shortVarintAt reads the zigzag varint at b[i:], i not negative, if it takes one
// or two bytes and a byte follows, which is nearly always so. It returns the
// position behind it, or -1 if varintAt must be asked. It is made to be inlined,
// which a function that calls another one is not.
func shortVarintAt(b []byte, i int) (int64, int) {
	if i+1 < len(b) {
		if c := b[i]; c < 0x80 {
			return int64(c>>1) ^ -int64(c&1), i + 1
		} else if d := b[i+1]; d < 0x80 {
			u := int64(c&0x7f) | int64(d)<<7
			return u>>1 ^ -(u & 1), i + 2
		}
	}
	return 0, -1
}

// varintAt reads the zigzag varint at b[i:], i not negative, and returns the
// position behind it. If there is none, it returns 0 and a position past the end
// of b; so it does for every i past the end, so that a failure stays one.
func varintAt(b []byte, i int) (int64, int) {
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
