package assign

import (
	"bytes"
	"cmp"
	"strings"
)

// compareJava orders strings as Java does, by UTF-16 code unit. For valid UTF-8
// that differs from the order of bytes in one way: characters from U+10000 up
// (lead bytes from F0) come before U+E000 to U+FFFF (lead bytes EE and EF).
// Members of every client must agree on the order, or partitions wander each
// time that another client leads.
func compareJava(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return cmp.Compare(javaWeight(a[i]), javaWeight(b[i]))
		}
	}
	return cmp.Compare(len(a), len(b))
}

// javaWeight moves the two lead bytes behind all other bytes. In valid UTF-8
// they are never continuation bytes, and on any bytes the order stays total.
func javaWeight(b byte) int {
	if b == 0xEE || b == 0xEF {
		return int(b) + 0x100
	}
	return int(b)
}

// compareMembers is the order in which Kafka's range and round-robin assignors
// serve members: static ones first, by instance ID, then dynamic ones by ID. IDs
// decide between equal instance IDs, which no valid group has.
func compareMembers(a, b Member) int {
	switch {
	case a.InstanceID != "" && b.InstanceID != "":
		return cmp.Or(compareJava(a.InstanceID, b.InstanceID), compareJava(a.ID, b.ID))
	case a.InstanceID != "":
		return -1
	case b.InstanceID != "":
		return 1
	}
	return compareJava(a.ID, b.ID)
}

// compareJoined is ascending by ID. The rest only makes the order total.
func compareJoined(a, b Joined) int {
	return cmp.Or(
		cmp.Compare(a.ID, b.ID),
		cmp.Compare(a.InstanceID, b.InstanceID),
		bytes.Compare(a.Metadata, b.Metadata),
	)
}

// compareIDs is ascending by ID.
func compareIDs(a, b Member) int { return strings.Compare(a.ID, b.ID) }
