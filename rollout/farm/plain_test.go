package farm

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPlainFiles: the decisions of a coordinator import no lock, no clock and no network.
func TestPlainFiles(t *testing.T) {
	files, err := filepath.Glob("internal/tracker/*.go")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range append(files, "workers.go", "state.go", "assign.go") {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		t.Run(file, func(t *testing.T) {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			require.NoError(t, err)
			for _, i := range f.Imports {
				path, err := strconv.Unquote(i.Path.Value)
				require.NoError(t, err)
				require.Contains(t, []string{"crypto/hmac", "crypto/sha256", "encoding/binary", "fmt", "maps", "slices", "time", "moonfarm/rollout/shard", "moonfarm/rollout/farm/internal/tracker"}, path)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" {
						require.NotContains(t, []string{"Now", "Since", "Until", "Sleep", "After", "NewTimer", "NewTicker"}, s.Sel.Name)
					}
				}
				return true
			})
		})
	}
}

// TestPermanent: two workers, or one worker three times, fail a run by one shard.
func TestPermanent(t *testing.T) {
	r := newRun("r", &runRecord{Spec: spec(1, 5, 0)}, 1)
	require.False(t, r.fails(1, "a"))
	require.False(t, r.fails(2, "b"), "another shard")
	require.False(t, r.fails(1, "a"))
	require.True(t, r.fails(1, "a"))
	require.True(t, r.fails(2, "a"))
}

// TestAllowance: a worker that lets leases lapse gets fewer at a time, but always one.
func TestAllowance(t *testing.T) {
	for lapses, want := range map[int]int{0: 8, 3: 8, 4: 4, 8: 2, 12: 1, 400: 1} {
		t.Run(fmt.Sprintf("%d lapses", lapses), func(t *testing.T) {
			w := worker{lapses: lapses}
			w.Slots = 8
			require.Equal(t, want, w.allowance(), "%d lapses", lapses)
		})
	}
}

// TestProcesses: a worker has restarted when it names a process for the first time.
func TestProcesses(t *testing.T) {
	w := worker{}
	for i, c := range []struct {
		process string
		begins  bool
	}{{"", false}, {"one", false}, {"one", false}, {"two", true}, {"one", false}, {"not a name", false}, {"three", true}} {
		require.Equal(t, c.begins, w.begins(c.process), "request %d, of %q", i, c.process)
	}
}

// TestWaiting: a worker knows how many of its claims wait.
func TestWaiting(t *testing.T) {
	a, b := &worker{name: "a"}, &worker{name: "b"}
	var x waiting
	for _, w := range []*worker{a, b, a} {
		x.add(&waiter{w: w})
	}
	require.Equal(t, []int{2, 1}, []int{a.waiting, b.waiting})
	x.remove(func(t *waiter) bool { return t.w == a })
	require.Equal(t, []int{0, 1, 1}, []int{a.waiting, b.waiting, len(x.list)})
}

// TestManyClaims: claims that wait count as shards of their worker: more than it may have are answered at once.
func TestManyClaims(t *testing.T) {
	w := newTwin(t, 1, 0)
	of := w.identify("w0", "p")
	for i := range of.allowance() + 1 {
		a := w.s.claim(&waiter{w: of, until: w.now.Add(time.Second), answer: func(*answer) {}}, w.now)
		require.Equal(t, i == of.allowance(), a != nil, "claim %d", i)
	}
}

// TestNoClocks: no request contains a time, so a worker's clock has no influence.
func TestNoClocks(t *testing.T) {
	var look func(r reflect.Type)
	look = func(r reflect.Type) {
		switch {
		case r == reflect.TypeFor[time.Time]():
			t.Error("a request contains a time")
		case r.Kind() == reflect.Struct:
			for i := range r.NumField() {
				look(r.Field(i).Type)
			}
		case r.Kind() == reflect.Pointer || r.Kind() == reflect.Slice:
			look(r.Elem())
		}
	}
	look(reflect.TypeFor[request]())
}
