package assign_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/assign"
)

// The files in testdata/java are random groups with the plans that Kafka's own
// assignors (kafka-clients 4.4.0) made for them. integration/javaassign/compare
// makes more of them and names the file in JAVA_PLANS. They are never rewritten.
func TestRangeEqualsJava(t *testing.T) {
	files, err := filepath.Glob("testdata/java/range*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	if more := os.Getenv("JAVA_PLANS"); more != "" {
		files = append(files, more)
	}
	for _, file := range files {
		var group assign.Group
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			if d.Rewrite {
				return d.Expected
			}
			if d.Cmd == "group" {
				group = parseGroup(t, d.Input)
				return ""
			}
			require.Equal(t, "range", d.Cmd)
			return scriptRange(group)
		})
	}
}
