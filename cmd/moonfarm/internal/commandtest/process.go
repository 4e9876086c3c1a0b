// Package commandtest has what the tests of moonfarm and of moonfarm-full have in common:
// they run the programs as processes, from scripts, and compare what these write.
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

	"github.com/stretchr/testify/require"
)

// LongEnv asks for the long form of tests.
const LongEnv = "MOONFARM_LONG"

// GenerateArgs is a generate of some tenths of a second in small shards, less
// with -short.
func GenerateArgs(out string) []string {
	episodes := 1000
	if testing.Short() {
		episodes = 200
	}
	return strings.Fields(fmt.Sprintf("generate towerdefence --episodes %d --shard-episodes 10 --seed 9 --policy random,econ --out %s", episodes, out))
}

// Reference makes the dataset of GenerateArgs without any trouble and tells how
// long that took.
func Reference(t *testing.T) (dir string, took time.Duration) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "Reference")
	begin := time.Now()
	Finish(t, "moonfarm", GenerateArgs(dir)...)
	return dir, time.Since(begin)
}

// Finish runs a program to its end, which must be a good one, and returns what
// it printed.
func Finish(t *testing.T, program string, args ...string) string {
	t.Helper()
	p := Start(t, program, args...)
	if err := p.Wait(); err != nil {
		t.Fatalf("%v: %s%s", err, &p.Out, &p.Errs)
	}
	return p.Out.String()
}

// Process is a program running, with what it has printed.
type Process struct {
	*exec.Cmd
	Out, Errs bytes.Buffer
}

// Start starts a program that TestMain knows.
func Start(t *testing.T, program string, args ...string) *Process {
	t.Helper()
	p := &Process{Cmd: exec.Command(program, args...)}
	p.Stdout, p.Stderr = &p.Out, &p.Errs
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// RequireSame compares two folders, names and bytes.
func RequireSame(t *testing.T, a, b string) {
	t.Helper()
	diff, err := TreesDiffer(a, b)
	if err != nil || diff != "" {
		t.Fatalf("error %v, difference: %s", err, diff)
	}
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

// Wants checks that a text has some parts.
func Wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("the output lacks %q:\n%.2000s", p, text)
		}
	}
}
