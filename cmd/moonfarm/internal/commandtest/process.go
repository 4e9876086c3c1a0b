// Package commandtest has functions that the tests of moonfarm and moonfarm-full share: they
// run the programs as processes and from scripts, and compare their output.
package commandtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// LongEnv is the environment variable that asks for the long form of tests.
const LongEnv = "MOONFARM_LONG"

// GenerateArgs returns the arguments of a generate that makes small shards for some tenths of
// a second, less with -short.
func GenerateArgs(out string) []string {
	episodes := 1000
	if testing.Short() {
		episodes = 200
	}
	return strings.Fields(fmt.Sprintf("generate towerdefence --episodes %d --shard-episodes 10 --seed 9 --policy random,econ --out %s", episodes, out))
}

// Reference makes the dataset of GenerateArgs without interruption and returns the time that
// it took.
func Reference(t *testing.T) (dir string, took time.Duration) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "Reference")
	begin := time.Now()
	Finish(t, "moonfarm", GenerateArgs(dir)...)
	return dir, time.Since(begin)
}

// Finish runs a program, which must succeed, and returns its standard output.
func Finish(t *testing.T, program string, args ...string) string {
	t.Helper()
	p := Start(t, program, args...)
	err := p.Wait()
	require.NoError(t, err, "%s%s", &p.Out, &p.Errs)
	return p.Out.String()
}

// Process is a running program with its output.
type Process struct {
	*exec.Cmd
	Out, Errs bytes.Buffer
}

// Start starts a program that TestMain knows.
func Start(t *testing.T, program string, args ...string) *Process {
	t.Helper()
	p := &Process{Cmd: exec.Command(program, args...)}
	p.Stdout, p.Stderr = &p.Out, &p.Errs
	require.NoError(t, p.Start())
	return p
}

// RequireSame compares two folders, names and bytes.
func RequireSame(t *testing.T, a, b string) {
	t.Helper()
	diff, err := TreesDiffer(a, b)
	require.NoError(t, err)
	require.Empty(t, diff)
}

// WriteFiles writes files into a folder, by their names in it, and makes the folders that
// the names contain.
func WriteFiles(t *testing.T, dir string, texts map[string]string) {
	t.Helper()
	for name, text := range texts {
		name = filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
}

// Wants checks that a text contains all parts.
func Wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		assert.True(t, strings.Contains(text, p), "the output lacks %q:\n%.2000s", p, text)
	}
}
