package client

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every exported error of this package has its line in the documentation.
func TestEveryExportedErrorIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/errors.md")
	require.NoError(t, err)
	names := exportedErrors(t)
	require.Contains(t, names, "ErrClosed")
	require.Contains(t, names, "BootstrapError")
	for _, name := range names {
		require.Contains(t, string(page), "client."+name, "docs/errors.md")
	}
}

// exportedErrors returns the exported names that begin with Err, or end with
// Error, at the top level of the package's files.
func exportedErrors(t *testing.T) (names []string) {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range parsed.Decls {
			general, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range general.Specs {
				names = append(names, errorNames(spec)...)
			}
		}
	}
	return names
}

func errorNames(spec ast.Spec) (names []string) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Name.IsExported() && strings.HasSuffix(spec.Name.Name, "Error") {
			names = append(names, spec.Name.Name)
		}
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			if strings.HasPrefix(name.Name, "Err") {
				names = append(names, name.Name)
			}
		}
	}
	return names
}
