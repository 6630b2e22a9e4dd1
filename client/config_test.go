package client

import (
	"bytes"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNewReportsEveryProblemOfTheConfigAtOnce(t *testing.T) {
	_, err := New(Config{
		Brokers:        []string{"good:9092", "kafka://bad:9092", "a:b:c", "host:0"},
		RequestTimeout: -time.Second,
		MetadataMaxAge: -1,
		DialTimeout:    math.MaxInt64,
	})
	require.Error(t, err)
	for _, part := range []string{`"kafka://bad:9092"`, `"a:b:c"`, `"host:0"`, "RequestTimeout is -1s", "MetadataMaxAge is -1ns", "DialTimeout is 2562047h"} {
		require.ErrorContains(t, err, part)
	}
	require.NotContains(t, err.Error(), "good:9092")
}

func TestNewWantsABroker(t *testing.T) {
	_, err := New(Config{})
	require.ErrorContains(t, err, "Brokers is empty")
}

func TestAddressesAreCompletedOrRefused(t *testing.T) {
	for _, test := range []struct{ broker, want, problem string }{
		{"localhost:9092", "localhost:9092", ""},
		{"kafka", "kafka:9092", ""},
		{"10.0.0.1", "10.0.0.1:9092", ""},
		{"[::1]:9093", "[::1]:9093", ""},
		{"", "", "no valid host"},
		{":9092", "", "no valid host"},
		{"a:9092,b:9092", "", "one broker per entry"},
		{"a,b", "", "one broker per entry"},
		{"::1", "", "write [::1]:9092"},
		{"http://a:1", "", "URL"},
		{"a:", "", "port"},
		{"a:65536", "", "port"},
		{"a:-1", "", "port"},
		{"a:kafka", "", "port"},
		{"a b:9092", "", "no valid host"},
	} {
		got, err := address(test.broker)
		if test.problem != "" {
			require.ErrorContains(t, err, test.problem, test.broker)
			continue
		}
		require.NoError(t, err, test.broker)
		require.Equal(t, test.want, got)
	}
}

func TestWithoutALoggerOnlyWarningsReachTheDefaultOne(t *testing.T) {
	var out bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, nil)))
	defer slog.SetDefault(before)

	log := (&Config{}).logger().With("part", "test").WithGroup("g")
	log.Info("quiet")
	log.Warn("loud", "n", 1)
	require.Equal(t, 1, strings.Count(out.String(), "\n"))
	require.Contains(t, out.String(), "msg=loud part=test g.n=1")
}

func TestALoggerOfTheUsersDecidesItsLevelItself(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	(&Config{Logger: log}).logger().Debug("all")
	require.Contains(t, out.String(), "msg=all")
}
