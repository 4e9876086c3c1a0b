package simtest

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"moonfarm/sim/unzip"
)

// SharedEnv names the environment variable with the folder of the shared
// material (recordings, replays, rule files). If it is not set, the folder is
// "shared" beside the repository.
const SharedEnv = "MOONFARM_SHARED"

// Shared returns the path of a file or folder of the shared material, such as
// Shared(t, "traces", "towerdefence"). If it does not exist, the test is
// skipped with a line that names it.
func Shared(t testing.TB, parts ...string) string {
	t.Helper()
	base := os.Getenv(SharedEnv)
	if base == "" {
		root, ok := moduleRoot()
		if !ok {
			t.Skipf("no go.mod above the test's folder: set %s to the folder of the shared material", SharedEnv)
		}
		base = filepath.Join(filepath.Dir(root), "shared")
	}
	path := filepath.Join(append([]string{base}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("shared material is missing: %s (%s names another folder)", path, SharedEnv)
	}
	return path
}

// moduleRoot returns the nearest folder with a go.mod at or above the working
// folder. In a test it is the folder of the package.
func moduleRoot() (string, bool) {
	dir, err := os.Getwd()
	if err != nil {
		return "", false
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
}

// SharedFiles returns the files of the shared material whose paths match, such
// as SharedFiles(t, "traces", "towerdefence", "*.jsonl.gz"). The test fails if
// there is none.
func SharedFiles(t testing.TB, parts ...string) []string {
	t.Helper()
	last := len(parts) - 1
	files, err := filepath.Glob(filepath.Join(Shared(t, parts[:last]...), parts[last]))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %q: %v", parts, err)
	}
	return files
}

// Text returns the content of a file, decompressed if it is compressed with
// gzip.
func Text(t testing.TB, path string) []byte {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	in, err := unzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
