package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var when = time.Date(2026, 11, 25, 6, 7, 8, 0, time.UTC)

// write writes files into a folder, texts by name.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
}

// unpacked returns a line with name, mode and time for each file of an archive, and the
// content of the files by name.
func unpacked(t *testing.T, file string) (lines []string, bytesOf map[string][]byte) {
	t.Helper()
	bytesOf = map[string][]byte{}
	add := func(name string, info os.FileInfo, in io.Reader) {
		data, err := io.ReadAll(in)
		require.NoError(t, err)
		lines = append(lines, fmt.Sprintf("%s %v %s", name, info.Mode(), info.ModTime().UTC().Format(time.RFC3339)))
		bytesOf[name] = data
	}
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	if strings.HasSuffix(file, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		require.NoError(t, err)
		for _, f := range z.File {
			in, err := f.Open()
			require.NoError(t, err)
			add(f.Name, f.FileInfo(), in)
		}
		return lines, bytesOf
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	archive := tar.NewReader(z)
	for {
		h, err := archive.Next()
		if err == io.EOF {
			return lines, bytesOf
		}
		require.NoError(t, err)
		add(h.Name, h.FileInfo(), archive)
	}
}

// TestRelease builds two releases of a small module, compares their bytes and checks their
// content.
func TestRelease(t *testing.T) {
	root := t.TempDir()
	const program = "package main\n\nfunc main() {}\n"
	write(t, root, map[string]string{
		"go.mod": "module small\n\ngo 1.26\n", "README.md": "read", "CHANGELOG.md": "changed", "THIRD_PARTY_NOTICES": "terms",
		"cmd/one/main.go": program, "cmd/two/main.go": program, "cmd/libmoonfarm/main.go": program, "cmd/one/examples/x/main.go": program, "cmd/internal/y/y.go": "package y\n",
	})
	host := runtime.GOOS + "/" + runtime.GOARCH
	platforms := []string{host}
	if os.Getenv("MOONFARM_LONG") != "" && runtime.GOOS != "windows" {
		platforms = append(platforms, "windows/amd64")
	}
	names, err := commands(t.Context(), root)
	require.NoError(t, err)
	assert.Equal(t, []string{"one", "two"}, names)
	var outs []string
	for _, dir := range []string{"a", "b"} {
		r := &release{root: root, out: filepath.Join(t.TempDir(), "new", dir), version: "1.2.3", profile: "off", commands: names, platforms: platforms, when: when, log: io.Discard}
		require.NoError(t, r.make(t.Context()))
		outs = append(outs, r.out)
		assert.ErrorContains(t, r.make(t.Context()), "exists already")
		left, err := os.ReadDir(filepath.Dir(r.out))
		require.NoError(t, err)
		assert.Len(t, left, 1, "files that are not in the folder")
	}
	entries, err := os.ReadDir(outs[0])
	require.NoError(t, err)
	assert.Len(t, entries, 2*len(platforms)+1)
	sums, err := os.ReadFile(filepath.Join(outs[0], "SHA256SUMS"))
	require.NoError(t, err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(outs[0], e.Name()))
		require.NoError(t, err)
		again, err := os.ReadFile(filepath.Join(outs[1], e.Name()))
		require.NoError(t, err)
		assert.True(t, bytes.Equal(data, again), "%s differs", e.Name())
		if e.Name() != "SHA256SUMS" {
			assert.Contains(t, string(sums), fmt.Sprintf("%x  %s\n", sha256.Sum256(data), e.Name()))
		}
	}
	for _, platform := range platforms {
		checkArchive(t, outs[0], platform)
	}
}

// checkArchive checks the content of the archive of the command one.
func checkArchive(t *testing.T, out, platform string) {
	t.Helper()
	name := "one-1.2.3-" + strings.ReplaceAll(platform, "/", "-")
	program, ending := name+"/one", ".tar.gz"
	if strings.HasPrefix(platform, "windows/") {
		program, ending = program+".exe", ".zip"
	}
	lines, bytesOf := unpacked(t, filepath.Join(out, name+ending))
	const at = " 2026-11-25T06:07:08Z"
	assert.Equal(t, []string{name + "/ drwxr-xr-x" + at, name + "/CHANGELOG.md -rw-r--r--" + at, name + "/README.md -rw-r--r--" + at, name + "/THIRD_PARTY_NOTICES -rw-r--r--" + at, program + " -rwxr-xr-x" + at}, lines)
	assert.Equal(t, "read", string(bytesOf[name+"/README.md"]))
	if strings.HasPrefix(platform, "linux/") {
		f, err := elf.NewFile(bytes.NewReader(bytesOf[program]))
		require.NoError(t, err)
		assert.Nil(t, f.Section(".symtab"), "it is not stripped")
		assert.Nil(t, f.Section(".interp"), "it is not static")
	}
}

// TestWheels: a wheel of another platform needs its C compiler.
func TestWheels(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("left out: the compilers of the test are those of linux/amd64")
	}
	bin := t.TempDir()
	pip := "#!/bin/sh\necho \"$GOOS/$GOARCH $CC\" >>made\n"
	for name, text := range map[string]string{"pip": pip, "x86_64-w64-mingw32-gcc": ""} {
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(text), 0o777))
	}
	for name, value := range map[string]string{"PYTHON": filepath.Join(bin, "pip"), "PATH": bin, "GOOS": "", "GOARCH": "", "CC": ""} {
		t.Setenv(name, value)
	}
	var log strings.Builder
	r := &release{root: t.TempDir(), profile: "off", platforms: platforms, log: &log}
	require.NoError(t, r.buildWheels(t.Context(), "files"))
	made, err := os.ReadFile(filepath.Join(r.root, "made"))
	require.NoError(t, err)
	assert.Equal(t, "/ \nwindows/amd64 x86_64-w64-mingw32-gcc\n", string(made))
	assert.Equal(t, `no wheel for linux/arm64: there is no aarch64-linux-gnu-gcc
no wheel for darwin/amd64: a machine of that platform makes it
no wheel for darwin/arm64: a machine of that platform makes it
no wheel for windows/arm64: a machine of that platform makes it
`, log.String())
}

// TestRefused: a refused release leaves no files.
func TestRefused(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{"go.mod": "module small\n\ngo 1.26\n", "README.md": "", "CHANGELOG.md": "", "THIRD_PARTY_NOTICES": "", "cmd/one/main.go": "package main\n\nfunc main() { x }\n"})
	for platform, want := range map[string]string{
		runtime.GOOS + "/" + runtime.GOARCH: "one for .*undefined: x",
		"linux":                             "one for linux: expected system/architecture",
		"plan9/sparc":                       "one for plan9/sparc: .*unsupported GOOS/GOARCH",
	} {
		t.Run(strings.ReplaceAll(platform, "/", " "), func(t *testing.T) {
			r := &release{root: root, out: filepath.Join(t.TempDir(), "out"), version: "1", profile: "off", commands: []string{"one"}, platforms: []string{platform}, log: io.Discard}
			err := r.make(t.Context())
			require.Error(t, err)
			assert.Regexp(t, "(?s)"+want, err.Error())
			left, err := os.ReadDir(filepath.Dir(r.out))
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

func TestCheckTag(t *testing.T) {
	assert.NoError(t, checkTag("1.2.3", []string{"other", "v1.2.3"}, ""))
	assert.ErrorContains(t, checkTag("1.2.3", []string{"v1.2.4"}, ""), `does not have the tag v1.2.3 of its version; its tags: ["v1.2.4"]`)
	assert.ErrorContains(t, checkTag("1.2.3", nil, ""), "tag v1.2.3")
	assert.ErrorContains(t, checkTag("1.2.3", []string{"v1.2.3"}, " M README.md"), "not committed:\n M README.md")
}

func TestCheckChangelog(t *testing.T) {
	assert.NoError(t, checkChangelog("1.2.3", "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-11-25\n\n- x\n"))
	assert.NoError(t, checkChangelog("1.2.3", "# Changelog\n\n## [1.2.3] - 2026-11-25\n\n## [1.2.2] - 2026-11-24\n"))
	assert.ErrorContains(t, checkChangelog("1.2.3", "# Changelog\n\n## [1.2.2] - 2026-11-24\n"), "no section of version 1.2.3")
	assert.ErrorContains(t, checkChangelog("1.2.3", "# Changelog\n\n## [Unreleased]\n\n- x\n\n## [1.2.3] - 2026-11-25\n"), "changes before those of version 1.2.3:\n## [Unreleased]\n\n- x")
	assert.ErrorContains(t, checkChangelog("1.2.2", "# Changelog\n\n## [1.2.3] - 2026-11-25\n\n## [1.2.2] - 2026-11-24\n"), "changes before those of version 1.2.2")
}

// TestCommands: releases have every command of this module, and the profile exists.
func TestCommands(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	names, err := commands(t.Context(), root)
	require.NoError(t, err)
	assert.Contains(t, names, "moonfarm")
	for _, name := range names {
		assert.NotContains(t, []string{"libmoonfarm", "release"}, name)
		assert.DirExists(t, filepath.Join(root, "cmd", name))
	}
	assert.FileExists(t, filepath.Join(root, profile))
}
