package moonfarm_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// These tests demand arithmetic with the same bits on every machine. The compiler
// may fuse x*y + z into one instruction, which rounds once instead of twice;
// it does so on arm64, ppc64le, s390x, riscv64 and loong64, and on amd64 from
// GOAMD64=v3 on. Only an explicit conversion, float32(x*y) + z, prevents it.
// In package math only the exact functions give the same bits everywhere.

// exactRooms are the folders that compute numbers of states, features, datasets and
// results.
var exactRooms = []string{"sim", "features", "env", "rollout", "datasets"}

// fusedLine is a line of the compiler's listing with a fused multiply-add or
// multiply-subtract of any architecture:
//
//	0x0058 00088 (/src/features/terminal/scalars.go:67)	FMADDS	F0, F1, F2, F3
var fusedLine = regexp.MustCompile(`\(([^()]+\.go:\d+)\)\t([VW]?FN?M(?:ADD|SUB|ADB|SDB)\w*)\t`)

// fused reads a listing and returns the places of its fused instructions, each once:
// "file.go:12: FMADDD".
func fused(listing io.Reader) (places []string, lines int, err error) {
	seen := map[string]bool{}
	in := bufio.NewScanner(listing)
	in.Buffer(nil, 1<<20)
	for ; in.Scan(); lines++ {
		m := fusedLine.FindStringSubmatch(in.Text())
		if m == nil {
			continue
		}
		if place := m[1] + ": " + m[2]; !seen[place] {
			seen[place] = true
			places = append(places, place)
		}
	}
	return places, lines, in.Err()
}

// TestNoFusedArithmetic compiles the packages of the light command and of the C library
// for two architectures, which fuse differently, and reads the compiler's listing. The
// farm and the stores are left out: they compute no number of a result, and their
// dependencies would take minutes to compile.
func TestNoFusedArithmetic(t *testing.T) {
	if os.Getenv("MOONFARM_LONG") == "" {
		t.Skip("set MOONFARM_LONG=1 to compile for arm64 and ppc64le and read the listings")
	}
	for _, arch := range []string{"arm64", "ppc64le"} {
		t.Run(arch, func(t *testing.T) { compileWithoutFused(t, arch) })
	}
}

// exactPackages returns the packages of exactRooms that the light command and the stepper
// of the C library are made of.
func exactPackages(t *testing.T) []string {
	list, err := exec.Command("go", "list", "-deps", "./cmd/moonfarm", "./rollout/stepper").Output()
	require.NoError(t, err)
	var packages []string
	for _, p := range strings.Fields(string(list)) {
		if own, ok := strings.CutPrefix(p, module+"/"); ok && withinAny(own, exactRooms) {
			packages = append(packages, "./"+own)
		}
	}
	require.Greater(t, len(packages), 50)
	return packages
}

func compileWithoutFused(t *testing.T, arch string) {
	args := append([]string{"build", "-gcflags=" + module + "/...=-S"}, exactPackages(t)...)
	build := exec.Command("go", args...)
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0")
	listing, err := build.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, build.Start())
	places, lines, err := fused(listing)
	assert.NoError(t, err)
	require.NoErrorf(t, build.Wait(), "go %s", strings.Join(args, " "))
	assert.GreaterOrEqualf(t, lines, 100_000, "the listing has %d lines, too few for these packages", lines)
	here, err := os.Getwd()
	require.NoError(t, err)
	for _, place := range places {
		t.Errorf("%s: x*y + z is fused: write float32(x*y) + z, or float64", strings.TrimPrefix(place, here+string(filepath.Separator)))
	}
}

// TestFusedIsFound compiles a function with a multiply-add over two statements, which is
// fused, and a function that is not.
func TestFusedIsFound(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "sum.go")
	text := `package sum

func fused(x, y, z float64) float64 {
	p := x * y
	return z + p
}

func apart(x, y, z float32) float32 { return z + float32(x*y) }

var F, G = fused, apart
`
	require.NoError(t, os.WriteFile(source, []byte(text), 0o666))
	compile := exec.Command("go", "tool", "compile", "-p", "sum", "-S", "-o", filepath.Join(dir, "sum.o"), source)
	compile.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64")
	listing, err := compile.CombinedOutput()
	require.NoErrorf(t, err, "%v\n%s", err, listing)
	places, _, err := fused(strings.NewReader(string(listing)))
	require.NoError(t, err)
	want := source + ":5: FMADDD"
	assert.Truef(t, len(places) == 1 && places[0] == want, "found %q, want %s alone", places, want)
}

// inexact lists the functions of package math whose last bits differ between machines: some
// are written in assembly, and others are fused.
var inexact = strings.Fields(`Acos Acosh Asin Asinh Atan Atan2 Atanh Cbrt Cos Cosh Erf Erfc Erfcinv Erfinv Exp Exp2 Expm1
	Gamma Hypot J0 J1 Jn Lgamma Log Log10 Log1p Log2 Pow Sin Sincos Sinh Tan Tanh Y0 Y1 Yn`)

// TestExactMath refuses the inexact functions in the rooms.
func TestExactMath(t *testing.T) {
	var names []string
	for _, name := range inexact {
		names = append(names, "math."+name)
	}
	for _, s := range sources(t) {
		if !s.test && withinAny(s.dir, exactRooms) {
			s.refuse(t, "has other last bits on other machines", names...)
		}
	}
}
