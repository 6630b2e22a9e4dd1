package conn

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
)

const quotedBytes = 32 // of what a stranger says

// explainClosed says what it may mean that the peer hung up instead of answering
// the first request.
func explainClosed(err error) error {
	return fmt.Errorf("connection closed before the first answer: does the listener expect TLS? "+
		"is this the port of a Kafka listener? or is the broker starting or stopping? (%w)", err)
}

// explainStranger guesses who begins its first answer with head, which is not
// how a Kafka broker does. It has at least four bytes.
func explainStranger(head []byte) error {
	switch {
	case bytes.HasPrefix(head, []byte{0x15, 3}):
		return fmt.Errorf("answer is a TLS alert: the listener expects TLS")
	case bytes.HasPrefix(head, []byte{0x16, 3}):
		return fmt.Errorf("answer is a TLS handshake: the listener expects TLS")
	case bytes.HasPrefix(head, []byte("HTTP")):
		return fmt.Errorf("answer is HTTP (%q): this is the port of an HTTP server, not of a Kafka listener", line(head))
	case isText(head):
		return fmt.Errorf("answer is text (%q): this is not the port of a Kafka listener", line(head))
	}
	size := int32(binary.BigEndian.Uint32(head))
	return fmt.Errorf("first answer claims a size of %d bytes, which no broker sends: is this the port of a Kafka listener?", size)
}

// line returns the first line of text.
func line(text []byte) string {
	first, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimRight(first, "\r")
}

func isText(data []byte) bool {
	for _, b := range line(data) {
		if (b < ' ' || b > '~') && b != '\t' {
			return false
		}
	}
	return true
}
