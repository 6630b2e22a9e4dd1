package history

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A type of event or action that is new in groupmember must be known here, or no
// history could hold it.
func TestEverySealedTypeCanBeWritten(t *testing.T) {
	for method, known := range map[string]family{"event": events, "action": actions} {
		require.Equal(t, sealedBy(t, method), slices.Sorted(maps.Keys(known)), "%ss", method)
	}
}

// sealedBy returns the types of package groupmember that have the method.
func sealedBy(t *testing.T, method string) (names []string) {
	paths, err := filepath.Glob("../*.go")
	require.NoError(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declaration := range file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if ok && f.Recv != nil && f.Name.Name == method {
				names = append(names, f.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	slices.Sort(names)
	require.NotEmpty(t, names)
	return names
}
