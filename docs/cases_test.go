package docs_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every case names what tries it, and a script that it names says so.
func TestDocsOfTheCasesOfMembersNameWhatTriesThem(t *testing.T) {
	rows := caseRow.FindAllStringSubmatch(read(t, "docs/cases.md"), -1)
	require.NotEmpty(t, rows)
	for _, row := range rows {
		number, shownBy := row[1], row[2]
		if !shows.MatchString(shownBy) {
			t.Errorf("case %s: nothing tries it", number)
		}
		for _, script := range scriptLink.FindAllStringSubmatch(shownBy, -1) {
			if !strings.Contains(read(t, filepath.Join("docs", script[1])), number) {
				t.Errorf("case %s: %s does not name it", number, script[1])
			}
		}
	}
}

var (
	caseRow    = regexp.MustCompile(`(?m)^\| ([AC]\d\d) \|.*\| (.*) \|$`)
	shows      = regexp.MustCompile("\\.txt\\)|`(Test|Fuzz)\\w+`")
	scriptLink = regexp.MustCompile(`\]\((\S+\.txt)\)`)
)
