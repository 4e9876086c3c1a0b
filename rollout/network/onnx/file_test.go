package onnx_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features"
	"moonfarm/rollout/network/onnx"
	"moonfarm/rollout/policy/neural/neuraltest"
)

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	require.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, data, 0o666)))
}

// model returns a network in one file.
func model() []byte {
	return neuraltest.Model(env.Spec{FormSpec: env.FormSpec{Shape: features.Shape{Planes: 3, Height: 2, Width: 2, Scalars: 4}, Heads: []int{5}}}, 1, true)
}

// ReadFile returns the same bytes for a file with external data as for the file that contains
// the data.
func TestReadFile(t *testing.T) {
	whole := model()
	for _, location := range []string{"m.onnx.data", "weights/one.bin", "é x.bin", "./m.onnx.data", "weights/../w.bin"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "m.onnx")
		rest, data := neuraltest.Split(whole, location)
		write(t, path, rest)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "weights"), 0o777))
		write(t, filepath.Join(dir, location), data)
		got, err := onnx.ReadFile(path)
		require.NoErrorf(t, err, "%q: %d bytes, want %d", location, len(got), len(whole))
		assert.Truef(t, bytes.Equal(got, whole), "%q: %d bytes, want %d", location, len(got), len(whole))
	}
	path := filepath.Join(t.TempDir(), "whole.onnx")
	write(t, path, whole)
	got, err := onnx.ReadFile(path)
	require.NoError(t, err, "a file without other data is not itself")
	assert.True(t, bytes.Equal(got, whole), "a file without other data is not itself")
	_, err = onnx.Parse(func() []byte { rest, _ := neuraltest.Split(whole, "x"); return rest }())
	assert.ErrorContains(t, err, `initializer 0 "constant0": expected its numbers in the file, found a reference`, "without a folder")
}

// Data is read only from the model's folder, and only if it is complete.
func TestReadFileRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nets")
	path := filepath.Join(dir, "m.onnx")
	rest, data := neuraltest.Split(model(), "m.data")
	write(t, path, rest)
	outside := filepath.Join(filepath.Dir(dir), "m.data")
	write(t, outside, data)
	at := func(location string) []byte { rest, _ := neuraltest.Split(model(), location); return rest }
	replaced := func(old, new string) []byte {
		// Texts of equal length, so that the lengths of messages stay the same.
		return bytes.Replace(at("m.data"), []byte(old), []byte(new), 1)
	}
	link := filepath.Join(dir, "link.data")
	err := os.Symlink(outside, link)
	require.True(t, err == nil || runtime.GOOS == "windows", err)
	write(t, filepath.Join(dir, "lfs.data"), []byte("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 4096\n"))
	write(t, filepath.Join(dir, "short.data"), data[:100])
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o777))
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"no file", at("gone.data"), `array "constant0", whose data is in another file, "gone.data": there is no such file beside the model`},
		{"above", at("../m.data"), `expected a path below the model's own folder, without ".."`},
		{"absolute", at(outside), "expected a path below"},
		{"backslash", at(`..\m.data`), "expected a path below"},
		{"no location", at(""), "expected a path below"},
		{"symlink", at("link.data"), "link.data"},
		{"folder", at("folder"), "not a regular file"},
		{"pointer", at("lfs.data"), "found a pointer of Git LFS: the file of 4096 bytes itself is fetched by git lfs pull"},
		{"short", at("short.data"), "expected a length from 0 to 100,"},
		{"negative length", replaced("224", "-24"), `found "-24"`},
		{"word as length", replaced("224", "two"), `found "two"`},
		{"offset", replaced("256", "999"), `expected an offset from 0 to`},
		{"no elements", []byte("\x08\x08:\x02"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, path, c.file)
			write(t, filepath.Join(dir, "m.data"), data)
			_, err := onnx.ReadFile(path)
			assert.Truef(t, c.want == "" || err != nil && strings.Contains(err.Error(), c.want), "%v, want %q", err, c.want)
		})
	}
	for text, want := range map[string]string{
		"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n": "expected a network, found a pointer of Git LFS: the file of 12345 bytes itself is fetched by git lfs pull",
		"": "found a file that begins with \"\"", "<!DOCTYPE html>": "expected fields of an ONNX model", "{\"a\":1}": "expected fields of an ONNX model", "\x00\x00": "expected fields",
	} {
		t.Run(want, func(t *testing.T) {
			write(t, path, []byte(text))
			_, err := onnx.ReadFile(path)
			assert.ErrorContainsf(t, err, want, "%q", text)
		})
	}
	_, err = onnx.ReadFile(path + "x")
	assert.ErrorIs(t, err, fs.ErrNotExist, "of no file")
}

// A file that is too large or not a model is refused before all of it is read.
func TestReadFileLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.onnx")
	var before, after runtime.MemStats
	for size, want := range map[int64]string{onnx.MaxFile + 1: "expected at most 1073741824 bytes, found 1073741825", onnx.MaxFile: "expected fields of an ONNX model"} {
		t.Run(fmt.Sprintf("%d bytes", size), func(t *testing.T) {
			f, err := os.Create(path)
			require.NoError(t, err)
			if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
				t.Skip("no sparse files here:", err)
			}
			runtime.ReadMemStats(&before)
			_, err = onnx.ReadFile(path)
			runtime.ReadMemStats(&after)
			assert.ErrorContainsf(t, err, want, "%d bytes", size)
			taken := after.TotalAlloc - before.TotalAlloc
			assert.LessOrEqualf(t, taken, uint64(1<<20), "%d bytes: %d bytes of memory", size, taken)
		})
	}
}

// Damaged files give errors.
func FuzzReadFile(f *testing.F) {
	rest, data := neuraltest.Split(model(), "m.data")
	f.Add(rest, data)
	f.Add(model(), []byte{})
	dir := f.TempDir()
	path := filepath.Join(dir, "m.onnx")
	f.Fuzz(func(t *testing.T, file, data []byte) {
		write(t, path, file)
		write(t, filepath.Join(dir, "m.data"), data)
		if whole, err := onnx.ReadFile(path); err == nil {
			onnx.Parse(whole)
		}
	})
}
