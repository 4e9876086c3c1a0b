//go:build cgo

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/stepper"
)

// built returns the folder of the library, which all tests share.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "libmoonfarm")
	if err != nil {
		return "", err
	}
	// With the flags of the wheel, which a test of the Python package builds: Go compiles the packages once.
	out, err := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-o", filepath.Join(dir, "libmoonfarm.so"), ".").CombinedOutput()
	if err != nil {
		return dir, fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if dir, err := built(); dir != "" {
		_ = os.RemoveAll(dir)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(status)
}

// program compiles a C file against moonfarm.h and the library.
func program(t testing.TB, source string) string {
	t.Helper()
	dir, err := built()
	require.NoError(t, err)
	return compile(t, dir, source)
}

// compile is program with the library in dir.
func compile(t testing.TB, dir, source string, flags ...string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("left out: the C programs are built for Unix only")
	}
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("left out: there is no gcc")
	}
	out := filepath.Join(t.TempDir(), "program")
	args := append([]string{"-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-I", "."}, flags...)
	args = append(args, source, "-L", dir, "-lmoonfarm", "-lpthread", "-Wl,-rpath,"+dir, "-o", out)
	text, err := exec.Command(gcc, args...).CombinedOutput()
	require.NoErrorf(t, err, "gcc %s: %v\n%s", source, err, text)
	return out
}

// run runs a program and returns the words that it prints.
func run(t testing.TB, name string, args ...string) []string {
	t.Helper()
	c := exec.Command(name, args...)
	// With sanitizers, the library handles memory faults, and memory left at
	// the end does not count.
	c.Env = append(os.Environ(), "ASAN_OPTIONS=handle_segv=0:handle_sigbus=0:detect_leaks=0")
	text, err := c.CombinedOutput()
	require.NoErrorf(t, err, "%s: %v\n%s", strings.Join(args, " "), err, text)
	return strings.Fields(string(text))
}

// TestHeader compiles moonfarm.h as the oldest C that has its types, and as C++.
func TestHeader(t *testing.T) {
	for _, c := range [][]string{{"gcc", "-std=c99", "-x", "c"}, {"g++", "-std=c++11", "-x", "c++"}} {
		t.Run(c[0], func(t *testing.T) {
			compiler, err := exec.LookPath(c[0])
			if err != nil {
				t.Logf("left out: there is no %s", c[0])
				return
			}
			args := append(c[1:], "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "moonfarm.h")
			text, err := exec.Command(compiler, append(args, "-Wno-pragma-once-outside-header")...).CombinedOutput()
			assert.NoErrorf(t, err, "%s: %v\n%s", c[0], err, text)
		})
	}
}

// TestExample runs the example in C and plays the same games in Go.
func TestExample(t *testing.T) {
	got := run(t, program(t, "examples/example.c"))
	g, err := catalog.Find("towerdefence")
	require.NoError(t, err)
	c := stepper.Setup{
		Vector: func(c env.Settings) (env.Vector, error) { return g.New("", c) },
		Env:    env.Settings{N: 64, Reward: "score"}, Seat: stepper.AnySeat, Seed: 7, Workers: 1,
	}
	for _, text := range []string{"econ", "turtle"} {
		m, err := policy.New(g.Name, text)
		require.NoError(t, err)
		c.Opponents = append(c.Opponents, rollout.Maker(m))
	}
	s, err := stepper.New(c)
	require.NoError(t, err)
	defer s.Close()
	rows, words := s.Rows(), s.Spec().MaskWords
	b := &stepper.Slabs{Mask: make([]uint64, rows*words), RowSeed: make([]uint64, rows), Action: make([]int32, rows), Reward: make([]float32, rows)}
	require.NoError(t, s.Bind(b))
	require.NoError(t, s.Reset(nil, nil))
	sum := int64(0)
	for turn := range int64(1000) {
		for row := range rows {
			b.Action[row] = choice(b.Mask[row*words:(row+1)*words], b.RowSeed[row])
			sum += (turn + 1) * int64(b.Action[row])
		}
		require.NoError(t, s.Step())
		for _, r := range b.Reward {
			sum += (turn + 1) * int64(r)
		}
	}
	want := fmt.Sprint(sum)
	assert.Truef(t, len(got) == 1 && got[0] == want, "the example in C prints %q, the same games in Go have %s", got, want)
}

// choice is the function of that name in example.c.
func choice(mask []uint64, key uint64) int32 {
	n := uint64(64 * len(mask))
	for k := range n {
		if i := (key%n + k) % n; mask[i/64]>>(i%64)&1 != 0 {
			return int32(i)
		}
	}
	return -1
}

// TestMisuse calls the library with invalid arguments, more than a thousand
// times.
func TestMisuse(t *testing.T) {
	p := program(t, "testdata/misuse.c")
	for _, seed := range []string{"1", "2"} {
		counts := run(t, p, seed, "1000")
		for c, n := range counts {
			expected := code(c) != codeInternal && code(c) != codeEnd
			if code(c) != codeTimeout && (n != "0") != expected {
				t.Errorf("seed %s: code %d was returned %s times", seed, c, n)
			}
		}
		assert.Lenf(t, counts, int(codeMemory)+1, "seed %s", seed)
	}
}

// TestSanitized runs the programs with the address sanitizers of Go and C: the
// library writes past no slab.
func TestSanitized(t *testing.T) {
	if os.Getenv("MOONFARM_LONG") == "" {
		t.Skip("left out: MOONFARM_LONG is not set")
	}
	dir := t.TempDir()
	text, err := exec.Command("go", "build", "-asan", "-buildmode=c-shared", "-o", filepath.Join(dir, "libmoonfarm.so"), ".").CombinedOutput()
	if err != nil {
		t.Skipf("left out: there is no address sanitizer here: %s", text)
	}
	const flag = "-fsanitize=address"
	plain, sanitized := run(t, program(t, "examples/example.c")), run(t, compile(t, dir, "examples/example.c", flag))
	assert.True(t, slices.Equal(plain, sanitized), "the example prints")
	run(t, compile(t, dir, "testdata/misuse.c", flag), "3", "1000")
	steps := compile(t, dir, "testdata/steps.c", flag)
	for _, g := range catalog.Games() {
		run(t, steps, g.Name, "3", "300")
	}
}

// TestFlatMemory takes enough steps to see whether memory grows.
func TestFlatMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("left out: only Linux has /proc, which measures memory")
	}
	steps := "300000"
	if os.Getenv("MOONFARM_LONG") != "" {
		steps = "10000000"
	}
	got := run(t, program(t, "testdata/steps.c"), "towerdefence", "1", steps)
	before, _ := strconv.Atoi(got[1])
	after, _ := strconv.Atoi(got[2])
	t.Logf("%s steps: %d KiB after a tenth, %d KiB at the end", steps, before, after)
	assert.Truef(t, before != 0 && after <= before+8<<10, "%s steps: %d KiB after a tenth, %d KiB at the end", steps, before, after)
}
