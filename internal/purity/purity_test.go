package purity_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/musterkafka/muster/internal/purity"
)

func TestEveryKindOfBreachIsReportedWithItsPlace(t *testing.T) {
	tests := map[string]struct {
		source string
		want   []string
	}{
		"pure": {
			"package p\nimport \"time\"\nfunc f(now time.Time) time.Time { return now.Add(time.Second) }",
			nil,
		},
		"an import that is not on the list": {
			"package p\nimport \"os\"\nvar _ = os.Args",
			[]string{"p.go:2: imports os"},
		},
		"a package below one that is on the list": {
			"package p\nimport \"time/tzdata\"",
			[]string{"p.go:2: imports time/tzdata"},
		},
		"an import for its side effects": {
			"package p\nimport _ \"net\"",
			[]string{"p.go:2: imports net"},
		},
		"an import without a name": {
			"package p\nimport . \"time\"\nvar _ = Now()",
			[]string{"p.go:2: imports time without a name, which hides what is used of it"},
		},
		"the clock": {
			"package p\nimport \"time\"\nvar _ = time.Now()",
			[]string{"p.go:3: uses the clock: time.Now"},
		},
		"the clock under another name and not called": {
			"package p\nimport clock \"time\"\nvar after = clock.After",
			[]string{"p.go:3: uses the clock: time.After"},
		},
		"a timer in a struct": {
			"package p\nimport \"time\"\ntype s struct {\n\tt *time.Timer\n}",
			[]string{"p.go:4: uses the clock: time.Timer"},
		},
		"randomness of its own": {
			"package p\nimport \"math/rand/v2\"\nvar _ = rand.IntN(6)",
			[]string{"p.go:3: uses randomness it was not given: rand.IntN"},
		},
		"randomness it was given": {
			"package p\nimport \"math/rand/v2\"\nfunc f(r *rand.Rand) int { return r.IntN(6) }",
			nil,
		},
		"a goroutine": {
			"package p\nfunc f() { go f() }",
			[]string{"p.go:2: starts a goroutine"},
		},
		"a channel and a wait for it": {
			"package p\nfunc f(c chan int) {\n\tselect {\n\tcase <-c:\n\t}\n}",
			[]string{"p.go:2: has a channel", "p.go:3: waits for channels"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "p.go", test.source)
			write(t, dir, "p_test.go", "package p\nimport \"os\"\nvar _ = os.Args") // tests may do all that

			breaches, err := purity.Check(dir, "time", "math/rand/v2")
			require.NoError(t, err)
			require.Equal(t, test.want, breaches)
		})
	}
}

func TestADirectoryThatCannotBeCheckedDoesNotPass(t *testing.T) {
	empty := t.TempDir()
	_, err := purity.Check(empty)
	require.ErrorContains(t, err, "no Go files")

	onlyTests := t.TempDir()
	write(t, onlyTests, "p_test.go", "package p")
	_, err = purity.Check(onlyTests)
	require.ErrorContains(t, err, "no Go files")

	broken := t.TempDir()
	write(t, broken, "p.go", "package")
	_, err = purity.Check(broken)
	require.ErrorContains(t, err, "p.go")
}

func write(t *testing.T, dir, name, source string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(source), 0o600))
}
