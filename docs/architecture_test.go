package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	architecture = "docs/architecture.md"
	module       = "github.com/musterkafka/muster/"
)

// Every statement that starts a goroutine, and every mutex, of what
// applications compile has its row, and every row has one in the code.
func TestDocsArchitectureListsEveryGoroutine(t *testing.T) {
	var found []string
	for _, f := range sources(t) {
		found = append(found, f.starts()...)
	}
	requireSame(t, found, rows(t, "Goroutines", 1))
}

func TestDocsArchitectureListsEveryLock(t *testing.T) {
	var found []string
	for _, f := range sources(t) {
		found = append(found, f.locks()...)
	}
	requireSame(t, found, rows(t, "Locks", 1))
}

// The packages are all there, with what they import of one another.
func TestDocsArchitectureListsEveryImport(t *testing.T) {
	imports := make(map[string][]string)
	for _, f := range sources(t) {
		imports[f.pkg()] = append(imports[f.pkg()], f.imports()...)
	}
	var found []string
	for pkg, all := range imports {
		slices.Sort(all)
		found = append(found, strings.TrimSpace(pkg+" "+strings.Join(slices.Compact(all), " ")))
	}
	requireSame(t, found, rows(t, "Packages", 2))
}

func TestDocsArchitectureListsEveryConnectionClass(t *testing.T) {
	var found []string
	for _, f := range sources(t) {
		found = append(found, f.constants("class")...)
	}
	requireSame(t, found, rows(t, "Connections", 1))
}

func TestTheDocsChecksFindWhatTheCodeHas(t *testing.T) {
	f := parse(t, "p/f.go", `package p
		import "github.com/musterkafka/muster/conn"
		type t struct { a, b sync.Mutex; mu *sync.RWMutex; sync.Mutex; n int; in struct{ m sync.Mutex } }
		var global sync.Mutex
		func (t *t) start() { go t.run(); t.wg.Go(t.run); func() { t.wg.Go(t.run) }() }
		func watch() func() bool { return context.AfterFunc(ctx, f) }
		const ( classA class = iota; classB; limit = 1 )`)
	require.Equal(t, []string{"p/f.go t.start", "p/f.go t.start", "p/f.go t.start", "p/f.go watch"}, f.starts())
	require.Equal(t, []string{"p/f.go t.a", "p/f.go t.b", "p/f.go t.mu", "p/f.go t.Mutex", "p/f.go t.m", "p/f.go global"}, f.locks())
	require.Equal(t, []string{"conn"}, f.imports())
	require.Equal(t, []string{"a", "b"}, f.constants("class"))
}

func requireSame(t *testing.T, code, page []string) {
	t.Helper()
	slices.Sort(code)
	slices.Sort(page)
	require.Equal(t, strings.Join(code, "\n"), strings.Join(page, "\n"), "%s: the code has the first, the table the second", architecture)
}

var code = regexp.MustCompile("`([^`]+)`")

// rows returns the table under a heading, of each row what the first cells have
// in code marks.
func rows(t *testing.T, heading string, cells int) (found []string) {
	_, section, ok := strings.Cut(read(t, architecture), "\n## "+heading+"\n")
	require.True(t, ok, "%s has no heading %q", architecture, heading)
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		row := strings.Split(line, "|")
		if len(row) > cells+1 && strings.Contains(row[1], "`") {
			var words []string
			for _, word := range code.FindAllStringSubmatch(strings.Join(row[1:1+cells], ""), -1) {
				words = append(words, word[1])
			}
			found = append(found, strings.Join(words, " "))
		}
	}
	require.NotEmpty(t, found, "%s: no table under %q", architecture, heading)
	return found
}

// A source is one file of what applications compile.
type source struct {
	path string // from the root, with slashes
	*ast.File
}

// sources returns the files of the root module without those of tests and of
// packages that only tests import.
func sources(t *testing.T) (all []source) {
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path, err = filepath.Rel(root, path)
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		switch {
		case entry.IsDir() && skipped(path):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			all = append(all, parse(t, path, read(t, path)))
		}
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

func skipped(dir string) bool {
	if dir == "." {
		return false
	}
	_, err := os.Stat(filepath.Join(root, dir, "go.mod"))
	return err == nil || strings.HasPrefix(dir, ".") || dir == "internal/fakebroker" || dir == "internal/purity" || dir == "internal/sim"
}

func parse(t *testing.T, path, text string) source {
	parsed, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	require.NoError(t, err)
	return source{path, parsed}
}

func (s source) pkg() string { return s.path[:max(0, strings.LastIndex(s.path, "/"))] }

// starts returns the function around each go statement and each call of a
// method Go or a function AfterFunc.
func (s source) starts() (found []string) {
	for _, decl := range s.Decls {
		name := s.path
		if f, ok := decl.(*ast.FuncDecl); ok {
			name = fmt.Sprintf("%s %s", s.path, functionName(f))
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			if startsGoroutine(n) {
				found = append(found, name)
			}
			return true
		})
	}
	return found
}

func startsGoroutine(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		called, ok := n.Fun.(*ast.SelectorExpr)
		return ok && (called.Sel.Name == "Go" || called.Sel.Name == "AfterFunc")
	}
	return false
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	return typeName(f.Recv.List[0].Type) + "." + f.Name.Name
}

// typeName returns T of T and *T, and of the type of a generic receiver.
func typeName(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return typeName(expr.X)
	case *ast.IndexExpr:
		return typeName(expr.X)
	case *ast.SelectorExpr:
		return typeName(expr.X) + "." + expr.Sel.Name
	case *ast.Ident:
		return expr.Name
	}
	return ""
}

// locks returns the mutexes that are fields or variables.
func (s source) locks() (found []string) {
	for _, decl := range s.Decls {
		owner := ""
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				owner = n.Name.Name + "."
			case *ast.Field:
				found = append(found, s.lockNames(owner, n.Names, n.Type)...)
			case *ast.ValueSpec:
				found = append(found, s.lockNames("", n.Names, n.Type)...)
			}
			return true
		})
	}
	return found
}

func (s source) lockNames(owner string, names []*ast.Ident, kind ast.Expr) (found []string) {
	lock := typeName(kind)
	if lock != "sync.Mutex" && lock != "sync.RWMutex" {
		return nil
	}
	if len(names) == 0 {
		names = []*ast.Ident{ast.NewIdent(strings.TrimPrefix(lock, "sync."))}
	}
	for _, name := range names {
		found = append(found, fmt.Sprintf("%s %s%s", s.path, owner, name.Name))
	}
	return found
}

// imports returns the packages of this module that the file imports.
func (s source) imports() (found []string) {
	for _, spec := range s.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		if pkg, ours := strings.CutPrefix(name, module); ours {
			found = append(found, pkg)
		}
	}
	return found
}

// constants returns, in lower case, the rest of the names of constants that
// begin with the name of their type.
func (s source) constants(kind string) (found []string) {
	for _, decl := range s.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok || general.Tok != token.CONST {
			continue
		}
		for _, spec := range general.Specs {
			for _, name := range spec.(*ast.ValueSpec).Names {
				if rest, ok := strings.CutPrefix(name.Name, kind); ok && ast.IsExported(rest) {
					found = append(found, strings.ToLower(rest))
				}
			}
		}
	}
	return found
}
