package integration

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// A Log keeps what a client logs, at every level, for the test to count, and
// shows it if the test fails. Its methods may be called from any goroutine.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// NewLog returns an empty Log under a name to show it with.
func NewLog(t testing.TB, name string) *Log {
	l := new(Log)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of %s:\n%s", name, strings.Join(l.Lines(), "\n"))
		}
	})
	return l
}

// Logger returns a logger that writes to l.
func (l *Log) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Write implements io.Writer for one line at a time.
func (l *Log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

// Lines returns the lines that contain all of parts.
func (l *Log) Lines(parts ...string) []string {
	l.mu.Lock()
	text := l.text.String()
	l.mu.Unlock()
	var lines []string
	for line := range strings.Lines(text) {
		if containsAll(line, parts) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

func containsAll(line string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(line, part) {
			return false
		}
	}
	return true
}
