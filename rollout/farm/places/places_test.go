package places

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/farm"
)

// check fails if an output is not allowed.
func check(o Places, out string) error {
	_, _, err := o.find(out)
	return err
}

// TestOutputs: an output must be an absolute path or a URL in canonical form below an allowed
// place, also after symbolic links are resolved.
func TestOutputs(t *testing.T) {
	dir := t.TempDir()
	inside, outside := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for _, d := range []string{inside, outside, filepath.Join(inside, "real")} {
		require.NoError(t, os.Mkdir(d, 0o777))
	}
	links := true
	for name, to := range map[string]string{"away": outside, "near": filepath.Join(inside, "real"), "lost": filepath.Join(dir, "nothing")} {
		links = links && os.Symlink(to, filepath.Join(inside, name)) == nil
	}
	o, err := Allow([]string{inside, "s3://bucket/runs?endpoint=http://10.0.0.1:9000", "s3://open"})
	require.NoError(t, err)
	for _, out := range []string{
		inside, inside + "/a", inside + "/a/b/", inside + "/-x", "file://" + inside + "/a", "file://localhost" + inside,
		"s3://bucket/runs?endpoint=http://10.0.0.1:9000", "s3://bucket/runs/a?region=eu-west-1&endpoint=http://10.0.0.1:9000&use_path_style=true&timeout=5s",
		"s3://open", "s3://open/a/b?region=us-east-1",
	} {
		t.Run(out, func(t *testing.T) {
			assert.NoErrorf(t, check(o, out), "%s is refused", out)
		})
	}
	if links {
		assert.NoError(t, check(o, inside+"/near/a"), "a link within the folder is refused")
	}
	for out, want := range map[string]string{
		"": "absolute path", "data": "absolute path", "./data": "absolute path", "-flag": "absolute path", "--out": "absolute path", "../x": "absolute path",
		outside: "not allowed here", inside + "ner": "not allowed here", inside + "/../out": "absolute path", inside + "//a": "absolute path", "/": "not allowed here",
		"/proc/self/cwd/x": "/proc is not a folder", "file:///proc/self/cwd/x": "/proc is not a folder", "/dev/shm/x": "/dev is not a folder",
		inside + "/away/x": "not allowed here", "file://" + inside + "/away": "not allowed here", inside + "/lost/x": "missing target",
		inside + "/a\nb": "printable", "file://other" + inside: "on this machine", "file://" + inside + "?region=1": "on this machine",
		"file://" + inside + "/%2e%2e/out": "absolute path",
		"S3://open/a":                      "absolute path", "s3:///a": "expected s3://BUCKET/PREFIX", "s3://-bucket/a": "expected s3://BUCKET/PREFIX",
		"s3://open/a/../b": "without //", "s3://open/%2e%2e/b": "without //", "s3://opener/a": "not allowed here", "s3://bucket/run": "not allowed here",
		"s3://bucket/runs": "not allowed here", "s3://bucket/runsx?endpoint=http://10.0.0.1:9000": "not allowed here",
		"s3://open/a?endpoint=http://127.0.0.1:1": "not allowed here", "s3://bucket/runs?endpoint=http://127.0.0.1:1": "not allowed here",
		"s3://bucket/runs?endpoint=http://10.0.0.1:9000&endpoint=http://127.0.0.1:1": "given twice", "s3://open/a?profile=admin": "not allowed here",
		"s3://open/a?region=x.example%2F": "not allowed here", "s3://open/a?role=arn:x": "not allowed here", "s3://open/a?region=%zz": "cannot be read", "s3://open/a?x=1": "unknown query parameter",
		"s3://key:secret@open/a": "name or password", "s3://open/a#x": "found more", "gs://open/a": "not allowed here", "mem://open": "not allowed here",
		"s3://op en/a": "not a URL",
	} {
		t.Run(fmt.Sprintf("%q", out), func(t *testing.T) {
			if !links && (strings.Contains(out, "/away") || strings.Contains(out, "/lost")) {
				return
			}
			err := check(o, out)
			assert.ErrorContains(t, err, want, out)
			assert.Truef(t, err == nil || !strings.Contains(err.Error(), "secret") && !strings.Contains(err.Error(), "127.0.0.1"), "%s: the error repeats what may be a secret: %v", out, err)
		})
	}
	t.Chdir(inside)
	here, err := Allow(nil)
	require.NoError(t, err)
	assert.NoError(t, check(here, inside+"/a"), "below the current folder")
	assert.True(t, check(here, outside) != nil && check(here, "s3://open") != nil, "everything is allowed without a place")
}

// TestGuard: runs are opened by their folders without links, below their places; a worker without
// places of its own has the server's.
func TestGuard(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "real")
	require.NoError(t, os.MkdirAll(filepath.Join(real, "deep"), 0o777))
	if err := os.Symlink(real, filepath.Join(dir, "link")); err != nil {
		t.Skip("no links here:", err)
	}
	require.NoError(t, os.Symlink(filepath.Join(real, "deep"), filepath.Join(real, "near")))
	real, err := filepath.EvalSymlinks(real)
	require.NoError(t, err)
	o, err := Allow([]string{"mem://bucket", filepath.Join(dir, "link")})
	require.NoError(t, err)
	var opened *farm.Spec
	open := func(_ context.Context, s *farm.Spec, _ int) (farm.Shards, error) {
		opened = s
		return nil, nil
	}
	for out, want := range map[string][3]string{ // Within for a worker, Within, Folder
		filepath.Join(dir, "link", "near", "x"): {filepath.Join(dir, "link"), real, filepath.Join(real, "deep", "x")},
		filepath.Join(real, "x"):                {real, real, filepath.Join(real, "x")},
		"mem://bucket/x":                        {"", "", ""},
	} {
		sent := &farm.Spec{Out: out, Within: o.Within(out)}
		assert.Equal(t, want[0], sent.Within, out)
		for _, guarded := range []farm.Open{o.Guard(open), Obey(open)} {
			_, err := guarded(t.Context(), sent, 1)
			require.NoError(t, err)
			assert.Equal(t, want, [3]string{want[0], opened.Within, opened.Folder}, out)
			assert.Equal(t, sent.ID(), opened.ID(), "it is the same run")
		}
	}
	require.NoError(t, os.Remove(filepath.Join(real, "near")))
	require.NoError(t, os.Symlink(dir, filepath.Join(real, "near")))
	out := filepath.Join(dir, "link", "near", "x")
	_, err = Obey(open)(t.Context(), &farm.Spec{Out: out, Within: o.Within(out)}, 1)
	assert.ErrorContains(t, err, "not allowed here")
	_, err = Obey(open)(t.Context(), &farm.Spec{Out: out}, 1)
	assert.NoError(t, err, "a server without places")
}
