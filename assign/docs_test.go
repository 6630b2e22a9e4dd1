package assign_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every test that docs/assignors.md names exists, and every script has the case.
func TestDocsOfTheCasesNameWhatTriesThem(t *testing.T) {
	page, err := os.ReadFile("../docs/assignors.md")
	require.NoError(t, err)
	var files []string
	for _, folder := range []string{".", "../integration"} {
		found, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		require.NoError(t, err)
		files = append(files, found...)
	}
	var tests strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		tests.Write(text)
	}
	for _, name := range regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z]+)`").FindAllStringSubmatch(string(page), -1) {
		require.True(t, strings.Contains(tests.String(), "func "+name[1]+"("), "there is no %s", name[1])
	}
	rows := regexp.MustCompile(`(?m)^\| (B\d\d) .*\|$`).FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, rows)
	for _, row := range rows {
		for _, script := range regexp.MustCompile("`([a-z-]+[.]txt)`").FindAllStringSubmatch(row[0], -1) {
			text, err := os.ReadFile(filepath.Join("testdata/scripts", script[1]))
			require.NoError(t, err)
			require.True(t, strings.Contains(string(text), row[1]), "%s is not in %s", row[1], script[1])
		}
	}
}
