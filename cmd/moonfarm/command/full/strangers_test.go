package full

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stranger sends requests without a secret. Its arguments are METHOD and URL of each; it prints a line for each answer.
func stranger() {
	c := http.Client{Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for i := 1; i+1 < len(os.Args); i += 2 {
		r, err := http.NewRequest(os.Args[i], os.Args[i+1], strings.NewReader("{}"))
		if err != nil {
			panic(err)
		}
		a, err := c.Do(r)
		if err != nil {
			panic(err)
		}
		a.Body.Close()
		fmt.Println(a.StatusCode, os.Args[i], r.URL.Path)
	}
}

// TestStrangers: another account of this machine gets no answer of any server that a command starts, except whether it
// lives.
func TestStrangers(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "curve.csv"), []byte("seconds,loss\n1,2\n"), 0o666))
	view := []string{"GET /", "GET /version.json", "GET /list.json", "GET /games.json", "GET /film.json?game=0", "GET /frames.json?game=0",
		"GET /stats.json?game=0", "GET /paths.json?game=0", "GET /nothing", "GET /?token=x", "PUT /list.json"}
	for _, c := range []struct {
		args  []string
		paths []string
	}{
		{[]string{"view", "tron", "--players", "random,random"}, nil},
		{[]string{"view", "tron", "--players", "human,random"}, []string{"GET /offer.json?head=0", "POST /choose", "POST /undo", "POST /hint"}},
		{[]string{"view", dir}, []string{"GET /overview.json"}},
		{[]string{"eval", "tron", "--players", "random,safe", "--games", "2", "--view", "--out", filepath.Join(dir, "t")}, []string{"GET /overview.json"}},
		{[]string{"match", "terminal", "--player", "maze", "--player", "maze", "--view", "--view-hold"}, []string{"POST /hold", "POST /go", "POST /step"}},
	} {
		url, stop := shown(t, c.args...)
		for _, line := range asStranger(t, url, append(c.paths, view...)) {
			t.Log(c.args[0], line)
			assert.True(t, strings.HasPrefix(line, "401 "), "%v: %s", c.args, line)
		}
		stop()
	}
	t.Setenv("XDG_CACHE_HOME", dir)
	s := serveFarm(t, "--store", filepath.Join(dir, "store"), "--http", "127.0.0.1:0", "--pprof", "--health", "127.0.0.1:0")
	for _, line := range asStranger(t, s.HTTP, []string{"GET /", "GET /page.js", "GET /page.css", "GET /viewer.css", "GET /status.json", "GET /metrics", "GET /debug/pprof/", "GET /debug/pprof/profile"}) {
		t.Log("farm serve", line)
		assert.True(t, strings.HasPrefix(line, "401 "), line)
	}
	lives := append(asStranger(t, s.HTTP, []string{"GET /healthz", "GET /readyz"}), asStranger(t, s.Health, []string{"GET /healthz", "GET /readyz", "GET /status.json"})...)
	for i, want := range []string{"200|503", "200|503", "200|503", "200|503", "404"} {
		t.Log("farm serve", lives[i])
		assert.Regexp(t, "^("+want+") ", lives[i])
	}
	secret, err := os.ReadFile(filepath.Join(dir, "store", "page.token"))
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(s.HTTP, "?token="+strings.TrimSpace(string(secret))), "the secret is that of the store")
	stops(t, s.Cmd, &s.errs)
	assert.NotContains(t, s.errs.String(), strings.TrimSpace(string(secret)), "the log")
}

// asStranger sends requests to the server of a printed address, without its secret and, where the test may, as nobody.
func asStranger(t *testing.T, printed string, requests []string) []string {
	t.Helper()
	page, _, _ := strings.Cut(printed, "?")
	c := exec.Command("stranger")
	for _, r := range requests {
		method, path, _ := strings.Cut(r, " /")
		c.Args = append(c.Args, method, page+path)
	}
	if runtime.GOOS == "linux" && os.Geteuid() == 0 {
		becomeNobody(c)
	}
	out, err := c.CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Len(t, lines, len(requests))
	return lines
}
