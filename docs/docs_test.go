// Package docs_test checks what the pages of this repository say of its files:
// links, headings, make targets. Pages that draw a table of the code are
// compared with it in the package that has the table.
package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = ".."

func TestDocsLinksLeadSomewhere(t *testing.T) {
	for page, text := range pages(t) {
		for _, broken := range brokenLinks(t, page, text) {
			t.Errorf("%s: nothing at %s", page, broken)
		}
	}
}

func TestDocsNameMakeTargetsThatExist(t *testing.T) {
	targets := makeTargets(t)
	for page, text := range pages(t) {
		for _, missing := range missingTargets(text, targets) {
			t.Errorf("%s: the Makefile has no target %q", page, missing)
		}
	}
	for _, page := range glob(t, ".github/workflows/*.yml") {
		for _, missing := range missingTargets(read(t, page), targets) {
			t.Errorf("%s: the Makefile has no target %q", page, missing)
		}
	}
}

func TestDocsAreASCII(t *testing.T) {
	for page, text := range pages(t) {
		for i, line := range strings.Split(text, "\n") {
			if at := strings.IndexFunc(line, func(r rune) bool { return r > '~' }); at >= 0 {
				t.Errorf("%s:%d: not ASCII from %q on", page, i+1, line[at:])
			}
		}
	}
}

// A tag of an action can be moved to other code, a commit cannot.
func TestDocsWorkflowsPinActionsByCommit(t *testing.T) {
	for _, workflow := range glob(t, ".github/workflows/*.yml") {
		for _, loose := range looseActions(read(t, workflow)) {
			t.Errorf("%s: pin %s by the full hash of its commit", workflow, loose)
		}
	}
}

func TestTheDocsChecksFindWhatIsWrong(t *testing.T) {
	require.Equal(
		t, []string{"no-such-file.md", "../CONTRIBUTING.md#no-such-heading"},
		brokenLinks(t, "docs/testing.md", "[a](no-such-file.md) [b](../CONTRIBUTING.md#no-such-heading) [c](../Makefile) "+
			"[d](https://example.com/none) `[e](code.md)`"),
	)
	require.Equal(
		t, []string{"nonsense"},
		missingTargets("`make test` and `make nonsense`; to make sense of it", makeTargets(t)),
	)
	require.Equal(
		t, []string{"actions/checkout@v7"},
		looseActions("- uses: actions/checkout@v7\n- uses: actions/checkout@"+strings.Repeat("0f", 20)+" # v7\n"),
	)
}

var (
	link       = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeSpan   = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	heading    = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	notInSlug  = regexp.MustCompile(`[^a-z0-9 _-]`)
	makeUse    = regexp.MustCompile("(?m)(?:[`\"=]|^ *|run: )make((?: +[a-z][a-z-]*)+)")
	makeTarget = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
	actionUse  = regexp.MustCompile(`(?m)uses: *(\S+)`)
	pinned     = regexp.MustCompile(`@[0-9a-f]{40}$`)
)

// brokenLinks returns the links of a page to files or headings of this
// repository that do not exist. Code and other sites are left out.
func brokenLinks(t *testing.T, page, text string) (broken []string) {
	for _, match := range link.FindAllStringSubmatch(codeSpan.ReplaceAllString(text, ""), -1) {
		target := match[1]
		if strings.Contains(target, "://") {
			continue
		}
		name, anchor, _ := strings.Cut(target, "#")
		file := page
		if name != "" {
			file = filepath.Join(filepath.Dir(page), name)
		}
		if _, err := os.Stat(filepath.Join(root, file)); err != nil || anchor != "" && !hasHeading(read(t, file), anchor) {
			broken = append(broken, target)
		}
	}
	return broken
}

// hasHeading reports whether a page has a heading with the anchor that the
// common renderers of Markdown give it.
func hasHeading(text, anchor string) bool {
	for _, match := range heading.FindAllStringSubmatch(text, -1) {
		slug := notInSlug.ReplaceAllString(strings.ToLower(match[1]), "")
		if strings.ReplaceAll(slug, " ", "-") == anchor {
			return true
		}
	}
	return false
}

// missingTargets returns what the commands of a page ask of make in vain.
func missingTargets(text string, targets map[string]bool) (missing []string) {
	for _, match := range makeUse.FindAllStringSubmatch(text, -1) {
		for target := range strings.FieldsSeq(match[1]) {
			if !targets[target] {
				missing = append(missing, target)
			}
		}
	}
	return missing
}

func makeTargets(t *testing.T) map[string]bool {
	targets := make(map[string]bool)
	for _, match := range makeTarget.FindAllStringSubmatch(read(t, "Makefile"), -1) {
		targets[match[1]] = true
	}
	require.NotEmpty(t, targets)
	return targets
}

// looseActions returns the actions of a workflow that are not pinned.
func looseActions(workflow string) (loose []string) {
	for _, match := range actionUse.FindAllStringSubmatch(workflow, -1) {
		if !pinned.MatchString(match[1]) {
			loose = append(loose, match[1])
		}
	}
	return loose
}

// pages returns the pages for people, by path from the root.
func pages(t *testing.T) map[string]string {
	texts := make(map[string]string)
	for _, page := range append(glob(t, "*.md"), glob(t, "docs/*.md")...) {
		texts[page] = read(t, page)
	}
	return texts
}

// glob returns the files that match, by path from the root.
func glob(t *testing.T, pattern string) []string {
	files, err := filepath.Glob(filepath.Join(root, pattern))
	require.NoError(t, err)
	require.NotEmpty(t, files, "nothing matches %s", pattern)
	for i, file := range files {
		files[i], err = filepath.Rel(root, file)
		require.NoError(t, err)
	}
	return files
}

func read(t *testing.T, file string) string {
	text, err := os.ReadFile(filepath.Join(root, file))
	require.NoError(t, err)
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}
