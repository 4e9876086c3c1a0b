package full

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
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

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
)

// shown starts a command that serves a page, and returns its URL and a function that interrupts it and returns the
// exit status.
func shown(t *testing.T, args ...string) (url string, stop func() int) {
	t.Helper()
	e := evaluate(t, args...)
	return e.url, e.stop
}

// request sends a request for a path of a printed address, with its secret.
func request(t *testing.T, printed, method, path string) (code int, text string) {
	t.Helper()
	return requestAs(t, "", printed, method, path)
}

// requestAs is request with a Host, "" for that of the address.
func requestAs(t *testing.T, host, printed, method, path string) (code int, text string) {
	t.Helper()
	page, secret, _ := strings.Cut(printed, "?token=")
	r, err := http.NewRequest(method, page+path, nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+secret)
	r.Host = host
	c := http.Client{Timeout: time.Minute}
	got, err := c.Do(r)
	require.NoError(t, err)
	defer got.Body.Close()
	all, err := io.ReadAll(io.LimitReader(got.Body, 1<<20))
	require.NoError(t, err)
	return got.StatusCode, string(all)
}

// answer returns the text at a path of a printed address.
func answer(t *testing.T, printed, path string) string {
	t.Helper()
	_, text := request(t, printed, http.MethodGet, path)
	return text
}

// TestView: games are served on this machine, and a recording that changes is shown again.
func TestView(t *testing.T) {
	dir := t.TempDir()
	ctx := context.Background()
	for _, seed := range []string{"1", "2"} {
		data := filepath.Join(dir, "data"+seed)
		require.Zero(t, run(ctx, []string{"generate", "towerdefence", "--policy", "econ", "--episodes", seed, "--max-turns", "20", "--obs", "none", "--seed", seed, "--out", data}))
		require.Zero(t, run(ctx, []string{"replay", "convert", data, "--out", filepath.Join(dir, "rec"+seed)}))
	}
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return text
	}
	file := filepath.Join(dir, "game.jsonl")
	require.NoError(t, os.WriteFile(file, read("rec1/00000000.jsonl"), 0o666))
	url, stop := shown(t, "view", file)
	assert.Contains(t, answer(t, url, ""), "<!doctype html>")
	assert.Contains(t, answer(t, url, "list.json"), `"total":1,`)
	assert.Contains(t, answer(t, url, "film.json?game=0"), `"turns":20,`)
	before := answer(t, url, "version.json")
	require.NoError(t, os.WriteFile(file, append(read("rec2/00000000.jsonl"), read("rec2/00000001.jsonl")...), 0o666))
	for begun := time.Now(); answer(t, url, "version.json") == before; time.Sleep(100 * time.Millisecond) {
		require.Less(t, time.Since(begun), 3*time.Minute, "the change of the file is not seen")
	}
	assert.Contains(t, answer(t, url, "list.json"), `"total":2,`)
	assert.Zero(t, stop())
	url, stop = shown(t, "view", filepath.Join(dir, "rec1"), filepath.Join(dir, "rec2", "*"))
	assert.Contains(t, answer(t, url, "list.json"), `"total":3,`)
	assert.Contains(t, answer(t, url, "film.json?game=2"), `"id":2,"name":"00000001.jsonl`)
	assert.Zero(t, stop())
	assert.Equal(t, console.ExitUsage, run(ctx, []string{"view", file, "--http", "0.0.0.0:0"}))
	assert.Equal(t, console.ExitUsage, run(ctx, []string{"view", file, "--http", "127.0.0.1:0", "--out", filepath.Join(dir, "x")}))
}

// TestViewRun: the page of a run follows its curve.
func TestViewRun(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "curve.csv"), []byte(text), 0o666))
	}
	write("seconds,loss\n1,2\n2,1\n")
	url, stop := shown(t, "view", dir, "--http-host", "viewer.example,other.example")
	for host, want := range map[string]int{"viewer.example": 200, "other.example:8080": 200, "third.example": 421} {
		code, text := requestAs(t, host, url, http.MethodGet, "list.json")
		assert.Equal(t, want, code, text)
	}
	assert.Contains(t, answer(t, url, "list.json"), `"live":true,"grows":true,"overview":true`)
	assert.Contains(t, answer(t, url, "overview.json"), `"title":"loss","x":"seconds"`)
	write("seconds,loss\n1,2\n2,1\n3,0.5\n")
	commandtest.WaitUntil(t, "the page has the third point", func() bool {
		answer(t, url, "version.json")
		return strings.Contains(answer(t, url, "overview.json"), `"3 points; the page follows the run"`)
	})
	assert.Zero(t, stop())
}

// writeBot writes a bot of Terminal that gives no orders.
func writeBot(t *testing.T, dir string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the bot here is a script of sh")
	}
	require.NoError(t, os.Mkdir(dir, 0o777))
	script := "#!/bin/sh\nwhile read -r line; do case $line in *'\"turnInfo\":[0,'*) echo '[]'; echo '[]' ;; esac; done\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.sh"), []byte(script), 0o777))
}

// TestViewBot: a person sits down against a bot, also in the middle of a recorded game; nothing is saved of a game without
// turns.
func TestViewBot(t *testing.T) {
	t.Chdir(t.TempDir())
	writeBot(t, "bot")
	require.Zero(t, run(t.Context(), []string{"match", "terminal", "--player", "empty", "--player", "maze", "--save-replay", "game.replay"}))
	url, stop := shown(t, "view", "terminal", "--players", "human,mine=bot:bot", "--save", "saved.replay")
	assert.Contains(t, answer(t, url, "offer.json"), `"turn":0,`)
	assert.Contains(t, answer(t, url, "film.json?game=0"), `"players":["human","mine"]`)
	assert.Zero(t, stop())
	assert.NoFileExists(t, "saved.replay")
	url, stop = shown(t, "view", "game.replay", "--players", "human,bot:bot", "--turn", "5", "--save", "saved.replay")
	assert.Contains(t, answer(t, url, "offer.json"), `"turn":5,`)
	assert.Zero(t, stop())
	require.Zero(t, run(t.Context(), []string{"replay", "verify", "saved.replay"}))

	var found bytes.Buffer
	require.Zero(t, program().Run(t.Context(), []string{"analyse", "game.replay", "--turns", "5", "--policy", "mcts(sims=8)", "--json"}, &found, os.Stderr))
	require.NoError(t, os.WriteFile("found.json", found.Bytes(), 0o666))
	url, stop = shown(t, "view", "game.replay", "--players", "human,bot:bot", "--turn", "5", "--analysis", "found.json")
	assert.Contains(t, answer(t, url, "offer.json"), `"analysed":{"share":1,`)
	assert.Zero(t, stop())
	url, stop = shown(t, "view", "game.replay", "--players", "human,bot:bot", "--turn", "6", "--analysis", "found.json")
	assert.Contains(t, answer(t, url, "offer.json"), `"analysed":null,`)
	assert.Zero(t, stop())
	assert.Equal(t, console.ExitUsage, run(t.Context(), []string{"view", "terminal", "--players", "human,maze", "--analysis", "found.json"}))
	assert.Equal(t, console.ExitUsage, run(t.Context(), []string{"view", "terminal", "--players", "maze,bot:bot"}))
	assert.Equal(t, console.ExitUsage, run(t.Context(), []string{"view", "terminal", "--players", "human,maez"}))
}

// TestMatchView: the page of a game that is being played has what its bots wrote to standard error since the turn before;
// the logs have it as well.
func TestMatchView(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the bot here is a script of sh")
	}
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("bot.sh", []byte(`echo "<b>$(grep -o '"round":[0-9]*' state.json)" >&2
i=0
while [ $i -lt 150 ]; do i=$((i+1)); echo "line $i" >&2; done
echo > command.txt
`), 0o666))
	require.NoError(t, os.WriteFile("short.properties", []byte("game.config.max-rounds=9\n"), 0o666))
	c := exec.Command(console.FullProgram, "match", "towerdefence", "--rules", "short.properties", "--player", "empty", "--player", "sh bot.sh", "--view", "--view-hold", "--logs", "logs")
	errs, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	defer c.Process.Kill() // has no effect after its end
	lines := bufio.NewReader(errs)
	box, err := lines.ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, box, "box: ")
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	go io.Copy(io.Discard, lines)
	url, _, _ := strings.Cut(line, " ")
	commandtest.WaitUntil(t, "the game has begun", func() bool { return strings.Contains(answer(t, url, "film.json?game=0"), `"turns":0`) })
	assert.Contains(t, answer(t, url, "film.json?game=0"), `"printed":false`)
	assert.NotContains(t, answer(t, url, "frames.json?game=0"), `"printed"`)
	for range 3 {
		code, text := request(t, url, http.MethodPost, "step")
		require.Equal(t, http.StatusOK, code, text)
	}
	var frames struct {
		Printed [][]*struct {
			Lines []string
			Left  int
		}
	}
	commandtest.WaitUntil(t, "three turns are played", func() bool {
		if !strings.Contains(answer(t, url, "film.json?game=0"), `"turns":3`) {
			return false
		}
		require.NoError(t, json.Unmarshal([]byte(answer(t, url, "frames.json?game=0")), &frames))
		return true
	})
	require.Len(t, frames.Printed, 4)
	assert.Nil(t, frames.Printed[0])
	for n, seats := range frames.Printed[1:] {
		require.Len(t, seats, 2)
		assert.Nil(t, seats[0], "a policy")
		require.Len(t, seats[1].Lines, 100)
		assert.Equal(t, fmt.Sprintf(`<b>"round":%d`, n), seats[1].Lines[0])
		assert.Equal(t, "line 99", seats[1].Lines[99])
		assert.Equal(t, 51, seats[1].Left)
	}
	assert.Contains(t, answer(t, url, "film.json?game=0"), `"printed":true`)
	require.NoError(t, c.Process.Signal(os.Interrupt))
	c.Wait()
	text, err := os.ReadFile("logs/game-0001-player-2.log")
	require.NoError(t, err)
	commandtest.Wants(t, string(text), "== round 2 ==\n", "line 150\n")
}
