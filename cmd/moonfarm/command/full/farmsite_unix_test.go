//go:build unix

package full

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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

// freeAddress returns an address of this machine that was free a moment ago.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// remote is a process of the farm.
type remote struct {
	t     *testing.T
	name  string
	cmd   *exec.Cmd
	say   bytes.Buffer
	ended chan struct{}
}

func startRemote(t *testing.T, name string, env []string, args ...string) *remote {
	t.Helper()
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
