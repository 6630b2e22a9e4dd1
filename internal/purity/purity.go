// Package purity reads the source of a package and says where it is not pure:
// where it imports what it should not, reads the clock, draws from a source of
// randomness that it was not given, or starts or talks to a goroutine.
//
// It is for the tests of packages that promise purity. The linters say the same
// (see .golangci.yml), but a test also speaks to those who run no linter.
//
// It reads syntax only. What the imported packages do, and what is reached
// through a value handed in, it does not know; hence the short list of imports.
package purity

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Check reads the Go files in dir, tests left out, and returns one line for
// each breach, "file:line: what", in the order of the files. Imports lists the
// import paths that the files may have; any other is a breach.
//
// The error says that the files could not be read or parsed, or that there are
// none, so that a check of the wrong directory does not pass.
func Check(dir string, imports ...string) (breaches []string, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("list the Go files of %s: %w", dir, err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	if len(names) == 0 {
		return nil, fmt.Errorf("no Go files in %s: check the directory", dir)
	}
	for _, name := range names {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parse %s: %w", name, err)
		}
		breaches = append(breaches, checkFile(set, file, imports)...)
	}
	return breaches, nil
}

// checkFile returns the breaches of one file.
func checkFile(set *token.FileSet, file *ast.File, imports []string) (breaches []string) {
	report := func(at token.Pos, format string, args ...any) {
		pos := set.Position(at)
		what := fmt.Sprintf(format, args...)
		breaches = append(breaches, fmt.Sprintf("%s:%d: %s", filepath.Base(pos.Filename), pos.Line, what))
	}
	packages := make(map[string]string) // name in this file to import path
	for _, spec := range file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			report(spec.Pos(), "imports %s, which is no string", spec.Path.Value)
			continue
		}
		name := localName(spec, importPath)
		if !slices.Contains(imports, importPath) {
			report(spec.Pos(), "imports %s", importPath)
		}
		if name == "." {
			report(spec.Pos(), "imports %s without a name, which hides what is used of it", importPath)
		}
		packages[name] = importPath
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if what := impure(n, packages); what != "" {
			report(n.Pos(), "%s", what)
		}
		return true
	})
	return breaches
}

// impure says what is wrong with a node itself, or "".
func impure(n ast.Node, packages map[string]string) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "starts a goroutine"
	case *ast.SelectStmt:
		return "waits for channels"
	case *ast.ChanType:
		return "has a channel"
	case *ast.SelectorExpr:
		name, ok := n.X.(*ast.Ident)
		if !ok {
			return ""
		}
		switch packages[name.Name] {
		case "time":
			if slices.Contains(clock, n.Sel.Name) {
				return "uses the clock: time." + n.Sel.Name
			}
		case "math/rand/v2":
			if !slices.Contains(seeded, n.Sel.Name) {
				return "uses randomness it was not given: rand." + n.Sel.Name
			}
		}
	}
	return ""
}

// clock is what package time has that reads the clock or waits for it.
var clock = []string{
	"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Ticker", "Timer", "Until",
}

// seeded is what math/rand/v2 has that draws from a source one was given. All
// its other names draw from the one source of the process.
var seeded = []string{"ChaCha8", "New", "NewChaCha8", "NewPCG", "PCG", "Rand", "Source"}

// localName returns the name by which a file speaks of an import. Without one
// of its own it is the last part of the path, or the part before a major
// version, as everywhere in what pure packages import.
func localName(spec *ast.ImportSpec, importPath string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	base := path.Base(importPath)
	if rest, ok := strings.CutPrefix(base, "v"); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
		base = path.Base(path.Dir(importPath))
	}
	return base
}
