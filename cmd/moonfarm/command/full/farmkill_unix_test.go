//go:build unix

package full

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/rollout/farm"
	"moonfarm/rollout/farm/farmtest"
)

// killedShards is the number of shards of each of killedGames, which take one core some 30 s.
const killedShards = 200

var killedGames = []string{
	"towerdefence --episodes 12000 --shard-episodes 60 --policy econ,random",
	"terminal --episodes 1600 --shard-episodes 8",
	"codecraft --episodes 200 --shard-episodes 1 --max-turns 300",
	"tron --episodes 60000 --shard-episodes 300",
}

// site is a farm of processes.
type site struct {
	t      *testing.T
	usual  string // the command
	fast   string // the command with a clock an hour fast
	dir    string
	files  []string // the command line of the S3 server
	env    []string
	out    string // URL or folder for datasets
	cert   string
	serve  []string // the command line of the server
	url    string
	client *farm.Client

	store, server *remote
	crew          [4]*remote
	random        *rand.Rand
	early         uint64 // shards made by the worker with the fast clock, as last seen
}

// newSite starts an S3 server, if inBucket, and a farm with four workers.
func newSite(t *testing.T, usual, fast string, inBucket bool) *site {
	s := &site{t: t, usual: usual, fast: fast, dir: t.TempDir(), random: rand.New(rand.NewPCG(5, 6))}
	s.out = filepath.Join(s.dir, "data")
	if inBucket {
		s.startStore(s3Server(t))
	}
	address := freeAddress(t)
	cert, key := farmtest.Certificate(t, "127.0.0.1")
	s.cert, s.url = cert, "tls://"+address
	s.serve = []string{usual, "farm", "serve", "--store", filepath.Join(s.dir, "state"), "--listen", address, "--tls-cert", cert, "--tls-key", key, "--allow-out", s.dir}
	if inBucket {
		s.serve[len(s.serve)-1] = "s3://bucket?endpoint=http://" + s.files[4]
	}
	s.server = startRemote(t, "server", s.env, s.serve...)
	commandtest.WaitUntil(t, "the server listens", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	c, err := farm.Connect(t.Context(), farm.ConnectOptions{URL: s.url, CA: cert, Credentials: s.credentials("people", farm.RoleOperator)})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	s.client = farm.NewClient(c)
	for i := range s.crew {
		s.hire(i)
	}
	return s
}

// startStore starts the S3 server.
func (s *site) startStore(gateway string) {
	address, files := freeAddress(s.t), filepath.Join(s.dir, "files")
	if err := os.MkdirAll(filepath.Join(files, "bucket"), 0o777); err != nil {
		s.t.Fatal(err)
	}
	for name, text := range map[string]string{"AWS_ACCESS_KEY_ID": "farm", "AWS_SECRET_ACCESS_KEY": "farm-secret", "AWS_REGION": "us-east-1"} {
		s.t.Setenv(name, text)
	}
	s.env = []string{"ROOT_ACCESS_KEY=farm", "ROOT_SECRET_KEY=farm-secret"}
	s.files = []string{gateway, "--quiet", "--keep-alive", "--port", address, "posix", files}
	s.out = "s3://bucket/data"
	s.store = startRemote(s.t, "store", s.env, s.files...)
}

// place returns the URL or folder of the dataset of a game.
func (s *site) place(game string) string {
	place := s.out + "/" + game
	if s.files != nil {
		place += "?use_path_style=true&timeout=5s&endpoint=http://" + s.files[4]
	}
	return place
}

// hire starts worker i. The clock of the last worker is an hour fast.
func (s *site) hire(i int) {
	name, program := fmt.Sprintf("w%d", i), s.usual
	if i == len(s.crew)-1 {
		program = s.fast
	}
	s.crew[i] = startRemote(s.t, name, s.env, program, "farm", "worker", "--connect", s.url, "--tls-ca", s.cert,
		"--credentials", s.credentials(name, farm.RoleWorker), "--workers", "1", "--log-level", "warn")
}

// made returns the number of finished shards of a run, or −1 without an answer.
func (s *site) made(run string) int {
	st := statusWithin(s.t, s.client, 2*time.Second)
	if st == nil || st.Runs[0].ID != run {
		return -1
	}
	for _, w := range st.Workers { // a server that is killed forgets some
		if w.Name == "w3" {
			s.early = max(s.early, w.Shards)
		}
	}
	return st.Runs[0].Made
}

// reach waits until a number of shards is made.
func (s *site) reach(run string, shards int) {
	s.t.Helper()
	was, same := 0, time.Now()
	for range time.Tick(20 * time.Millisecond) {
		n := s.made(run)
		if n >= shards {
			return
		}
		if n > was {
			was, same = n, time.Now()
		}
		if time.Since(same) > 2*time.Minute {
			s.t.Fatalf("nothing was made for two minutes: %d of %d; the status is %+v", was, shards, statusWithin(s.t, s.client, 30*time.Second))
		}
	}
}

// harm kills a worker or the server, or takes the store away for ten seconds: "pause" stops
// its process, "store" kills it.
func (s *site) harm(what string) {
	switch what {
	case "worker":
		i := s.random.IntN(len(s.crew))
		s.crew[i].kill()
		s.hire(i)
	case "server":
		s.server.kill()
		s.server = startRemote(s.t, "server", s.env, s.serve...)
	case "pause":
		_ = s.store.cmd.Process.Signal(syscall.SIGSTOP)
		time.Sleep(10 * time.Second)
		_ = s.store.cmd.Process.Signal(syscall.SIGCONT)
	case "store":
		s.store.kill()
		time.Sleep(10 * time.Second)
		s.store = startRemote(s.t, "store", s.env, s.files...)
	}
}

// harms lists the harms to a run in a random order. The last one kills the server while it
// completes the dataset, when all shards are made.
func (s *site) harms() (list []string) {
	for range 50 {
		list = append(list, "worker")
	}
	list = append(list, "server", "server", "server", "server")
	if s.files != nil {
		list = append(list, "pause", "store")
	}
	s.random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return append(list, "server")
}

// play makes the dataset of a game on the farm, with all harms, and compares it with the
// dataset of generate.
func (s *site) play(line string) {
	t, game := s.t, strings.Fields(line)[0]
	want := filepath.Join(s.dir, "want-"+game)
	commandtest.Finish(t, "moonfarm", append([]string{"generate", "--seed", "7", "--out", want}, strings.Fields(line)...)...)
	place, begin := s.place(game), time.Now()
	run := strings.TrimSpace(finish(t, append([]string{"farm", "submit", "--seed", "7", "--out", place, "--connect", s.url, "--tls-ca", s.cert,
		"--credentials", s.credentials("people", farm.RoleOperator)}, strings.Fields(line)...)...))
	list := s.harms()
	for i, what := range list {
		s.reach(run, killedShards*(i+1)/len(list))
		time.Sleep(time.Duration(s.random.IntN(200)) * time.Millisecond)
		s.harm(what)
	}
	var st *farm.Status
	commandtest.WaitUntil(t, game+" is done", func() bool {
		st = statusWithin(t, s.client, 5*time.Second)
		return st != nil && st.Runs[0].State == farm.Done
	})
	took, r := time.Since(begin), st.Runs[0]
	if s.files == nil {
		commandtest.RequireSame(t, want, place)
	}
	require.Equal(t, manifest(t, want), manifest(t, place))
	commandtest.Wants(t, finish(t, "verify", place), "all as the manifest says")
	assert.Truef(t, r.Shards == killedShards && r.Played == r.Episodes && len(st.Audits) == 0, "%s: %+v, audits %+v", game, r, st.Audits)
	lapsed := uint64(0)
	for _, w := range st.Workers {
		lapsed += w.Lapsed
	}
	t.Logf("%s: %d shards, %d episodes, %.0f s, %d harms (50 workers and 5 servers killed); %d lost claims and %d shards of the fast worker until now, "+
		"%d given twice, %d made again, %d audits passed, %d waived: equal to generate's", game, r.Shards, r.Episodes, took.Seconds(), len(list),
		lapsed, s.early, r.Duplicates, r.Reverted, r.Audits.Passed, r.Audits.Waived)
	for _, e := range st.Failures {
		t.Logf("failure, %d times: %s: %s", e.Count, e.Worker, e.Text)
	}
}

// manifest returns the manifest of a dataset, which has the checksums of all its files.
func manifest(t *testing.T, place string) string {
	t.Helper()
	var found struct{ Manifest json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(finish(t, "inspect", place, "--json")), &found))
	require.NotEmpty(t, found.Manifest)
	return string(found.Manifest)
}

// TestFarmKilled runs a farm like an operator: a server and four workers over TLS, files in
// S3 or in a folder. For each game workers are killed 50 times, the server 5 times, and the
// store is down for 10 s twice. The clock of one worker is an hour fast. The dataset is the
// same as that of generate, byte for byte.
func TestFarmKilled(t *testing.T) {
	if os.Getenv(longEnv) == "" {
		t.Skip("takes a quarter of an hour: set " + longEnv)
	}
	usual, fast := programs(t)
	for _, where := range []string{"s3", "folder"} {
		t.Run(where, func(t *testing.T) {
			s := newSite(t, usual, fast, where == "s3")
			for _, line := range killedGames {
				s.play(line)
			}
			assert.NotEqual(t, uint64(0), s.early, "the worker whose clock is fast made no shard")
			for _, r := range append(s.crew[:], s.server) {
				_ = r.cmd.Process.Signal(syscall.SIGTERM)
				<-r.ended
				assert.Truef(t, r.cmd.ProcessState.Success(), "%s after SIGTERM: %v", r.name, r.cmd.ProcessState)
			}
		})
	}
}
