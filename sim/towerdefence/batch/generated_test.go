package batch_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGenerated: the assembly equals the output of gen. The first run builds avo, which takes
// half a minute.
func TestGenerated(t *testing.T) {
	if os.Getenv("MOONFARM_LONG") == "" || runtime.GOARCH != "amd64" {
		t.Skip("set MOONFARM_LONG=1 on amd64 to generate the assembly again")
	}
	if out, err := exec.Command("go", "mod", "download", "-C", "gen").CombinedOutput(); err != nil {
		t.Skipf("avo cannot be had: %v: %.200s", err, out)
	}
	const file = "vector_amd64.s"
	name := filepath.Join(t.TempDir(), file)
	out, err := exec.Command("go", "run", "-C", "gen", ".", "-out", name).CombinedOutput()
	require.NoErrorf(t, err, "go run -C gen . -out %s: %v\n%s", name, err, out)
	assert.True(t, bytes.Equal(body(t, name), body(t, file)), "gen writes another file than %s: run go generate", file)
}

// body returns a generated file without its first line, which has the command.
func body(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	_, rest, _ := bytes.Cut(text, []byte("\n"))
	return rest
}
