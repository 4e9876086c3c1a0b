package simtest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// generate begins the lines that run the generator of a package's assembly, a
// module of its own in the folder gen. The last word of such a line is the file
// to write, as seen from gen.
const generate = "//go:generate go run -C gen "

// Generated checks that the assembly of the package is what its generator
// writes: it runs each of the package's lines "//go:generate go run -C gen",
// with another file to write, and compares the files. This is a long test: the
// first run compiles avo, which takes half a minute. It is skipped where the
// modules of the generator cannot be downloaded.
func Generated(t *testing.T) {
	t.Helper()
	if os.Getenv("MOONFARM_LONG") == "" {
		t.Skip("set MOONFARM_LONG=1 to generate the assembly again")
	}
	commands := generators(t)
	if len(commands) == 0 {
		t.Fatalf("no Go file of the package has a line %q", generate)
	}
	// go test, which keeps results until a file changes that the test has read,
	// does not see what go run reads. A folder that is read counts with its files.
	if _, err := os.ReadDir("gen"); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "mod", "download", "-C", "gen").CombinedOutput(); err != nil {
		t.Skipf("the modules of gen cannot be downloaded: %v: %.200s", err, out)
	}
	for _, command := range commands {
		compareGenerated(t, command)
	}
}

// compareGenerated runs the go command of a line, but for its last word, with a
// file of its own, and compares this file with the package's.
func compareGenerated(t *testing.T, command []string) {
	t.Helper()
	last := len(command) - 1
	file := filepath.Base(command[last])
	name := filepath.Join(t.TempDir(), file)
	command[last] = name
	if out, err := exec.Command("go", command...).CombinedOutput(); err != nil {
		t.Errorf("go %s: %v\n%s", strings.Join(command, " "), err, out)
		return
	}
	if got, want := withoutHead(t, name), withoutHead(t, file); !bytes.Equal(got, want) {
		t.Errorf("%s: gen writes %d bytes that are not the file's %d: run go generate in its folder", file, len(got), len(want))
	}
}

// generators returns the arguments of the go command in each of the lines that
// run the generator.
func generators(t *testing.T) (all [][]string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for line := range strings.Lines(string(Text(t, file))) {
			if strings.HasPrefix(line, generate) {
				all = append(all, strings.Fields(line)[2:])
			}
		}
	}
	return all
}

// withoutHead returns a file without its first line, which has the command that
// wrote it.
func withoutHead(t *testing.T, name string) []byte {
	t.Helper()
	_, rest, _ := bytes.Cut(Text(t, name), []byte("\n"))
	return rest
}
