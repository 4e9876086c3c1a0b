package farm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/rollout/farm/farmtest"
)

// child is the task of a process that a test starts.
type child struct {
	Role    string // serve, work or crowd
	Dir     string // of the server's store
	Address string // of the server, or several
	Key     string // KeyFile of the server
	Name    string
	Out     string // folder of shards; "" keeps none
	Lapse   time.Duration
	Cluster *ClusterOptions
	Version string
	// A crowd: the number of workers, and how many of a hundred die or are slow.
	Workers, Dead, Slow int
}

const childVariable = "MOONFARM_FARM_CHILD"

func TestMain(m *testing.M) {
	text := os.Getenv(childVariable)
	if text == "" {
		os.Exit(m.Run())
	}
	var c child
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		panic(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	go func() { // the test holds the other end of the pipe: a child ends with the test
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(3)
	}()
	if err := c.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, c.Name, err)
		os.Exit(1)
	}
}

// discard is a store that keeps nothing.
type discard struct{}

func (discard) put(int, string) error { return nil }
func (discard) has(int, string) bool  { return true }
func (discard) finish([]string) error { return nil }

func (c *child) open(with ...func(*fake)) Open {
	if c.Out == "" {
		return opener(discard{}, with...)
	}
	return opener(dirStore(c.Out), with...)
}

func (c *child) run(ctx context.Context) error {
	log := newLog(&logs{})
	switch c.Role {
	case "serve":
		server, err := Serve(ServerOptions{Dir: c.Dir, Listen: c.Address, Cluster: c.Cluster, Log: log})
		if err != nil {
			return err
		}
		defer server.Close()
		conn, err := Connect(ctx, ConnectOptions{Server: server, Name: "coordinator-" + c.Name, Log: log})
		if err != nil {
			return err
		}
		o := CoordinatorOptions{Version: testVersion, Open: c.open(), Audit: 0.01, Lapse: c.Lapse, Patience: time.Second, lease: 2 * time.Second, Log: log}
		if c.Cluster != nil {
			o.Replicas = 3
		}
		return Coordinate(ctx, conn, o)
	case "work":
		conn, err := Connect(ctx, ConnectOptions{URL: c.Address, Name: c.Name, Credentials: c.Key, Role: RoleWorker, Log: log})
		if err != nil {
			return err
		}
		return Work(ctx, conn, WorkerOptions{Version: testVersion, Slots: 2, Open: c.open(), Log: log})
	}
	return c.crowd(ctx)
}

// crowd runs many workers, each with its own connection.
func (c *child) crowd(ctx context.Context) error {
	var wg sync.WaitGroup
	for i := range c.Workers {
		conn, err := Connect(ctx, ConnectOptions{URL: c.Address, Name: fmt.Sprintf("w%05d", i), Credentials: c.Key, Role: RoleWorker})
		if err != nil {
			return err
		}
		mine, die := context.WithCancel(ctx)
		shape := func(f *fake) {
			switch {
			case i%100 < c.Dead: // it takes a shard and never reports again
				f.fail = func(int) error { conn.Close(); <-mine.Done(); return mine.Err() }
			case i%100 < c.Dead+c.Slow:
				f.slower = 10
			}
		}
		wg.Go(func() {
			defer die()
			_ = Work(mine, conn, WorkerOptions{Version: testVersion, Open: c.open(shape), Grace: time.Millisecond})
		})
	}
	wg.Wait()
	return nil
}

// process is a child at work.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	say bytes.Buffer
	end func()
}

func (c child) start(t *testing.T, env ...string) *process {
	t.Helper()
	text, err := json.Marshal(c)
	require.NoError(t, err)
	p := &process{t: t, cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(append(os.Environ(), childVariable+"="+string(text)), env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.say, &p.say
	in, err := p.cmd.StdinPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	require.NoError(t, err)
	p.end = sync.OnceFunc(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		in.Close()
	})
	t.Cleanup(func() {
		p.end()
		if t.Failed() && p.say.Len() > 0 {
			t.Logf("%s: %.4000s", c.Name, p.say.String())
		}
	})
	return p
}

// kill ends a process immediately with SIGKILL.
func (p *process) kill() { p.end() }

// people returns a client of servers that may stop and start.
func people(t *testing.T, url, key string) *Client {
	t.Helper()
	farmtest.Until(t, "the server has a key", func() bool { _, err := ReadKey(key); return err == nil })
	c, err := Connect(t.Context(), ConnectOptions{URL: url, Name: "people", Credentials: key})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return NewClient(c)
}

// ask returns the status, or nil after two seconds without one.
func ask(t *testing.T, c *Client) *Status {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	s, err := c.Status(ctx)
	if err != nil {
		return nil
	}
	return s
}

// made returns the number of committed shards of the first run, −1 without an answer.
func made(t *testing.T, c *Client) int {
	s := ask(t, c)
	if s == nil || len(s.Runs) == 0 {
		return -1
	}
	return s.Runs[0].Made
}

func begin(t *testing.T, c *Client, s *Spec) {
	t.Helper()
	farmtest.Until(t, "the run is submitted", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := c.Submit(ctx, s)
		return err == nil
	})
}

// ends waits until the run is done, and checks its sums.
func ends(t *testing.T, c *Client, out string, s *Spec, seed int) *Status {
	t.Helper()
	var st *Status
	var was, same = -1, time.Now()
	farmtest.Within(t, time.Hour, "the run is done", func() bool {
		if st = ask(t, c); st == nil {
			return false
		}
		if st.Runs[0].Made != was {
			was, same = st.Runs[0].Made, time.Now()
		}
		require.LessOrEqualf(t, time.Since(same), 2*time.Minute, "nothing was made for two minutes; the status is %+v", st)
		return st.Runs[0].State == Done
	})
	text, err := os.ReadFile(filepath.Join(out, "finished"))
	require.NoError(t, err)
	requireWhole(t, strings.Split(string(text), "\n"), seed, s.Shards)
	return st
}

// long reports whether the long tests are to run.
func long() bool { return os.Getenv("MOONFARM_LONG") != "" }

// caughtUp waits until all three servers of a cluster have all messages of all streams.
func caughtUp(t *testing.T, url, key string) {
	t.Helper()
	c, err := Connect(t.Context(), ConnectOptions{URL: url, Credentials: key, Role: RoleCoordinator, Name: "observer"})
	require.NoError(t, err)
	defer c.Close()
	js, err := jetstream.New(c.nc)
	require.NoError(t, err)
	current := func(name string) bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		stream, err := js.Stream(ctx, name)
		if err != nil {
			return false
		}
		at := stream.CachedInfo().Cluster
		return at != nil && len(at.Replicas) == 2 && at.Replicas[0].Current && at.Replicas[1].Current
	}
	for _, name := range allStreams {
		farmtest.Until(t, name+" is the same on all servers", func() bool { return current(name) })
	}
}

// TestKills: workers and the server, in processes of their own, are killed at random; in the end
// every shard is there once.
func TestKills(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("kills processes as Unix does")
	}
	workers, servers, shards, delay := 6, 1, 300, 10*time.Millisecond
	if long() {
		workers, servers, shards, delay = 50, 5, 1500, 100*time.Millisecond
	}
	out := t.TempDir()
	address := freePort(t)
	serve := child{Role: "serve", Dir: t.TempDir(), Address: address, Name: "server", Out: out, Lapse: 2 * time.Second}
	server := serve.start(t)
	key := filepath.Join(serve.Dir, KeyFile)
	client := people(t, "nats://"+address, key)
	s := spec(30, shards, delay)
	begin(t, client, s)
	var crew []*process
	hire := func(i int) *process {
		return child{Role: "work", Address: "nats://" + address, Name: fmt.Sprintf("w%d", i), Out: out, Key: key}.start(t)
	}
	for i := range 4 {
		crew = append(crew, hire(i))
	}
	g := rand.New(rand.NewPCG(3, 4))
	total := workers + servers
	for i := range total { // a kill after each part of the run
		at := shards * (i + 1) / (total + 2)
		farmtest.Until(t, fmt.Sprintf("%d are made", at), func() bool { return made(t, client) >= at })
		if i%(workers/servers+1) == workers/servers/2 {
			server.kill()
			server = serve.start(t)
			continue
		}
		k := g.IntN(len(crew))
		crew[k].kill()
		crew[k] = hire(k)
	}
	st := ends(t, client, out, s, 30)
	t.Logf("%d shards, %d workers and %d servers killed; %d made twice, %d audits passed, %d waived",
		shards, workers, servers, st.Runs[0].Duplicates, st.Runs[0].Audits.Passed, st.Runs[0].Audits.Waived)
	assert.Empty(t, st.Audits, "a worker was accused")
}

// TestCluster: three servers, each of which is killed and started again during a run.
func TestCluster(t *testing.T) {
	if !long() {
		t.Skip("takes half a minute: set MOONFARM_LONG")
	}
	out := t.TempDir()
	var clients, routes []string
	for range 3 {
		clients = append(clients, freePort(t))
		routes = append(routes, freePort(t))
	}
	var nodes []child
	var at []*process
	for i := range 3 {
		name := fmt.Sprintf("n%d", i)
		nodes = append(nodes, child{Role: "serve", Dir: t.TempDir(), Address: clients[i], Name: name, Out: out, Lapse: 5 * time.Second,
			Cluster: &ClusterOptions{Name: name, Listen: routes[i], Routes: routes, Secret: "common"}})
		at = append(at, nodes[i].start(t))
	}
	url := "nats://" + strings.Join(clients, ",nats://")
	key := filepath.Join(nodes[0].Dir, KeyFile)
	client := people(t, url, key)
	s := spec(31, 1500, 50*time.Millisecond)
	begin(t, client, s)
	for i := range 4 {
		child{Role: "work", Address: url, Name: fmt.Sprintf("w%d", i), Out: out, Key: key}.start(t)
	}
	for i := range 3 {
		farmtest.Until(t, "some are made", func() bool { return made(t, client) >= 300*(i+1) })
		at[i].kill()
		farmtest.Until(t, "the others go on", func() bool { return made(t, client) >= 300*(i+1)+100 })
		at[i] = nodes[i].start(t)
		caughtUp(t, url, key)
	}
	st := ends(t, client, out, s, 31)
	t.Logf("%d shards, each of three servers killed once; %d audits passed", s.Shards, st.Runs[0].Audits.Passed)
}
