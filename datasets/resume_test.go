package datasets

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets/internal/disk"
)

// TestStoppedAtEveryStep fails every single change of a run.
func TestStoppedAtEveryStep(t *testing.T) {
	j := mixed(toyJob(2, 1))
	j.Episodes = 13
	want := withoutFolders(files(t, generateToy(t, j, Options{Workers: 1})))
	stoppedAtEveryStep(t, 1, 30, want, func(out string, o Options) error {
		_, err := Generate(withBuckets(t), out, j, toyMakers(), o)
		return err
	})
}

// killedEnv makes the test binary generate into the folder that it names.
const killedEnv = "MOONFARM_TEST_GENERATE"

func killedJob() Job {
	j := mixed(toyJob(3, 2))
	j.Episodes, j.ShardEpisodes = 3000, 40
	return j
}

// TestKilled kills runs at random moments with SIGKILL, and lets the last one finish.
func TestKilled(t *testing.T) {
	if dir := os.Getenv(killedEnv); dir != "" {
		_, err := Generate(context.Background(), dir, killedJob(), toyMakers(), Options{Workers: 2})
		require.NoError(t, err)
		return
	}
	if testing.Short() {
		t.Skip("starts processes")
	}
	want := files(t, generateToy(t, killedJob(), Options{Workers: 2}))
	dir := filepath.Join(t.TempDir(), "data")
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	run := func() *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), killedEnv+"="+dir)
		require.NoError(t, cmd.Start())
		return cmd
	}
	killed := 0
	for range 20 {
		cmd := run()
		time.Sleep(time.Duration(r.IntN(60)) * time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		if cmd.Wait() != nil {
			killed++
		}
		requireWhole(t, dir, want)
	}
	t.Logf("%d of 20 runs killed before their end", killed)
	require.NoError(t, run().Wait())
	requireSameFiles(t, want, files(t, dir))
}

// TestCancelled: a cancelled run can be continued, too.
func TestCancelled(t *testing.T) {
	j := toyJob(2, 1)
	want := files(t, generateToy(t, j, Options{Workers: 1}))
	dir := half(t, j, toyMakers())
	for name := range files(t, dir) {
		require.False(t, strings.HasSuffix(name, ".tmp"), name)
	}
	_, err := Open(dir)
	require.ErrorContains(t, err, "not complete")
	var last Progress
	r, err := Generate(t.Context(), dir, j, toyMakers(), Options{Workers: 1, Progress: func(p Progress) { last = p }})
	require.NoError(t, err)
	require.GreaterOrEqual(t, r.Found, 3)
	require.Equal(t, 7, r.Found+r.Made)
	require.Equal(t, 7, last.Shards)
	require.EqualValues(t, 100, last.Episodes)
	requireSameFiles(t, want, files(t, dir))
	r, err = Generate(t.Context(), dir, j, toyMakers(), Options{Workers: 1})
	require.NoError(t, err)
	require.True(t, r.AlreadyComplete)
	require.Zero(t, r.Made)
	requireSameFiles(t, want, files(t, dir))
}

// TestOtherJobsAreRefused: a refused run does not change an unfinished or complete
// dataset.
func TestOtherJobsAreRefused(t *testing.T) {
	j := toyJob(2, 1)
	complete := generateToy(t, j, Options{})
	for _, dir := range []string{complete, half(t, j, toyMakers())} {
		before := files(t, dir)
		for field, change := range map[string]func(*Job){
			"seed":            func(j *Job) { j.Seed++ },
			"episodes":        func(j *Job) { j.Episodes++ },
			"shard_episodes":  func(j *Job) { j.ShardEpisodes++ },
			"policies":        func(j *Job) { j.Policies[1] = "other" },
			"rules":           func(j *Job) { j.Rules[0] = "seats=2 orders=2" },
			"reward":          func(j *Job) { j.Reward = "result" },
			"max_turns":       func(j *Job) { j.MaxTurns = 5 },
			"obs":             func(j *Job) { j.Obs = ObsNone },
			"codec":           func(j *Job) { j.Codec = LZ4 },
			"tensor_metadata": func(j *Job) { j.TensorMetadata = TensorsExtension },
		} {
			t.Run(field, func(t *testing.T) {
				other := toyJob(2, 1)
				change(&other)
				requireRefused(t, dir, other, "another run: "+field+": it has ")
				requireSameFiles(t, before, files(t, dir))
			})
		}
	}
}

func TestForeignFoldersAreRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o666))
	requireRefused(t, dir, toyJob(2, 1), "is not empty and holds no dataset: there is notes.txt")
	require.Len(t, files(t, dir), 1)

	requireRefused(t, filepath.Join(dir, "notes.txt"), toyJob(2, 1), "not a directory")
	_, err := Open(dir)
	require.ErrorIs(t, err, os.ErrNotExist)

	busy := t.TempDir()
	release, err := disk.At(busy, busy).Lock(nil, false)
	require.NoError(t, err)
	requireRefused(t, busy, toyJob(2, 1), "another run is writing there")
	release()
	_, err = Generate(t.Context(), busy, toyJob(2, 1), toyMakers(), Options{})
	require.NoError(t, err)
}

func TestBadJobs(t *testing.T) {
	for want, change := range map[string]func(*Job){
		"no game":                    func(j *Job) { j.Game = "" },
		"0 episodes":                 func(j *Job) { j.Episodes = 0 },
		"1099511627777 episodes":     func(j *Job) { j.Episodes = 1<<40 + 1 },
		"shards: there may be":       func(j *Job) { j.Episodes, j.ShardEpisodes = 1<<30, 1 },
		"may not be negative":        func(j *Job) { j.MaxTurns = -1 },
		`no observations "pixels"`:   func(j *Job) { j.Obs = "pixels" },
		`no codec "gzip"`:            func(j *Job) { j.Codec = "gzip" },
		`no tensor metadata "x"`:     func(j *Job) { j.TensorMetadata = "x" },
		`no policy "nobody"`:         func(j *Job) { j.Policies[0] = "nobody" },
		"1 policies for the 2 seats": func(j *Job) { j.Policies = j.Policies[:1] },
		`no reward "gold"`:           func(j *Job) { j.Reward = "gold" },
		`rules "chess"`:              func(j *Job) { j.Rules = []string{"chess"} },
		`the game is "toy"`:          func(j *Job) { j.Game = "chess" },
	} {
		t.Run(want, func(t *testing.T) {
			j := toyJob(2, 1)
			change(&j)
			dir := filepath.Join(t.TempDir(), "data")
			requireRefused(t, dir, j, want)
			require.NoDirExists(t, dir)
		})
	}
}

// TestDifferShowsWhere checks that long settings are shown from their first difference.
func TestDifferShowsWhere(t *testing.T) {
	a, b := toyJob(2, 1), toyJob(2, 1)
	same := strings.Repeat("é", 100)
	a.Rules[0], b.Rules[0] = same+"cost=1", same+"cost=2"
	diff := a.Differ(b)
	require.Contains(t, diff, `cost=1"], this run …`)
	require.Contains(t, diff, `cost=2"]`)
	require.NotContains(t, diff, strings.Repeat("é", 50))
	a.Rules[0], b.Rules[0] = "1"+same, "2"+same
	require.Regexp(t, `^rules: it has \["1é+…, this run \["2é+…$`, a.Differ(b))
}
