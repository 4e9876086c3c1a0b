package full

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/cmd/moonfarm/internal/commandtest"
	"moonfarm/cmd/moonfarm/internal/console"
	"moonfarm/rollout/view"
)

// evaluating is a command with a page that runs.
type evaluating struct {
	url    string
	cancel context.CancelCauseFunc
	ended  chan int
}

// evaluate starts a command with a page, and waits for the address of the page.
func evaluate(t *testing.T, args ...string) *evaluating {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	t.Cleanup(func() { cancel(nil) })
	e := &evaluating{cancel: cancel, ended: make(chan int, 1)}
	out, in := io.Pipe()
	go func() {
		e.ended <- program().Run(ctx, args, in, in)
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	for e.url == "" && lines.Scan() {
		if t.Log(lines.Text()); strings.HasPrefix(lines.Text(), "http") {
			e.url, _, _ = strings.Cut(lines.Text(), " ")
		}
	}
	require.NotEmpty(t, e.url, "the address of the page")
	go io.Copy(io.Discard, out)
	return e
}

// stop interrupts the command, and returns its exit status.
func (e *evaluating) stop() int {
	e.cancel(console.ErrInterrupted)
	return <-e.ended
}

// overview returns the overview of the page as text, with the number of games in its list.
func (e *evaluating) overview(t *testing.T) (text string, games int) {
	t.Helper()
	var head view.ListHead
	require.NoError(t, json.Unmarshal([]byte(answer(t, e.url, "list.json")), &head))
	return answer(t, e.url, "overview.json"), int(head.Total)
}

// look waits until the page has a number of games or more.
func (e *evaluating) look(t *testing.T, games int) {
	t.Helper()
	commandtest.WaitUntil(t, "the page has the games", func() bool {
		answer(t, e.url, "version.json") // as the page does, so that the journal is read again
		_, n := e.overview(t)
		return n >= games
	})
}

// TestEvalView: the page follows a tournament, shows films of its games, and stays after its end until it is interrupted;
// a resumed tournament begins with the games that it has.
func TestEvalView(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "t")
	args := func(games string) []string {
		return []string{"eval", "tron", "--players", "random,territory,safe", "--games", games, "--out", dir, "--view"}
	}
	e := evaluate(t, args("4")...)
	assert.Contains(t, answer(t, e.url, ""), "<!doctype html>")
	e.look(t, 12)
	text, n := e.overview(t)
	assert.Equal(t, 12, n)
	assert.Contains(t, text, "round-robin: 12 games on 2 seeds.")
	assert.Regexp(t, `"text":"\d\.\d\d","small":"4","hint":"safe against random: score `, text)
	list := answer(t, e.url, "list.json")
	for _, part := range []string{`"live":true`, `"grows":true`, `"overview":true`, `"total":12`} {
		assert.Contains(t, list, part)
	}
	assert.Contains(t, answer(t, e.url, "games.json?policy=safe&against=random"), `"total":4,`)
	var games struct{ Games []view.Entry }
	require.NoError(t, json.Unmarshal([]byte(answer(t, e.url, "games.json")), &games))
	require.Len(t, games.Games, 12)
	assert.Contains(t, answer(t, e.url, fmt.Sprintf("film.json?game=%d", games.Games[5].ID)), `"game":"tron"`)
	select {
	case status := <-e.ended:
		t.Fatalf("it ended with status %d before it was interrupted", status)
	default:
	}
	assert.Zero(t, e.stop())
	_, err := http.Get(e.url)
	assert.Error(t, err, "the page is gone")

	e = evaluate(t, args("6")...)
	_, n = e.overview(t)
	assert.GreaterOrEqual(t, n, 12)
	e.look(t, 18)
	assert.Zero(t, e.stop())

	e = evaluate(t, args("1000000")...) // interrupted while it is played
	assert.Equal(t, console.ExitInterrupted, e.stop())

	url, stop := shown(t, "view", dir)
	assert.Contains(t, answer(t, url, "overview.json"), `"title":"Scores against each other"`)
	assert.Zero(t, stop())
}

// TestEvalViewRules: the films of games of bots by other rules open while the tournament is played.
func TestEvalViewRules(t *testing.T) {
	dir := t.TempDir()
	out, rules, bot := filepath.Join(dir, "t"), filepath.Join(dir, "short"), filepath.Join(dir, "bot")
	require.NoError(t, os.WriteFile(rules, []byte("moonfarm.maxTurns=3\n"), 0o666))
	writeBot(t, bot)
	e := evaluate(t, "eval", "terminal", "--rules", rules, "--players", "empty,bot:"+bot, "--games", "2", "--out", out, "--view")
	e.look(t, 2)
	var games struct{ Games []view.Entry }
	require.NoError(t, json.Unmarshal([]byte(answer(t, e.url, "games.json")), &games))
	require.Len(t, games.Games, 2)
	for _, g := range games.Games {
		assert.Contains(t, answer(t, e.url, fmt.Sprintf("film.json?game=%d", g.ID)), `"turns":3,`)
	}
	assert.Zero(t, e.stop())
}
