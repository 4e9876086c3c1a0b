package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing/fstest"
	"time"

	"moonfarm/sim/bounded"
)

// release describes the files to build.
type release struct {
	root      string // folder of the module
	out       string // the folder for the files; it does not exist yet
	version   string
	profile   string // for -pgo: a path from root, or "off"
	commands  []string
	platforms []string // system/architecture
	wheels    bool
	when      time.Time // modification time of all files in archives
	log       io.Writer
}

// make builds all files in a temporary folder and renames it when all are complete.
func (r *release) make(ctx context.Context) (err error) {
	if _, err := os.Lstat(r.out); err == nil {
		return fmt.Errorf("%s exists already", r.out)
	}
	if err := os.MkdirAll(filepath.Dir(r.out), 0o777); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(r.out), filepath.Base(r.out)+".*.part")
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, os.RemoveAll(work)) }()
	files := filepath.Join(work, "files")
	if err := os.Mkdir(files, 0o777); err != nil {
		return err
	}
	for _, platform := range r.platforms {
		for _, command := range r.commands {
			if err := r.archive(ctx, command, platform, work, files); err != nil {
				return fmt.Errorf("%s for %s: %w", command, platform, err)
			}
		}
	}
	if r.wheels {
		if err := r.buildWheels(ctx, files); err != nil {
			return err
		}
	}
	if err := writeSums(files); err != nil {
		return err
	}
	return os.Rename(files, r.out)
}

// mostFile bounds a file of a release in bytes.
const mostFile = 1 << 30

// archive builds a command and writes its archive into files.
func (r *release) archive(ctx context.Context, command, platform, work, files string) error {
	system, architecture, ok := strings.Cut(platform, "/")
	if !ok {
		return fmt.Errorf("expected system/architecture")
	}
	program := command
	if system == "windows" {
		program += ".exe"
	}
	built := filepath.Join(work, program)
	if err := r.build(ctx, command, system, architecture, built); err != nil {
		return err
	}
	name := fmt.Sprintf("%s-%s-%s-%s", command, r.version, system, architecture)
	members := fstest.MapFS{name: {Mode: fs.ModeDir | 0o755, ModTime: r.when}} // without the owners of this machine
	for member, file := range map[string]string{program: built, "README.md": filepath.Join(r.root, "README.md"), "CHANGELOG.md": filepath.Join(r.root, "CHANGELOG.md"),
		"THIRD_PARTY_NOTICES": filepath.Join(r.root, "THIRD_PARTY_NOTICES")} {
		data, err := bounded.ReadFile(os.Open, file, mostFile)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if member == program {
			mode = 0o755
		}
		members[name+"/"+member] = &fstest.MapFile{Data: data, Mode: mode, ModTime: r.when}
	}
	write, ending := writeTar, ".tar.gz"
	if system == "windows" {
		write, ending = writeZip, ".zip"
	}
	f, err := os.Create(filepath.Join(files, name+ending))
	if err != nil {
		return err
	}
	err = cmp.Or(write(f, members), f.Close())
	if info, statErr := os.Stat(f.Name()); err == nil && statErr == nil {
		fmt.Fprintf(r.log, "%s, %.1f MB\n", filepath.Base(f.Name()), float64(info.Size())/1e6)
	}
	return err
}

// build builds a command without C libraries, symbols and settings of this machine.
func (r *release) build(ctx context.Context, command, system, architecture, out string) error {
	return r.call(ctx, []string{"CGO_ENABLED=0", "GOOS=" + system, "GOARCH=" + architecture, "GOFLAGS=-buildvcs=auto", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0"},
		"go", "build", "-trimpath", "-pgo="+r.profile, "-ldflags=-s -w", "-o", out, "./cmd/"+command)
}

// crossCompilers are the C compilers with which a machine of another platform makes wheels. There is none for macOS, as it
// would need Apple's SDK.
var crossCompilers = map[string]string{"linux/amd64": "x86_64-linux-gnu-gcc", "linux/arm64": "aarch64-linux-gnu-gcc", "windows/amd64": "x86_64-w64-mingw32-gcc"}

// buildWheels builds the Python package for this platform, and for the others of the release if their compilers are there.
func (r *release) buildWheels(ctx context.Context, files string) error {
	host := runtime.GOOS + "/" + runtime.GOARCH
	if err := r.buildWheel(ctx, files, host); err != nil {
		return err
	}
	for _, platform := range r.platforms {
		compiler, known := crossCompilers[platform]
		_, err := exec.LookPath(compiler)
		switch system, architecture, _ := strings.Cut(platform, "/"); {
		case platform == host:
		case !known:
			fmt.Fprintf(r.log, "no wheel for %s: a machine of that platform makes it\n", platform)
		case err != nil:
			fmt.Fprintf(r.log, "no wheel for %s: there is no %s\n", platform, compiler)
		default:
			if err := r.buildWheel(ctx, files, platform, "GOOS="+system, "GOARCH="+architecture, "CC="+compiler); err != nil {
				return err
			}
		}
	}
	return nil
}

// buildWheel builds the Python package for the platform of an environment, and its programs with the profile.
func (r *release) buildWheel(ctx context.Context, files, platform string, environment ...string) error {
	python := cmp.Or(os.Getenv("PYTHON"), "python3")
	profile := r.profile
	if profile != "off" {
		profile = filepath.Join(r.root, profile)
	}
	environment = append(environment, fmt.Sprintf("GOFLAGS=-buildvcs=auto '-pgo=%s' '-ldflags=-s -w'", profile))
	err := r.call(ctx, environment, python, "-m", "pip", "wheel", "--no-index", "--no-deps", "--no-cache-dir", "--quiet", "--wheel-dir", files, "./env/python")
	if err != nil {
		return fmt.Errorf("wheel for %s: %w", platform, err)
	}
	return nil
}

// call runs a program in the root of the module.
func (r *release) call(ctx context.Context, environment []string, program string, args ...string) error {
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Env = r.root, append(os.Environ(), environment...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w:\n%s", strings.Join(c.Args, " "), err, out)
	}
	return nil
}

// writeSums writes the sums of all files of a folder into SHA256SUMS, in the form of
// sha256sum.
func writeSums(dir string) error {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, e := range entries {
		data, err := bounded.ReadFile(os.Open, filepath.Join(dir, e.Name()), mostFile)
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums.String()), 0o666)
}
