package full

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/command"
	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
	"moonfarm/env/catalog"
	"moonfarm/rollout/farm"
)

// tronSpec is the spec of a small run.
func tronSpec(t *testing.T, out string) *farm.Spec {
	t.Helper()
	text := jobOf(t, 10, 5)
	var j datasets.Job
	g, err := catalog.Find("tron")
	if err == nil {
		err = json.Unmarshal(text, &j)
	}
	var r *datasets.Run
	if err == nil {
		r, err = datasets.OpenRun(t.Context(), out, j, command.Makers(g), datasets.Options{Workers: 1})
	}
	require.NoError(t, err)
	defer r.Close()
	return &farm.Spec{Name: "tron", Build: r.Build(), Shards: 2, Episodes: 10, Out: out, Job: text}
}

// startWith starts the program with a text as its standard input, and kills it at the end of the test.
func startWith(t *testing.T, text string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(console.FullProgram, args...)}
	p.Stdin, p.Stdout, p.Stderr = strings.NewReader(text), &p.Out, &p.Errs
	require.NoError(t, p.Start())
	t.Cleanup(func() {
		if p.ProcessState == nil {
			p.Process.Kill()
			p.Wait()
		}
	})
	return p
}

// TestFarmSecrets: on one machine the commands of a user find the server's key, and nobody
// else can connect. Credentials admit a worker on another machine. The server refuses
// outputs that are not allowed, also from a client that does not check them, and writes
// nothing there.
func TestFarmSecrets(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	dir := t.TempDir()
	s := serveFarm(t, "--store", filepath.Join(dir, "store"), "--allow-out", filepath.Join(dir, "data"))
	info, err := os.Stat(s.Key)
	require.NoErrorf(t, err, "the key %s has mode %v", s.Key, info.Mode())
	require.Truef(t, info.Mode().Perm() == 0o600, "the key %s has mode %v", s.Key, info.Mode())
	out := filepath.Join(dir, "data", "tron")
	c := farm.NewClient(s.connect(t, farm.RoleOperator))
	commandtest.WaitUntil(t, "the coordinator answers", func() bool { _, err := c.Status(t.Context()); return err == nil })
	right := tronSpec(t, out)
	for _, wrong := range []string{"data", "-flag", "/proc/self/cwd/x", filepath.Join(dir, "elsewhere"), "s3://bucket/x?endpoint=http://127.0.0.1:1"} {
		bad := *right
		bad.Out = wrong
		_, err = c.Submit(t.Context(), &bad)
		assert.ErrorContainsf(t, err, "output ", "output %s", wrong)
	}
	_, err = os.Stat(filepath.Join(dir, "elsewhere"))
	assert.Truef(t, os.IsNotExist(err), "a refused output was made: %v", err)
	_, err = c.Submit(t.Context(), right)
	require.NoError(t, err)
	text := finish(t, "farm", "credentials", "--name", "m2", "--connect", s.URL)
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // hides the key, as on another machine
	p := start(t, "farm", "status", "--connect", s.URL)
	err = p.Wait()
	assert.Truef(t, err != nil && strings.Contains(p.Errs.String(), "the server does not know a client without credentials"), "status without credentials: %v: %s", err, &p.Errs)
	w := startWith(t, text, "farm", "worker", "--connect", s.URL, "--credentials", "-", "--workers", "1")
	t.Setenv("XDG_CACHE_HOME", cache)
	commandtest.WaitUntil(t, "the run is done", func() bool { return farmStatusOf(t, s.URL).Runs[0].State == farm.Done })
	st := farmStatusOf(t, s.URL)
	assert.Truef(t, len(st.Workers) == 1 && st.Workers[0].Name == "m2", "the workers are %+v", st.Workers)
	stops(t, w.Cmd, &w.Errs)
	stops(t, s.Cmd, &s.errs)
	left, _ := filepath.Glob(filepath.Join(cache, "moonfarm", "farm", "servers", "*"))
	assert.Empty(t, left, "after its end a server is still noted")
	_, err = datasets.Open(out)
	assert.NoError(t, err)
}

// TestFarmNetwork: farm submit takes a network by its path. The server and the workers read
// it from the output, and never a file that a spec names.
func TestFarmNetwork(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	data, err := os.ReadFile(filepath.Join(top, "rollout", "network", "testdata", "heads.onnx"))
	require.NoError(t, err)
	net := filepath.Join(dir, "nets", "heads.onnx")
	require.NoError(t, os.Mkdir(filepath.Dir(net), 0o777))
	require.NoError(t, os.WriteFile(net, data, 0o666))
	out, want := filepath.Join(dir, "data"), filepath.Join(dir, "want")
	args := []string{"towerdefence", "--policy", net + ",econ", "--episodes", "2", "--shard-episodes", "1", "--max-turns", "5", "--out"}
	commandtest.Finish(t, "moonfarm", append(append([]string{"generate"}, args...), want)...)
	s := serveFarm(t, "--store", filepath.Join(dir, "store"), "--allow-out", dir)
	id := strings.TrimSpace(finish(t, append(append([]string{"farm", "submit", "--connect", s.URL}, args...), out)...))
	require.NoError(t, os.RemoveAll(filepath.Dir(net)))
	w := startWorker(t, s.URL, "w")
	commandtest.WaitUntil(t, "the run is done", func() bool { st := farmStatusOf(t, s.URL); return st.Runs[0].ID == id && st.Runs[0].State == farm.Done })
	commandtest.RequireSame(t, want, out)
	stops(t, w.Cmd, &w.Errs)

	c := farm.NewClient(s.connect(t, farm.RoleOperator))
	for _, name := range []string{"/etc/secret.onnx", "../heads.onnx", "heads.onnx"} {
		spec := tronSpec(t, filepath.Join(dir, "other"))
		spec.Job = json.RawMessage(strings.Replace(string(spec.Job), `"random"`, `"`+name+`"`, 1))
		_, err = c.Submit(t.Context(), spec)
		assert.ErrorContainsf(t, err, "a file of this machine", "a policy of the file %s", name)
	}
	stops(t, s.Cmd, &s.errs)
}

// TestFarmLinks: when a folder below --allow-out becomes a link to another one while a run goes on,
// nothing is written there, by a worker of before and by one that starts later. A submission that is refused
// leaves no folder behind.
func TestFarmLinks(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	allowed, outside := filepath.Join(dir, "allowed"), filepath.Join(dir, "outside")
	for _, d := range []string{allowed, outside} {
		require.NoError(t, os.Mkdir(d, 0o777))
	}
	s := serveFarm(t, "--store", filepath.Join(dir, "store"), "--allow-out", allowed)
	submit := func(out string) *process {
		return start(t, "farm", "submit", "tron", "--episodes", "400000", "--shard-episodes", "20", "--out", out, "--connect", s.URL)
	}
	p := submit(filepath.Join(dir, "elsewhere", "a", "tron"))
	require.Error(t, p.Wait())
	commandtest.Wants(t, p.Errs.String(), "not allowed here")
	require.NoDirExists(t, filepath.Join(dir, "elsewhere"))
	p = submit(filepath.Join(outside, "tron")) // a folder that existed stays
	require.Error(t, p.Wait())
	requireEmpty(t, outside)

	in := filepath.Join(allowed, "in")
	p = submit(filepath.Join(in, "tron"))
	require.NoErrorf(t, p.Wait(), "%s", &p.Errs)
	first := startWorker(t, s.URL, "first")
	made := func() int { return farmStatusOf(t, s.URL).Runs[0].Made }
	commandtest.WaitUntil(t, "some shards are made", func() bool { return made() > 4 })
	require.NoError(t, os.Rename(in, filepath.Join(allowed, "moved")))
	require.NoError(t, os.Symlink(outside, in))
	before := made()
	second := startWorker(t, s.URL, "second")
	commandtest.WaitUntil(t, "more shards are made, and the second worker is refused", func() bool {
		return made() > before+20 && strings.Contains(finish(t, "farm", "status", "--json", "--connect", s.URL), "not allowed here")
	})
	requireEmpty(t, outside)
	finish(t, "farm", "cancel", farmStatusOf(t, s.URL).Runs[0].ID, "--connect", s.URL)
	stops(t, first.Cmd, &first.Errs)
	stops(t, second.Cmd, &second.Errs)
	stops(t, s.Cmd, &s.errs)
	requireEmpty(t, outside)
}

// requireEmpty fails the test unless a folder is empty.
func requireEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, entries, dir)
}
