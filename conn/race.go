//go:build race

package conn

// overwrite makes use after Release visible.
func overwrite(data []byte) {
	for i := range data {
		data[i] = 0xdb
	}
}
