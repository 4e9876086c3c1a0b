package gamelists

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/schedule"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/view"
	"moonfarm/rollout/view/overview"
)

// evil is a name of a player with markup and signs that steer the direction of writing.
const evil = "<img src=x onerror=evil()>\u202e\x00\""

// tournament plays a tournament of tron into a folder, with faults in two of its games.
func tournament(t *testing.T, names ...string) *Journal {
	t.Helper()
	entry, err := catalog.Find("tron")
	require.NoError(t, err)
	dir := t.TempDir()
	j, err := arena.OpenJournal(filepath.Join(dir, "games.jsonl"), arena.Terms{Game: "tron", Seed: 7, Schedule: schedule.NameRoundRobin}, nil)
	require.NoError(t, err)
	maker, err := policy.New("tron", "safe")
	require.NoError(t, err)
	vector := func(n int) (env.Vector, error) { return entry.New("", env.Settings{N: n}) }
	c := arena.Tournament{Vector: func(int) (env.Vector, error) { return vector(4) }, Seed: 7, Workers: 1, Schedule: schedule.NewRoundRobin(len(names), 2, 6)}
	for _, n := range names {
		c.Players = append(c.Players, arena.Entrant{Name: n, New: maker})
	}
	_, err = j.Enter(names)
	require.NoError(t, err)
	c.Done = func(p *arena.Played) error {
		if p.Seed == 0 && p.Players[0] < 2 && p.Players[1] < 2 {
			p.Faults = []arena.Fault{{Seat: 1, Turn: 1, Kind: "crash", Times: 1, Text: evil, Output: "first\n" + evil + "\n"}, {Seat: 0, Turn: -1, Kind: "illegal", Times: 3}}
		}
		return j.Add(p)
	}
	_, err = c.Play(context.Background())
	require.NoError(t, err)
	require.NoError(t, j.Close())
	return &Journal{
		Dir: dir, File: "games.jsonl",
		Open:   func(*arena.Terms) ([]*Setup, error) { return []*Setup{{Game: entry, Vector: vector}}, nil },
		Report: func(j *arena.Journal) (*arena.Report, error) { return arena.Evaluate(j.Players, j.Games, -1) },
	}
}

// TestOverview: the cells of a tournament's overview lead to as many games as they say, and faults to films with a mark.
func TestOverview(t *testing.T) {
	d := tournament(t, "safe", "safe #2", evil, "bot:v/one/algo") // which is shown as bot:algo
	l, err := Tournament(d)
	require.NoError(t, err)
	games := l.GameList()
	h := games.Head()
	assert.True(t, h.Overview && h.Grows)
	all, _, err := games.Games(view.Query{Count: view.MostListed})
	require.NoError(t, err)
	assert.True(t, slices.IsSortedFunc(all, func(a, b view.Entry) int { return cmp.Compare(a.ID, b.ID) }), "%v", all)
	o, err := games.Overview()
	require.NoError(t, err)
	links := 0
	for _, s := range o.Sections {
		if s.Title != "Scores against each other" {
			continue
		}
		for _, cell := range slices.Concat(s.Tables[0].Rows...) {
			if cell.To == "" {
				continue
			}
			to, err := url.ParseQuery(cell.To[1:])
			require.NoError(t, err)
			_, total, err := games.Games(view.Query{Count: 1, Policy: to.Get("policy"), Against: to.Get("against")})
			require.NoError(t, err)
			assert.Equal(t, cell.Small, strconv.FormatUint(total, 10))
			links++
		}
	}
	assert.Equal(t, 12, links)
	s := o.Sections[slices.IndexFunc(o.Sections, func(s overview.Section) bool { return s.Title == "Faults" })]
	rows := s.Tables[0].Rows
	require.Len(t, rows, 4)
	assert.Equal(t, []string{"1", "crash", evil, evil}, []string{rows[0][1].Text, rows[0][4].Text, rows[0][5].Text, rows[0][5].Small})
	id, err := strconv.ParseUint(rows[0][0].Text, 10, 64)
	require.NoError(t, err)
	film, err := games.Film(id)
	require.NoError(t, err)
	head, err := film.Head()
	require.NoError(t, err)
	assert.Contains(t, string(head), `"turn":1,"kind":"fault"`)

	d.Report = func(*arena.Journal) (*arena.Report, error) { return nil, errors.New("no ratings") }
	l, err = Tournament(d)
	require.NoError(t, err)
	_, err = l.GameList().Overview()
	assert.EqualError(t, err, "no ratings")
}

// TestGrowing: a journal that is being written, cut anywhere after its first line, has its whole lines.
func TestGrowing(t *testing.T) {
	d := tournament(t, "safe", "safe #2")
	name := filepath.Join(d.Dir, d.File)
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	begin := slices.Index(text, '\n') + 1
	for end := begin; end <= len(text); end++ {
		require.NoError(t, os.WriteFile(name, text[:end], 0o666))
		l, err := Tournament(d)
		require.NoError(t, err, "%d of %d bytes", end, len(text))
		lines := 0
		for _, c := range text[begin:end] {
			if c == '\n' {
				lines++
			}
		}
		require.Len(t, l.Games, max(lines-1, 0)) // the second line has the players
	}
	require.NoError(t, os.WriteFile(name, text[:begin], 0o666))
	l, err := Tournament(d)
	require.NoError(t, err)
	o, err := l.GameList().Overview()
	require.NoError(t, err)
	assert.Equal(t, []string{"No game has ended yet."}, o.Sections[0].Text)
}
