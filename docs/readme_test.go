package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The program of the README is an example of package client, which the
// compiler reads.
func TestDocsReadmeShowsTheExample(t *testing.T) {
	example := strings.NewReplacer("package client_test", "package main", "func Example()", "func main()").
		Replace(read(t, "client/example_test.go"))
	_, program, _ := strings.Cut(read(t, "README.md"), "```go\n")
	program, _, _ = strings.Cut(program, "```")
	require.Equal(t, example, program)
}

// A claim of the documentation is shown by a test, so the test must be there.
func TestDocsNameTestsThatExist(t *testing.T) {
	existing := testNames(t)
	for page, text := range pages(t) {
		for _, missing := range missingTests(text, existing) {
			t.Errorf("%s: there is no test %s", page, missing)
		}
	}
}

func TestTheDocsChecksFindTestsThatAreMissing(t *testing.T) {
	existing := testNames(t)
	require.Equal(t, []string{"TestNoSuchThing"},
		missingTests("`TestDocsNameTestsThatExist`, `FuzzFrameReader`, `TestNoSuchThing`, TestProse, `go test -run TestName`", existing))
}

var (
	testUse  = regexp.MustCompile("`((?:Test|Fuzz|Benchmark|Example)[A-Z]\\w*)`")
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark|Example)\w*)\(`)
)

// missingTests returns the tests that a page names in code marks and that do
// not exist.
func missingTests(text string, existing map[string]bool) (missing []string) {
	for _, use := range testUse.FindAllStringSubmatch(text, -1) {
		if !existing[use[1]] {
			missing = append(missing, use[1])
		}
	}
	return missing
}

// testNames returns the tests of all modules.
func testNames(t *testing.T) map[string]bool {
	names := make(map[string]bool)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, f := range testFunc.FindAllStringSubmatch(string(text), -1) {
			names[f[1]] = true
		}
		return nil
	})
	require.NoError(t, err)
	return names
}
