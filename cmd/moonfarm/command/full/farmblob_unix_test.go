//go:build unix

package full

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/rollout/farm"
)

// TestFarmReplacedFile replaces a stored file during the run. The server notices it when it
// completes the dataset, prints one line, and has the shard made again.
func TestFarmReplacedFile(t *testing.T) {
	want, _ := commandtest.Reference(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	s := serveFarm(t, "--store", filepath.Join(dir, "store"), "--allow-out", dir)
	out := filepath.Join(dir, "data")
	submit := append([]string{"farm", "submit"}, commandtest.GenerateArgs(out)[1:]...)
	finish(t, append(submit, "--connect", s.URL)...)

	w := startWorker(t, s.URL, "w")
	stored := filepath.Join(out, "steps", "*-*.arrow")
	commandtest.WaitUntil(t, "a file is stored", func() bool { names, _ := filepath.Glob(stored); return len(names) > 0 })
	w.Process.Signal(syscall.SIGSTOP)
	require.Equal(t, farm.Running, farmStatusOf(t, s.URL).Runs[0].State, "the run ended before the worker was stopped")
	names, err := filepath.Glob(stored)
	require.NoError(t, err, "no file is stored")
	require.NotEmpty(t, names, "no file is stored")
	was, err := os.ReadFile(names[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(names[0], bytes.Repeat([]byte{'x'}, len(was)), 0o666))
	w.Process.Signal(syscall.SIGCONT)
	commandtest.WaitUntil(t, "the run is done", func() bool { return farmStatusOf(t, s.URL).Runs[0].State == farm.Done })
	commandtest.RequireSame(t, want, out)

	st := farmStatusOf(t, s.URL)
	number, _, _ := strings.Cut(filepath.Base(names[0]), "-")
	n, err := strconv.Atoi(number)
	require.NoError(t, err)
	shard := fmt.Sprintf("shard %d: ", n)
	told := 0
	for _, f := range st.Failures {
		if strings.Contains(f.Text, shard) {
			told++
			t.Log(f.Text)
		}
	}
	assert.Truef(t, st.Runs[0].Reverted == 1 && told == 1, "%d shards made again, %d lines about %s%+v", st.Runs[0].Reverted, told, shard, st.Failures)
	stops(t, w.Cmd, &w.Errs)
	stops(t, s.Cmd, &s.errs)
	if told := strings.Count(s.errs.String(), shard); told != 1 {
		t.Errorf("%d lines of the log about %s\n%s", told, shard, &s.errs)
	}
}
