//go:build !race

package conn

const raceDetector = false
