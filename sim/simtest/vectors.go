package simtest

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"
)

// VectorPaths logs which paths of a package's assembly this processor executes, for .ci/vectors.
// paths has, by the name of a path, whether it does.
func VectorPaths(t *testing.T, name string, paths map[string]bool) {
	t.Helper()
	var lists [2][]string
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		i := 0
		if !paths[path] {
			i = 1
		}
		lists[i] = append(lists[i], path)
	}
	t.Logf("%s: runs %s; not run here: %s", name, cmp.Or(strings.Join(lists[0], ", "), "none"), cmp.Or(strings.Join(lists[1], ", "), "none"))
}
