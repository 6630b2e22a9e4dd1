package conn

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// listen serves one connection on a loopback port and returns its address.
func listen(t *testing.T, serve func(net.Conn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		serve(nc)
	})
	t.Cleanup(func() {
		l.Close()
		wg.Wait()
	})
	return l.Addr().String()
}

// says returns a server that reads one request and answers with text.
func says(text string) func(net.Conn) {
	return func(nc net.Conn) {
		nc.Read(make([]byte, 1<<10))
		io.WriteString(nc, text)
		io.Copy(io.Discard, nc)
	}
}

func TestAStrangerOnThePortIsNamed(t *testing.T) {
	for _, test := range []struct {
		name  string
		serve func(net.Conn)
		want  string
	}{
		{
			"HTTP server", says("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
			`answer is HTTP ("HTTP/1.1 400 Bad Request"): this is the port of an HTTP server, not of a Kafka listener`,
		},
		{"TLS alert", says("\x15\x03\x03\x00\x02\x02\x46"), "answer is a TLS alert: the listener expects TLS"},
		{"TLS handshake", says("\x16\x03\x01\x00\x05"), "answer is a TLS handshake: the listener expects TLS"},
		{"SSH server", says("SSH-2.0-OpenSSH_9.6\r\n"), `answer is text ("SSH-2.0-OpenSSH_9.6"): this is not the port of a Kafka listener`},
		{"mail server", says("220 mail.example.org ESMTP ready\r\n"), "answer is text (\"220 mail.example.org ESMTP ready\")"},
		{"binary protocol", says("\x4a\x00\x00\x00\x0a8.0.36"), "first answer claims a size of 1241513984 bytes, which no broker sends"},
		{"small talk", says("\x00\x00\x00\x06\x12\x34\x56\x78\x00\x00"), "first answer has correlation ID 305419896, expected 0"},
		{"silence", func(nc net.Conn) { io.Copy(io.Discard, nc) }, "connected, but got no answer: dial timeout of 200ms is over"},
		{"greets and waits", says("OK"), "connected, but got no answer: dial timeout of 200ms is over"},
		{"hangs up", func(nc net.Conn) { nc.Read(make([]byte, 1<<10)) }, "connection closed before the first answer: does the listener expect TLS?"},
		{"hangs up at once", func(net.Conn) {}, "connection closed before the first answer: does the listener expect TLS?"},
		{"TLS server", serveTLS(t), "TLS"},
	} {
		t.Run(test.name, func(t *testing.T) {
			addr := listen(t, test.serve)
			_, err := Dial(t.Context(), addr, Config{DialTimeout: 200 * time.Millisecond})
			require.ErrorContains(t, err, "broker "+addr+": ApiVersions: ")
			require.ErrorContains(t, err, test.want)
			require.True(t, Unsent(err))
		})
	}
}

func TestAClosedPortIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l.Close()
	_, err = Dial(t.Context(), l.Addr().String(), Config{})
	require.ErrorContains(t, err, "broker "+l.Addr().String()+": cannot connect: ")
	require.ErrorContains(t, err, "is the broker running, and is this the port of its listener?")
}

// serveTLS returns a server that answers as crypto/tls does.
func serveTLS(t *testing.T) func(net.Conn) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cfg := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{cert}, PrivateKey: key}}}
	return func(nc net.Conn) { tls.Server(nc, cfg).Handshake() }
}
