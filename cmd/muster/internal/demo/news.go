package demo

import (
	"bytes"
	"log/slog"
)

// newsWriter turns a client's log lines into news.
type newsWriter struct {
	board *board
	name  string
	net   *network // nil: cannot crash
}

func (w newsWriter) Write(line []byte) (int, error) {
	if w.net == nil || !w.net.isDead() {
		w.board.tell("%s: %s", w.name, bytes.TrimSpace(line))
	}
	return len(line), nil
}

// shorten drops the time of a log line, since the board has its own.
func shorten(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}
