//go:build unix

package full

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"moonfarm/datasets"
	"moonfarm/datasets/s3"
	"moonfarm/rollout/farm"
)

// versity is the module of the S3 server of the tests. The program is MOONFARM_VERSITYGW,
// else in the PATH, else installed from this module, which go.mod does not require.
const versity = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"

func s3Server(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("MOONFARM_VERSITYGW"); path != "" {
		return path
	}
	if path, err := exec.LookPath("versitygw"); err == nil {
		return path
	}
	dir := t.TempDir()
	install := exec.Command("go", "install", versity)
	install.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("no S3 server: MOONFARM_VERSITYGW is not set, versitygw is not in the PATH, and go install %s: %v: %.300s", versity, err, out)
	}
	return filepath.Join(dir, "versitygw")
}

// programs builds the command twice: unchanged, and with a clock that is an hour fast. The
// second one is compiled with a changed copy of package time, so that its process has no
// other clock.
func programs(t *testing.T) (usual, fast string) {
	t.Helper()
	dir := t.TempDir()
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	file := filepath.Join(strings.TrimSpace(string(goroot)), "src", "time", "time.go")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	const line = "sec, nsec, mono := runtimeNow()\n"
	if strings.Count(string(text), line) != 1 {
		t.Fatalf("%s: time.Now of %s is not as this test expects", file, runtime.Version())
	}
	changed := filepath.Join(dir, "time.go")
	overlay := filepath.Join(dir, "overlay.json")
	replace, _ := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
	for name, content := range map[string][]byte{changed: []byte(strings.Replace(string(text), line, line+"\tsec += 3600\n", 1)), overlay: replace} {
		require.NoError(t, os.WriteFile(name, content, 0o666))
	}
	return built(t, filepath.Join(dir, "moonfarm")), built(t, filepath.Join(dir, "moonfarm-fast"), "-overlay", overlay)
}

// hosts are network namespaces connected by a bridge. Where this process may not make them,
// all hosts are on loopback.
type hosts struct {
	prefix string // of the addresses; "": loopback
	names  map[string]string
}

// newHosts makes a namespace for each name.
func newHosts(t *testing.T, names ...string) *hosts {
	t.Helper()
	bridge := fmt.Sprintf("mf%d", os.Getpid())
	h := &hosts{prefix: fmt.Sprintf("10.213.%d.", os.Getpid()%250), names: map[string]string{}}
	ip := func(line string) error {
		out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("ip %s: %w: %s", line, err, out)
		}
		return err
	}
	lines := []string{"link add " + bridge + " type bridge", "addr add " + h.prefix + "1/24 dev " + bridge, "link set " + bridge + " up"}
	t.Cleanup(func() { _ = ip("link del " + bridge) }) // fails if it does not exist
	for i, name := range names {
		ns, outer, inner := bridge+name, fmt.Sprintf("%so%d", bridge, i), fmt.Sprintf("%si%d", bridge, i)
		lines = append(lines, "netns add "+ns, "link add "+outer+" type veth peer name "+inner, "link set "+inner+" netns "+ns,
			"link set "+outer+" master "+bridge+" up", "-n "+ns+" link set lo up",
			fmt.Sprintf("-n %s addr add %s%d/24 dev %s", ns, h.prefix, i+2, inner), "-n "+ns+" link set "+inner+" up")
		h.names[name] = ns
		t.Cleanup(func() { _ = ip("netns del " + ns) })
	}
	for _, line := range lines {
		if err := ip(line); err != nil {
			t.Logf("all on loopback, no network namespaces: %v", err)
			return &hosts{names: map[string]string{}}
		}
	}
	return h
}

// address returns a free address of host i.
func (h *hosts) address(t *testing.T, i int) string {
	t.Helper()
	if h.prefix != "" {
		return fmt.Sprintf("%s%d:7070", h.prefix, i+2)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// remote is a process on one of the hosts.
type remote struct {
	t     *testing.T
	name  string
	cmd   *exec.Cmd
	say   bytes.Buffer
	ended chan struct{}
}

func (h *hosts) start(t *testing.T, name string, env []string, args ...string) *remote {
	t.Helper()
	if ns := h.names[name]; ns != "" {
		args = append([]string{"ip", "netns", "exec", ns}, args...) // executes the program in its own process
	}
	r := &remote{t: t, name: name, cmd: exec.Command(args[0], args[1:]...), ended: make(chan struct{})}
	r.cmd.Env = append(os.Environ(), env...)
	r.cmd.Stdout, r.cmd.Stderr = &r.say, &r.say
	require.NoError(t, r.cmd.Start())
	go func() { defer close(r.ended); _ = r.cmd.Wait() }()
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		<-r.ended
		if t.Failed() {
			text := r.say.String()
			t.Logf("%s: %v: …%s", name, r.cmd.ProcessState, text[max(0, len(text)-3000):])
		}
	})
	return r
}

// kill kills a process, which must be running.
func (r *remote) kill() {
	r.t.Helper()
	select {
	case <-r.ended:
		r.t.Fatalf("%s ended by itself: %v", r.name, r.cmd.ProcessState)
	default:
	}
	_ = r.cmd.Process.Kill()
	<-r.ended
}

// credentials returns a file with the credentials of a role, from the key of the server, which has listened once.
func (s *site) credentials(name, role string) string {
	s.t.Helper()
	key, err := farm.ReadKey(filepath.Join(s.dir, "state", farm.KeyFile))
	require.NoError(s.t, err)
	text, err := key.Credentials(role, name)
	require.NoError(s.t, err)
	name = filepath.Join(s.dir, name+".json")
	require.NoError(s.t, os.WriteFile(name, text, 0o600))
	return name
}

// download copies all objects below the URL of a bucket into a folder.
func download(t *testing.T, from, dir string) {
	t.Helper()
	u, err := url.Parse(from)
	require.NoError(t, err)
	query := u.Query()
	query.Del("timeout") // a setting of package datasets
	u.RawQuery = query.Encode()
	b, err := s3.Open(t.Context(), u)
	require.NoError(t, err)
	top := strings.Trim(u.Path, "/") + "/"
	for folders := []string{top}; len(folders) > 0; folders = folders[1:] {
		for token, more := "", true; more; more = token != "" {
			var keys []string
			if keys, token, err = b.List(t.Context(), folders[0], token); err != nil {
				t.Fatal(err)
			}
			for _, key := range keys {
				if strings.HasSuffix(key, "/") {
					folders = append(folders, key)
				} else if err := fetchObject(t.Context(), b, key, filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(key, top)))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// fetchObject copies an object into a file.
func fetchObject(ctx context.Context, b datasets.Bucket, key, file string) error {
	r, err := b.Read(ctx, key, 0)
	if err != nil {
		return err
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o777)
	}
	if err == nil {
		err = os.WriteFile(file, content, 0o666)
	}
	return err
}

// statusWithin returns the status of a farm, or nil if it does not answer in time.
func statusWithin(t *testing.T, c *farm.Client, wait time.Duration) *farm.Status {
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	s, err := c.Status(ctx)
	if err != nil || len(s.Runs) == 0 {
		return nil
	}
	return s
}
