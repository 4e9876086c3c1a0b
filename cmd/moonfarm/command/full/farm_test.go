package full

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/datasets"
	"moonfarm/rollout/farm"
)

// farmServer is farm serve in a process of its own.
type farmServer struct {
	*exec.Cmd
	served
	errs strings.Builder
}

// serveFarm starts a server and waits until it listens.
func serveFarm(t *testing.T, args ...string) *farmServer {
	t.Helper()
	s := &farmServer{Cmd: exec.Command(console.FullProgram, append([]string{"farm", "serve", "--json", "--listen", "127.0.0.1:0"}, args...)...)}
	s.Stderr = &s.errs
	out, err := s.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, s.Start())
	t.Cleanup(func() { // in case the test failed
		if s.ProcessState == nil {
			s.Process.Kill()
			s.Wait()
		}
	})
	if err := json.NewDecoder(bufio.NewReader(out)).Decode(&s.served); err != nil {
		s.Wait()
		t.Fatalf("%v: %s", err, &s.errs)
	}
	return s
}

// connect connects to the server with a role.
func (f *farmServer) connect(t *testing.T, role string) *farm.Conn {
	t.Helper()
	c, err := farm.Connect(t.Context(), farm.ConnectOptions{URL: f.URL, Name: "test", Credentials: f.Key, Role: role})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// stops ends a process with SIGTERM, which must succeed.
func stops(t *testing.T, c *exec.Cmd, errs interface{ String() string }) {
	t.Helper()
	c.Process.Signal(syscall.SIGTERM)
	err := c.Wait()
	assert.NoErrorf(t, err, "%v after SIGTERM: %v\n%s", c.Args, err, errs)
}

// startWorker starts farm worker.
func startWorker(t *testing.T, url, name string) *process {
	t.Helper()
	return startWith(t, "", "farm", "worker", "--connect", url, "--name", name, "--workers", "2")
}

func farmStatusOf(t *testing.T, url string) (s farm.Status) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(finish(t, "farm", "status", "--json", "--connect", url)), &s))
	return s
}

// TestFarm: a server and two workers, each a process of its own, make the dataset of
// generate. The run can be inspected, cancelled and continued, and all processes succeed
// after SIGTERM.
func TestFarm(t *testing.T) {
	want, _ := commandtest.Reference(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	s := serveFarm(t, "--store", filepath.Join(dir, "store"), "--http", "127.0.0.1:0", "--allow-out", dir)
	out := filepath.Join(dir, "data")
	submit := append([]string{"farm", "submit"}, commandtest.GenerateArgs(out)[1:]...)
	submit = append(submit, "--connect", s.URL)

	id := strings.TrimSpace(finish(t, submit...))
	require.Equalf(t, 32, len(id), "submit printed %q, want an id", id)
	assert.Equal(t, id, strings.TrimSpace(finish(t, submit...)), "submitted again")
	if st := farmStatusOf(t, s.URL); len(st.Runs) != 1 || st.Runs[0].ID != id || st.Runs[0].State != farm.Running || st.Version != datasets.Version {
		t.Errorf("status %+v", st)
	}
	commandtest.Wants(t, finish(t, "farm", "status", "--connect", s.URL), id[:8], "no workers")
	commandtest.Wants(t, finish(t, "farm", "cancel", id[:6], "--connect", s.URL), "cancelled")
	p := start(t, append(submit[:len(submit):len(submit)], "--wait")...) // continues the run
	commandtest.WaitUntil(t, "the run goes on", func() bool { return farmStatusOf(t, s.URL).Runs[0].State == farm.Running })

	a, b := startWorker(t, s.URL, "a"), startWorker(t, s.URL, "b")
	err := p.Wait()
	require.NoErrorf(t, err, "submit --wait: %v: %s", err, &p.Errs)
	commandtest.Wants(t, p.Out.String(), out+": ", " rows/s")
	commandtest.RequireSame(t, want, out)

	st := farmStatusOf(t, s.URL)
	assert.Truef(t, len(st.Workers) == 2 && st.Workers[0].Shards+st.Workers[1].Shards == uint64(st.Runs[0].Shards) && st.Runs[0].State == farm.Done, "status at the end %+v", st)
	commandtest.Wants(t, finish(t, "farm", "status", id[:8], "--connect", s.URL, "--watch"), "done")
	commandtest.WaitUntil(t, "ready", func() bool { code, _ := request(t, s.HTTP, http.MethodGet, "readyz"); return code == 200 })
	for path, word := range map[string]string{"": "<title>moonfarm", "status.json": id, "metrics": "moonfarm_up 1", "readyz": "ready", "healthz": "alive"} {
		code, text := request(t, s.HTTP, http.MethodGet, path)
		assert.Truef(t, code == 200 && strings.Contains(text, word), "/%s: status %d, want 200 and %q:\n%.300s", path, code, word, text)
	}
	requireFarmErrors(t, s, dir, id)
	stops(t, a.Cmd, &a.Errs)
	stops(t, b.Cmd, &b.Errs)
	stops(t, s.Cmd, &s.errs)

	// The server knows a finished run after a restart.
	s = serveFarm(t, "--store", filepath.Join(dir, "store"), "--allow-out", dir)
	commandtest.Wants(t, finish(t, append(submit[:len(submit)-1:len(submit)-1], s.URL, "--wait")...), " is complete: ")
	stops(t, s.Cmd, &s.errs)

	// It also knows a complete dataset after its state was lost, without any worker.
	s = serveFarm(t, "--store", filepath.Join(dir, "new"), "--allow-out", dir)
	commandtest.Wants(t, finish(t, append(submit[:len(submit)-1:len(submit)-1], s.URL, "--wait")...), " is complete: ")
	if st := farmStatusOf(t, s.URL); len(st.Runs) != 1 || st.Runs[0].State != farm.Done || st.Runs[0].Rows == 0 {
		t.Errorf("status with a new store %+v", st)
	}
	stops(t, s.Cmd, &s.errs)
	commandtest.RequireSame(t, want, out)
}

// requireFarmErrors sends requests that a server with one run refuses.
func requireFarmErrors(t *testing.T, s *farmServer, dir, id string) {
	t.Helper()
	for _, c := range []struct{ args, want string }{
		{"farm status 0000", "moonfarm: no run 0000; there are: " + id[:8]},
		{"farm cancel xyz", "moonfarm: no run xyz; there are: " + id[:8]},
		{"farm retry " + id + "0", "moonfarm: no run " + id + "0; there are: " + id[:8]},
	} {
		t.Run(c.args, func(t *testing.T) {
			p := start(t, append(strings.Fields(c.args), "--connect", s.URL)...)
			err := p.Wait()
			assert.Truef(t, p.ProcessState.ExitCode() == console.ExitFailure && strings.HasPrefix(p.Errs.String(), c.want) && strings.Count(p.Errs.String(), "\n") == 1, "%v: %s, want %s", err, &p.Errs, c.want)
		})
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := farm.Work(ctx, s.connect(t, farm.RoleWorker), farm.WorkerOptions{Version: "0.0.1", Open: (&app{new(console.Console)}).openShards})
	assert.ErrorContains(t, err, "0.0.1", "a worker of another version")
	job, out := `{"game":"tron","episodes":"10"}`, filepath.Join(dir, "none")
	people := farm.NewClient(s.connect(t, farm.RoleOperator))
	for want, spec := range map[string]*farm.Spec{
		"install the same version and files": {Name: "tron", Build: "other", Shards: 2, Episodes: 10, Out: out, Job: jobOf(t, 10, 5)},
		"its spec says 10 in 3 shards":       {Name: "tron", Build: "other", Shards: 3, Episodes: 10, Out: out, Job: jobOf(t, 10, 5)},
		"the job of run ":                    {Name: "tron", Build: "other", Shards: 3, Episodes: 10, Out: out, Job: json.RawMessage(job)},
	} {
		t.Run(want, func(t *testing.T) {
			_, err := people.Submit(ctx, spec)
			assert.ErrorContains(t, err, want)
		})
	}
}

func jobOf(t *testing.T, episodes, size uint64) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(datasets.Job{Program: datasets.ProgramMoonfarm, Game: "tron", Policies: []string{"random", "random"}, Seed: 1,
		Episodes: episodes, ShardEpisodes: size, Reward: "result"})
	require.NoError(t, err)
	return text
}

// TestFarmInterrupt stops farm run with SIGINT and SIGTERM. The same command continues with
// the committed shards.
func TestFarmInterrupt(t *testing.T) {
	want, _ := commandtest.Reference(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) { requireFarmContinues(t, want, signal) })
	}
}

func requireFarmContinues(t *testing.T, want string, signal syscall.Signal) {
	t.Helper()
	for range 10 {
		dir := filepath.Join(t.TempDir(), "data")
		args := append([]string{"farm", "run"}, commandtest.GenerateArgs(dir)[1:]...)
		p := start(t, args...)
		commandtest.WaitFor(t, filepath.Join(dir, "shards", "*.json"), filepath.Join(dir, "manifest.json"))
		p.Process.Signal(signal)
		err := p.Wait()
		if err == nil {
			continue // it completed before the signal arrived
		}
		say := "moonfarm: interrupted: committed shards are kept in " + dir + "; the same command continues\n"
		require.Truef(t, p.ProcessState.ExitCode() == console.ExitInterrupted && p.Out.Len() == 0 && p.Errs.String() == say, "%v: %v, said %q and %q, want %q", signal, err, &p.Out, &p.Errs, say)
		_, err = os.Stat(filepath.Join(dir, "manifest.json"))
		assert.Errorf(t, err, "%v: the dataset is complete", signal)
		commandtest.Wants(t, finish(t, args...), "of an earlier run kept")
		commandtest.RequireSame(t, want, dir)
		return
	}
	t.Fatalf("never interrupted")
}
