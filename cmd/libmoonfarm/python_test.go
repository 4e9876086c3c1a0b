//go:build cgo

package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/stepper"
)

// pythonFolder has the package and its tests.
const pythonFolder = "../../env/python"

// python returns the first Python that can run the package: the one in
// MOONFARM_PYTHON, else in PATH, else the system's.
func python(t *testing.T) string {
	t.Helper()
	named := os.Getenv("MOONFARM_PYTHON")
	for _, name := range []string{cmp.Or(named, "python3"), cmp.Or(named, "/usr/bin/python3")} {
		if exec.Command(name, "-c", "import sys, numpy; assert sys.version_info >= (3, 9)").Run() == nil {
			return name
		}
	}
	require.Equalf(t, "", named, "MOONFARM_PYTHON names %q, which is not a Python 3.9 with numpy", named)
	t.Skip("left out: there is no Python 3.9 with numpy (MOONFARM_PYTHON may name one)")
	return ""
}

// runPython runs Python in the package's folder, with this library, and returns
// its output.
func runPython(t *testing.T, args ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("left out: Python starts too often for -short")
	}
	name := python(t)
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("left out: there is no gcc")
	}
	dir, err := built()
	require.NoError(t, err)
	readPython(t)
	c := exec.Command(name, append([]string{"-B"}, args...)...)
	c.Dir = pythonFolder
	c.Env = append(os.Environ(), "MOONFARM_LIBRARY="+filepath.Join(dir, "libmoonfarm.so"))
	out, err := c.CombinedOutput()
	require.NoErrorf(t, err, "%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	return strings.TrimSpace(string(out))
}

// TestPython runs the tests of the Python package, with MOONFARM_LONG those of all games in the examples.
func TestPython(t *testing.T) {
	out := runPython(t, "-m", "unittest", "discover")
	t.Logf("MOONFARM_LONG=%s: %s", os.Getenv("MOONFARM_LONG"), out[strings.LastIndexByte(out, '\n')+1:])
}

// TestPythonPlaysTheSame: the same seeds and actions give the same bits from
// Python, by steps and by blocks, as from Go.
func TestPythonPlaysTheSame(t *testing.T) {
	var cases, want []string
	for _, g := range catalog.Games() {
		steps := 120
		if g.Name == "codecraft" {
			steps = 8
		}
		opponents := []string{"", "random"}
		if _, err := policy.New(g.Name, "net"); err == nil {
			opponents = append(opponents, "net")
		}
		v, err := g.New("", env.Settings{N: 1})
		require.NoError(t, err)
		for _, form := range v.Spec().Forms {
			for _, opponent := range opponents {
				for mode, name := range []string{"next_step", "same_step"} {
					cases = append(cases, fmt.Sprintf("%s,%s,%s,%s,%d", g.Name, form.Form, opponent, name, steps))
					sum := trajectory(t, g, form.Form, opponent, env.Mode(mode), steps)
					want = append(want, sum+" "+sum)
				}
			}
		}
	}
	got := strings.Split(runPython(t, append([]string{"-m", "tests.trajectory"}, cases...)...), "\n")
	for i, name := range cases {
		if len(got) != len(want) || got[i] != want[i] {
			t.Errorf("%s: the hashes of Python are %q, that of Go twice is %q", name, got[min(i, len(got)-1)], want[i])
		}
	}
}

// trajectory computes what trajectory.py does.
func trajectory(t *testing.T, g catalog.Entry, form, opponent string, mode env.Mode, steps int) string {
	c := stepper.Setup{
		Vector: func(c env.Settings) (env.Vector, error) { return g.New("", c) },
		Env:    env.Settings{N: 4, Form: form}, Seat: stepper.AllSeats, Autoreset: mode, Workers: 1,
	}
	if opponent != "" {
		m, err := policy.New(g.Name, opponent)
		require.NoError(t, err)
		c.Seat, c.Opponents = stepper.AnySeat, []rollout.Maker{rollout.Maker(m)}
	}
	s, err := stepper.New(c)
	require.NoError(t, err)
	defer s.Close()
	spec, rows := s.Spec(), s.Rows()
	b := &stepper.Slabs{
		Planes: make([]uint8, rows*spec.Shape.PlaneBytes()), Packed: make([]uint64, rows*spec.Shape.Words),
		Scalars: make([]float32, rows*spec.Shape.Scalars), Mask: make([]uint64, rows*spec.MaskWords),
		RowSeed: make([]uint64, rows), Action: make([]int32, rows*len(spec.Heads)), Reward: make([]float32, rows),
		Waits: make([]bool, rows), Terminated: make([]bool, 4), Truncated: make([]bool, 4), Turn: make([]int32, 4), Episode: make([]uint64, 4),
	}
	if mode == env.SameStep {
		b.FinalPlanes, b.FinalPacked = slices.Clone(b.Planes), slices.Clone(b.Packed)
		b.FinalScalars = slices.Clone(b.Scalars)
	}
	require.NoError(t, cmp.Or(s.Bind(b), s.Reset([]uint64{11, 12, 13, 14}, nil)))
	random, err := policy.New(g.Name, "random")
	require.NoError(t, err)
	sum, answers := sha256.New(), make([]int32, len(b.Action))
	for range steps {
		choose(b, spec)
		require.NoError(t, s.Step())
		addSlabs(sum, b, rows/4)
		require.NoError(t, s.Ask("random", rollout.Maker(random), answers, nil))
		_ = binary.Write(sum, binary.LittleEndian, answers)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// choose writes the actions of trajectory.py.
func choose(b *stepper.Slabs, spec env.Spec) {
	for row, key := range b.RowSeed {
		if len(spec.Heads) == 1 {
			b.Action[row] = legalChoice(b.Mask[row*spec.MaskWords:][:spec.MaskWords], key)
			continue
		}
		for h, n := range spec.Heads {
			b.Action[row*len(spec.Heads)+h] = int32((key >> (h % 40)) % uint64(n))
		}
	}
}

// legalChoice returns the legal choice that key selects, as trajectory.py does,
// or −1 if there is none.
func legalChoice(mask []uint64, key uint64) int32 {
	var legal []int32
	for i := range 64 * len(mask) {
		if mask[i/64]>>(i%64)&1 != 0 {
			legal = append(legal, int32(i))
		}
	}
	if len(legal) == 0 {
		return -1
	}
	return legal[key%uint64(len(legal))]
}

// addSlabs adds the slabs that a step wrote to the hash.
func addSlabs(sum hash.Hash, b *stepper.Slabs, perGame int) {
	flags := []bool{}
	for _, of := range [][]bool{b.Terminated, b.Truncated} {
		for _, flag := range of {
			flags = append(flags, slices.Repeat([]bool{flag}, perGame)...)
		}
	}
	for _, slab := range []any{b.Planes, b.Packed, b.Scalars, b.Mask, b.RowSeed, b.Reward, flags, b.Turn, b.Episode, b.Waits} {
		_ = binary.Write(sum, binary.LittleEndian, slab) // a hash never fails
	}
}

// readPython opens all files of the package, so that go test caches the result
// only while they are unchanged. It also checks that no file of Python is
// longer than one of Go may be.
func readPython(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(pythonFolder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".py" {
			return err
		}
		text, err := os.ReadFile(path)
		lines := strings.Count(string(text), "\n")
		assert.Truef(t, lines <= 500 || strings.HasPrefix(d.Name(), "test_"), "%s: %d lines, the limit is 500: split it by subject", path, lines)
		return err
	})
	require.NoError(t, err)
}
