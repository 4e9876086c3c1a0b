package kernel

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGenerated: the assembly equals the output of gen. The first run builds avo, which
// takes half a minute.
func TestGenerated(t *testing.T) {
	if os.Getenv("MOONFARM_LONG") == "" || runtime.GOARCH != "amd64" {
		t.Skip("set MOONFARM_LONG=1 on amd64 to generate the assembly again")
	}
	if out, err := exec.Command("go", "mod", "download", "-C", "gen").CombinedOutput(); err != nil {
		t.Skipf("avo cannot be had: %v: %.200s", err, out)
	}
	for file, flags := range map[string][]string{"sweep_amd64.s": {"-out"}, "lines_amd64.s": {"lines", "-out"}, "sweep_arm64.s": {"arm64"}} {
		name := filepath.Join(t.TempDir(), file)
		command := append(append([]string{"run", "-C", "gen", "."}, flags...), name)
		out, err := exec.Command("go", command...).CombinedOutput()
		require.NoErrorf(t, err, "go %s: %v\n%s", strings.Join(command, " "), err, out)
		got, want := body(t, name), body(t, file)
		assert.Truef(t, bytes.Equal(got, want), "gen writes %d bytes that are not the %d of %s: run go generate", len(got), len(want), file)
	}
}

// body returns a generated file without its first line, which has the command.
func body(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	_, rest, _ := bytes.Cut(text, []byte("\n"))
	return rest
}
