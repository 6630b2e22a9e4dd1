package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/musterkafka/muster/conn"
)

func TestBootstrapErrorNamesEveryAddressAndUnwrapsToEachCause(t *testing.T) {
	err := error(&BootstrapError{
		Waited:   1500 * time.Millisecond,
		Attempts: []Attempt{{"a:1", io.ErrUnexpectedEOF}, {"b:2", nil}, {"c:3", errors.New("connection refused")}},
		Err:      context.DeadlineExceeded,
	})
	require.EqualError(t, err, "no broker answered within 1.5s (context deadline exceeded); a:1: unexpected EOF; "+
		"b:2: no answer yet; c:3: connection refused; check Config.Brokers, and that the brokers run and can be reached from here")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestAnAttemptNamesItsAddressOnce(t *testing.T) {
	require.Equal(t, "broker a:1: Metadata: unexpected EOF",
		Attempt{"a:1", &conn.Error{Addr: "a:1", API: "Metadata", Err: io.ErrUnexpectedEOF}}.String())
}

func TestTopicErrorUnwrapsToTheBrokersError(t *testing.T) {
	message := "too long"
	err := topicError("orders", kerr.InvalidTopicException.Code, &message)
	require.ErrorIs(t, err, kerr.InvalidTopicException)
	require.EqualError(t, err, `topic "orders": INVALID_TOPIC_EXCEPTION: too long`)
	require.ErrorContains(t, topicError("orders", kerr.InvalidTopicException.Code, nil), "INVALID_TOPIC_EXCEPTION: The request")
	require.NoError(t, topicError("orders", 0, nil))
}

func TestAnUnknownCodeKeepsItsNumber(t *testing.T) {
	err := codeError(30000)
	require.ErrorContains(t, err, "30000")
	require.ErrorIs(t, err, kerr.UnknownServerError)
	require.ErrorIs(t, codeError(-1), kerr.UnknownServerError)
	require.NotContains(t, codeError(-1).Error(), "code")
	require.NoError(t, codeError(0))
}

func TestABrokersErrorCanStandInTheMiddleOfASentence(t *testing.T) {
	for code := range int16(200) {
		if err := codeError(code); err != nil {
			require.False(t, strings.HasSuffix(err.Error(), "."), err.Error())
			require.ErrorIs(t, err, kerr.ErrorForCode(code))
		}
	}
}

func TestAnUnsentErrorKeepsItsWordsAndItsCause(t *testing.T) {
	err := fmt.Errorf("asking: %w", unsent(ErrClosed))
	require.EqualError(t, err, "asking: client is closed")
	require.ErrorIs(t, err, ErrClosed)
	require.True(t, conn.Unsent(err))
	require.False(t, conn.Unsent(ErrClosed))
}
