package arena_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features/featuretest"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/schedule"
	"moonfarm/rollout/filelock"
	"moonfarm/sim/simtest"
)

// tournament returns a tournament of the toy game between these policies.
func tournament(t testing.TB, seeds, workers int, names ...string) *arena.Tournament {
	c := &arena.Tournament{Seed: 7, Workers: workers, Schedule: schedule.RoundRobin{Players: len(names), Seats: 2, Seeds: seeds},
		Vector: func(int) (env.Vector, error) { return env.New(duel, featuretest.ToyKit(duel), env.Settings{N: 3}) }}
	for _, n := range names {
		e := entrant(t, n)
		c.Players = append(c.Players, arena.Entrant{Name: n, New: e.New})
	}
	return c
}

var terms = arena.Terms{Game: "toy", Rules: "1", Seed: 7, Schedule: "round-robin"}

// journaled plays a tournament with a journal, which may exist already.
func journaled(t testing.TB, ctx context.Context, file string, c *arena.Tournament) ([]arena.Played, error) {
	t.Helper()
	j, err := arena.OpenJournal(file, terms, nil)
	require.NoError(t, err)
	var names []string
	for _, p := range c.Players {
		names = append(names, p.Name)
	}
	order, err := j.Enter(names)
	require.NoError(t, err)
	players := c.Players
	c.Players = nil
	for _, k := range order {
		c.Players = append(c.Players, players[k])
	}
	done := c.Done
	c.Known = j.Games
	c.Done = func(p *arena.Played) error {
		if err := j.Add(p); err != nil {
			return err
		}
		if done != nil {
			return done(p)
		}
		return nil
	}
	all, err := c.Play(ctx)
	require.NoError(t, j.Close())
	return all, err
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return b
}

// TestJournal: the journal has the same bytes for any number of workers, and after any number of
// stops, or kills in the middle of a line.
func TestJournal(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	games, err := journaled(t, t.Context(), whole, tournament(t, 9, 1, "greedy", "random", "lazy"))
	require.NoErrorf(t, err, "%d games", len(games))
	require.Equalf(t, 54, len(games), "%d games", len(games))
	want := readFile(t, whole)
	n := bytes.Count(want, []byte("\n"))
	require.Equalf(t, 56, n, "%d lines", n)
	read, err := arena.ReadJournal(whole)
	require.NoErrorf(t, err, "read %+v", read)
	require.Truef(t, reflect.DeepEqual(read.Games, games) && reflect.DeepEqual(read.Players, []string{"greedy", "random", "lazy"}) && read.Terms.Seed == 7, "read %+v", read)
	r := rand.New(rand.NewPCG(1, 2))
	for k := range 20 {
		file := filepath.Join(dir, fmt.Sprint(k))
		require.NoError(t, os.WriteFile(file, want[:r.IntN(len(want)+1)], 0o666))
		ctx, stop := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		c := tournament(t, 9, 1+k%4, "greedy", "random", "lazy")
		left := r.IntN(60)
		c.Done = func(*arena.Played) error {
			if left--; left < 0 {
				stop(enough)
			}
			return nil
		}
		some, err := journaled(t, ctx, file, c)
		require.Truef(t, (err == nil || errors.Is(err, enough)) && reflect.DeepEqual(some, games[:len(some)]), "%d games, %v", len(some), err)
		now := readFile(t, file)
		require.Truef(t, bytes.HasPrefix(want, now), "stopped, it is\n%s", now)
		again, err := journaled(t, t.Context(), file, tournament(t, 9, 1+k%3, "greedy", "random", "lazy"))
		require.NoErrorf(t, err, "gone on with: %d games", len(again))
		require.Truef(t, reflect.DeepEqual(again, games) && bytes.Equal(readFile(t, file), want), "gone on with: %d games", len(again))
	}
}

// TestJournalExtended: more seeds and another player extend a tournament; the games played before
// remain.
func TestJournalExtended(t *testing.T) {
	file := filepath.Join(t.TempDir(), "journal")
	_, err := journaled(t, t.Context(), file, tournament(t, 2, 1, "greedy", "random"))
	require.NoError(t, err)
	before := readFile(t, file)
	c := tournament(t, 4, 2, "lazy", "random", "greedy")
	fresh := 0
	c.Done = func(*arena.Played) error { fresh++; return nil }
	games, err := journaled(t, t.Context(), file, c)
	require.NoErrorf(t, err, "%d games, %d of them new", len(games), fresh)
	require.Truef(t, len(games) == 24 && fresh == 20 && bytes.HasPrefix(readFile(t, file), before), "%d games, %d of them new", len(games), fresh)
	want, err := tournament(t, 4, 1, "greedy", "random", "lazy").Play(t.Context())
	byNumber := func(a, b arena.Played) int { return cmp.Compare(a.Number, b.Number) }
	slices.SortFunc(games, byNumber)
	slices.SortFunc(want, byNumber)
	require.NoError(t, err)
	assert.Equal(t, want, games)
	j, err := arena.ReadJournal(file)
	require.NoError(t, err)
	_, err = j.Enter([]string{"lazy", "random"})
	assert.ErrorContains(t, err, "games of greedy", "a player left out")
}

// TestJournalRounds: a player that enters later takes part from the first round without a game.
func TestJournalRounds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "journal")
	for round, names := range [][]string{{"greedy", "random"}, {"greedy", "random", "lazy"}} {
		c := tournament(t, 1, 1, names...)
		var joined []int
		if j, err := arena.ReadJournal(file); err == nil {
			joined = append(slices.Clone(j.Joined), 3)
		}
		c.Schedule = schedule.Swiss{Players: len(names), Rounds: 3 * (round + 1), Seeds: 1, Seed: 1, Joined: joined}
		_, err := journaled(t, t.Context(), file, c)
		require.NoError(t, err)
	}
	j, err := arena.ReadJournal(file)
	require.NoErrorf(t, err, "joined in the rounds %v", j.Joined)
	require.Equal(t, []int{0, 0, 3}, j.Joined, "joined in the rounds")
	for _, g := range j.Games {
		assert.Truef(t, g.Round >= 3 || !slices.Contains(g.Players, 2), "the third player has game %+v", g.Fixture)
	}
	last := j.Games[len(j.Games)-1]
	assert.Equalf(t, 5, last.Round, "the last game is %+v", last.Fixture)
}

// TestStages: a contest plays each stage with its own number of seats, and the result does not
// depend on the number of workers.
func TestStages(t *testing.T) {
	names := []string{"greedy", "random", "lazy", "random", "greedy", "lazy"}
	s := schedule.Championship{Players: len(names), Games: 3, Seats: [4]int{4, 3, 3, 2}, Seed: 2}
	var want []arena.Played
	for workers := 1; workers < 4; workers++ {
		c := tournament(t, 1, workers, names...)
		c.Schedule = s
		c.Vector = func(stage int) (env.Vector, error) {
			g := simtest.Toy{Seats: s.Seats[stage], Orders: 1}
			return env.New(g, featuretest.ToyKit(g), env.Settings{N: 3})
		}
		games, err := c.Play(t.Context())
		require.NoError(t, err)
		if want == nil {
			want = games
		}
		assert.Equalf(t, want, games, "%d workers play other games than one", workers)
	}
	r, err := arena.Evaluate(names, want, -1)
	require.NoError(t, err)
	if err := r.AddStages(s, want); err != nil || len(r.Stages) != 4 {
		t.Fatalf("%d stages, %v", len(r.Stages), err)
	}
	played := 0
	for i, stage := range r.Stages {
		of := 0
		for _, p := range stage.Standings {
			of += p.Games
		}
		played += stage.Games
		assert.Truef(t, stage.Seats == s.Seats[i] && of == stage.Games*stage.Seats && stage.Games != 0, "%+v", stage)
	}
	first := r.Stages[3].Standings
	assert.Truef(t, played == len(want) && first[0].Points >= first[1].Points, "%d of %d games, the finals: %+v", played, len(want), first)
}

// TestJournalMarked: a journal may begin with a byte order mark.
func TestJournalMarked(t *testing.T) {
	name := filepath.Join(t.TempDir(), "games.jsonl")
	j, err := arena.OpenJournal(name, terms, nil)
	if err == nil {
		err = j.Close()
	}
	text, e := os.ReadFile(name)
	err = errors.Join(err, e, os.WriteFile(name, append([]byte("\uFEFF"), text...), 0o666))
	require.NoError(t, err)
	j, err = arena.ReadJournal(name)
	require.NoError(t, err, "read")
	assert.Equal(t, terms.Game, j.Terms.Game, "read")
	j, err = arena.OpenJournal(name, terms, nil)
	require.NoError(t, err, "opened again")
	_, err = j.Enter([]string{"a", "b"})
	assert.NoError(t, err)
	assert.NoError(t, j.Close())
	j, err = arena.ReadJournal(name)
	require.NoError(t, err, "read again")
	assert.Len(t, j.Players, 2, "read again")
}

// TestJournalRefused: OpenJournal refuses a journal in use, another tournament's journal and a
// damaged one; the error names the line.
func TestJournalRefused(t *testing.T) {
	t.Parallel() // it waits for a lock
	file := filepath.Join(t.TempDir(), "journal")
	_, err := journaled(t, t.Context(), file, tournament(t, 2, 1, "greedy", "random"))
	require.NoError(t, err)
	j, err := arena.OpenJournal(file, terms, nil)
	require.NoError(t, err)
	_, err = arena.OpenJournal(file, terms, nil)
	assert.ErrorContains(t, err, "another tournament is writing to it", "open twice")
	j.Close()
	other := terms
	other.Seed++
	_, err = arena.OpenJournal(file, other, nil)
	assert.ErrorContains(t, err, `"seed":"7"`, "another seed")
	text := version1(string(readFile(t, file))) // without checksums, so that the other checks are reached
	lines := strings.SplitAfter(text, "\n")
	for _, c := range []struct{ text, want string }{
		{"", "it is empty"},
		{"{}\n", ":1: version 0 of the journal format"},
		{"[]\n", ":1: expected the terms"},
		{text + "{\n", ":7: expected a game"},
		{text + lines[1], `:7: player "greedy" has entered already`},
		{text + lines[2], ":7: game 4 occurs twice"},
		{text + `{"seats":["a"],"results":[1,2]}` + "\n", ":7: 1 seats, 2 results, 0 scores"},
		{text + `{"extra":1}` + "\n", `unknown field "extra"`},
		{strings.Replace(text, `"results":[1,-1]`, `"results":[2,-2]`, 1), "results [2 -2], expected results of 2 places from +1 to −1"},
		{strings.Replace(text, `"results":[1,-1]`, `"results":[1,1]`, 1), "results [1 1], expected"},
		{strings.Replace(text, `"results":[1,-1]`, `"results":[null,-1]`, 1), "expected numbers and texts, found null"},
		{strings.Replace(text, `"seed":0`, `"seed":null`, 1), ":3: expected numbers and texts, found null"},
		{strings.Replace(text, `"seats":["random","greedy"]`, `"seats":["random","random"]`, 1), `player "random" sits at two seats`},
		{strings.Replace(text, `"max_turns":0`, `"max_turns":2`, 1), " turns, the tournament has at most 2"},
		{strings.Replace(text, `"journal":1`, `"journal":3`, 1), ":1: the line was altered"},
		{strings.Replace(text, `"schedule":"round-robin"`, `"schedule":"ladder"`, 1), ":1: its schedule is ladder, which no longer exists"},
		{strings.Replace(text, `"end":"over"`, `"end":"over"} {"x":"`, 1), ":3: expected a game: more after it"},
		{text + `{"game":9,"seed":9,"seats":["greedy"],"results":[0],"scores":[1],"turns":1,"end":"over","sum":"0000000000000000"}` + "\n", ":7: 1 seats, the games before it have 2"},
		{text + `{"game":9,"seed":9,"seats":["greedy","random"],"results":[0,0],"scores":[1,1],"turns":1,"end":"over","sum":"0000000000000000","faults":[{"seat":0,"turn":2,"kind":"crash","times":1}]}` + "\n", `:7: a fault "crash" in turn 2 of 1`},
		{strings.Replace(text, `"end":"over"`, `"end":"late"`, 1), `:3: end "late", expected over or cut`},
		{strings.Replace(text, `"sum":"`, `"sum":"x`, 1), ":3: sum"},
		{strings.Replace(text, `"seed":0`, `"seed":-1`, 1), ":3: game 4, seed -1"},
		{lines[0] + lines[1] + `{"seed":0,"seats":["a"],"results":[0],"scores":[1],"turns":1,"end":"over","sum":"0000000000000000"}` + "\n", `:3: player "a" has not entered`},
		{lines[0] + `{"seed":0,"seats":["a"],"results":[0],"scores":[1],"turns":1,"end":"over","sum":"0000000000000000","faults":[{"seat":1}]}` + "\n", "a fault at seat 1 of 1"},
		{lines[0] + strings.Repeat("x", 2<<20), ":2: more than 1048576 bytes"},
	} {
		t.Run(c.want, func(t *testing.T) {
			bad := filepath.Join(t.TempDir(), "bad")
			require.NoError(t, os.WriteFile(bad, []byte(c.text), 0o666))
			_, err := arena.ReadJournal(bad)
			assert.ErrorContainsf(t, err, c.want, "%.60q…", c.text)
			if c.text == "" {
				return
			}
			_, err = arena.OpenJournal(bad, terms, nil)
			assert.Truef(t, err != nil && string(readFile(t, bad)) == c.text, "%.60q…: opened for more games: %v", c.text, err)
		})
	}
}

// version1 removes the checksums, as in journals of version 1.
func version1(text string) string {
	text = strings.Replace(text, `"journal":3`, `"journal":1`, 1)
	return regexp.MustCompile(`,"check":"[0-9a-f]{8}"}`).ReplaceAllString(text, "}")
}

// TestJournalVersion1: a journal of version 1 is read, and continued in that format.
func TestJournalVersion1(t *testing.T) {
	dir := t.TempDir()
	whole, old := filepath.Join(dir, "whole"), filepath.Join(dir, "old")
	games, err := journaled(t, t.Context(), whole, tournament(t, 4, 1, "greedy", "random"))
	require.NoError(t, err)
	want := version1(string(readFile(t, whole)))
	half := strings.Join(strings.SplitAfter(want, "\n")[:5], "")
	require.NoError(t, os.WriteFile(old, []byte(half), 0o666))
	got, err := journaled(t, t.Context(), old, tournament(t, 4, 1, "greedy", "random"))
	if err != nil || !reflect.DeepEqual(got, games) || string(readFile(t, old)) != want {
		t.Errorf("%v: it became\n%s\nwant\n%s", err, readFile(t, old), want)
	}
	j, err := arena.ReadJournal(old)
	require.NoError(t, err)
	require.Equal(t, games, j.Games, err)
	longest := 0
	for _, g := range games {
		longest = max(longest, g.Turns)
	}
	assert.NoError(t, j.CheckTurns(longest))
	err = j.CheckTurns(longest - 1)
	assert.ErrorContains(t, err, old+":3: ", "a game with more turns than the rules allow")
	long := terms
	long.GameTurns = longest - 1
	_, err = arena.OpenJournal(old, long, nil)
	assert.ErrorContains(t, err, old+":3: ", "a game with more turns than the rules allow")
}

// TestJournalDamage: for any single byte that is changed, deleted or inserted, and any line copied
// from another tournament, the journal is refused with the line's number, or has the same games.
func TestJournalDamage(t *testing.T) {
	dir := t.TempDir()
	file, other, bad := filepath.Join(dir, "journal"), filepath.Join(dir, "other"), filepath.Join(dir, "bad")
	games, err := journaled(t, t.Context(), file, tournament(t, 2, 1, "greedy", "random"))
	require.NoError(t, err)
	whole := readFile(t, file)
	refused := 0
	try := func(what string, text []byte, must bool) {
		t.Helper()
		require.NoError(t, os.WriteFile(bad, text, 0o666))
		j, err := arena.ReadJournal(bad)
		switch {
		case err != nil && !strings.HasPrefix(err.Error(), "journal "+bad+":"):
			t.Fatalf("%s: error %v, want %s:LINE: …", what, err, bad)
		case err != nil:
			refused++
		case must || !reflect.DeepEqual(j.Games, games) || j.Terms.Seed != terms.Seed:
			t.Fatalf("%s: it is read as if nothing had happened:\n%s", what, text)
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	for at := range whole {
		text := bytes.Clone(whole)
		switch k := random.IntN(4); {
		case k == 0 && whole[at] != '\n':
			try(fmt.Sprintf("byte %d put in", at), slices.Insert(text, at, byte(random.Uint32())), false)
		case k == 1 && at < len(whole)-1: // without its last newline the line counts as incomplete
			try(fmt.Sprintf("byte %d taken out", at), slices.Delete(text, at, at+1), true)
		case k == 2 && whole[at] != '\n':
			text[at] = '\n'
			try(fmt.Sprintf("byte %d made a newline", at), text, true)
		default:
			text[at] ^= byte(1 + random.IntN(255))
			try(fmt.Sprintf("byte %d made %q", at, text[at]), text, true)
		}
	}
	assert.GreaterOrEqualf(t, refused, len(whole)*9/10, "%d damages of %d bytes were refused", refused, len(whole))
	j, err := arena.OpenJournal(other, arena.Terms{Game: "toy", Rules: "1", Seed: 8, Schedule: "round-robin"}, nil)
	require.NoError(t, err)
	_, err = j.Enter([]string{"greedy", "random"})
	require.NoError(t, err)
	require.NoError(t, j.Add(&games[0]))
	require.NoError(t, j.Close())
	lines, foreign := bytes.SplitAfter(whole, []byte("\n")), bytes.SplitAfter(readFile(t, other), []byte("\n"))
	lines[2] = foreign[2]
	try("a game of another seed", bytes.Join(lines, nil), true)
	// The error names all damaged lines.
	text := bytes.ReplaceAll(whole, []byte(`"end":"over"`), []byte(`"end":"oven"`))
	require.NoError(t, os.WriteFile(bad, text, 0o666))
	_, err = arena.ReadJournal(bad)
	assert.Truef(t, err != nil && strings.HasPrefix(err.Error(), "journal "+bad+":3: ") && strings.HasSuffix(err.Error(), "; so are lines 4 5 6"), "four damaged lines: %v", err)
}

// TestBots: Match plays the games with bots one by one; their times and faults are kept.
func TestBots(t *testing.T) {
	file := filepath.Join(t.TempDir(), "journal")
	c := tournament(t, 3, 4, "greedy", "random")
	c.Players = append(c.Players, arena.Entrant{Name: "a bot"})
	c.Schedule = schedule.RoundRobin{Players: 3, Seats: 2, Seeds: 3}
	c.Match = func(_ context.Context, g *schedule.Fixture) (arena.Played, error) {
		fault := arena.Fault{Seat: 1, Turn: 4, Kind: "timeout", Times: 2, Text: "slow"}
		return arena.Played{Turns: 5, Results: []float32{1, -1}, Scores: []float64{2, 0.25}, Sum: 9, Faults: []arena.Fault{fault}, Seconds: []float64{0, 0.125}, Files: []string{"a"}, Box: "landlock"}, nil
	}
	games, err := journaled(t, t.Context(), file, c)
	require.NoErrorf(t, err, "%d games", len(games))
	require.Equalf(t, 18, len(games), "%d games", len(games))
	j, err := arena.ReadJournal(file)
	require.NoError(t, err)
	require.Equal(t, games, j.Games)
	broken := errors.New("no disk")
	c.Match = func(context.Context, *schedule.Fixture) (arena.Played, error) { return arena.Played{}, broken }
	some, err := c.Play(t.Context())
	assert.Truef(t, errors.Is(err, broken) && len(some) <= 12, "%d games, error %v", len(some), err)
}

func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"journal":1,"game":"toy","rules":"1","rules_sha256":"","seed":"7","max_turns":0,"schedule":""}` + "\n" +
		`{"seed":0,"seats":["a","b"],"results":[1,-1],"scores":[1,0],"turns":1,"end":"over","sum":"0000000000000000"}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file := filepath.Join(t.TempDir(), "journal")
		if err := os.WriteFile(file, text, 0o666); err != nil {
			t.Fatal(err)
		}
		j, err := arena.ReadJournal(file)
		if err != nil {
			return
		}
		again, err := arena.OpenJournal(file, j.Terms, nil)
		if err != nil || !reflect.DeepEqual(again.Games, j.Games) || !reflect.DeepEqual(again.Players, j.Players) {
			t.Fatalf("%v: %+v, then %+v", err, j, again)
		}
		again.Close()
		if after := readFile(t, file); !bytes.HasPrefix(text, after) || bytes.Count(after, []byte("\n")) != bytes.Count(text, []byte("\n")) {
			t.Fatalf("%q became %q", text, after)
		}
	})
}

// TestJournalWithoutFlock: where flock is missing, a lock file keeps other programs out of an open
// journal.
func TestJournalWithoutFlock(t *testing.T) {
	t.Parallel() // it waits for a lock
	locks := &filelock.Locker{Flock: func(*os.File, bool) error { return syscall.ENOLCK }}
	name := filepath.Join(t.TempDir(), "games.jsonl")
	j, err := arena.OpenJournal(name, terms, locks)
	require.NoError(t, err)
	for _, other := range []*filelock.Locker{locks, nil} {
		_, err = arena.OpenJournal(name, terms, other)
		assert.ErrorContains(t, err, "another tournament is writing to it (process ", "opened twice")
	}
	assert.NoError(t, j.Close())
	j, err = arena.OpenJournal(name, terms, locks)
	require.NoError(t, err)
	j.Close()
	names, _ := filepath.Glob(name + "*")
	assert.Len(t, names, 1, "left behind")
}
