package gamelists

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/rollout/arena"
	"moonfarm/rollout/arena/schedule"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/view"
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

// TestStandings compares the standings of a tournament with the report of its journal.
func TestStandings(t *testing.T) {
	d := tournament(t, "safe", "safe #2", evil)
	l, err := Tournament(d)
	require.NoError(t, err)
	games := l.GameList()
	h := games.Head()
	assert.True(t, h.Standings && h.Grows)
	all, _, err := games.Games(view.Query{Count: view.MostListed})
	require.NoError(t, err)
	assert.True(t, slices.IsSortedFunc(all, func(a, b view.Entry) int { return cmp.Compare(a.ID, b.ID) }), "%v", all)
	s, err := games.Standings()
	require.NoError(t, err)
	j, err := arena.ReadJournal(filepath.Join(d.Dir, d.File))
	require.NoError(t, err)
	r, err := arena.Evaluate(j.Players, j.Games, -1)
	require.NoError(t, err)
	assert.Equal(t, len(j.Games), s.Games)
	assert.Equal(t, 3, s.Of)
	order := r.ByRating()
	for row, i := range order {
		assert.Equal(t, r.Players[i].Player, s.Players[row][0])
		for column, k := range order {
			want := view.Meeting{}
			for _, p := range r.Pairs {
				if p.A == r.Players[i].Player && p.B == r.Players[k].Player {
					want = view.Meeting{Games: p.Games, Score: p.Score}
				} else if p.B == r.Players[i].Player && p.A == r.Players[k].Player {
					want = view.Meeting{Games: p.Games, Score: 1 - p.Score}
				}
			}
			assert.Equal(t, want, s.Matrix[row][column])
			list, total, err := games.Games(view.Query{Count: 1, Policy: s.Players[row][0], Against: s.Players[column][0]})
			require.NoError(t, err)
			assert.EqualValues(t, want.Games, total, "the cell lists as many games as it says")
			assert.Len(t, list, min(want.Games, 1))
		}
	}
	assert.Equal(t, 4, s.AllFaults)
	require.Len(t, s.Faults, 4)
	first := s.Faults[0]
	assert.Equal(t, view.GameFault{Game: first.Game, Turn: 1, Seat: 1, Player: first.Player, Kind: "crash", Times: 1, Text: evil, Output: evil}, first)
	assert.Equal(t, -1, s.Faults[1].Turn)
	assert.Less(t, s.Faults[3].Game, first.Game)
	film, err := games.Film(first.Game)
	require.NoError(t, err)
	head, err := film.Head()
	require.NoError(t, err)
	assert.Contains(t, string(head), `"turn":1,"kind":"fault"`)

	d.Report = func(*arena.Journal) (*arena.Report, error) { return nil, errors.New("no ratings") }
	l, err = Tournament(d)
	require.NoError(t, err)
	_, err = l.GameList().Standings()
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
	s, err := l.GameList().Standings()
	require.NoError(t, err)
	assert.Zero(t, s.Games)
	assert.Empty(t, s.Players)
}

// TestLatestFaults: the standings have the latest faults, and the number of all.
func TestLatestFaults(t *testing.T) {
	j := &arena.Journal{Players: []string{"a", "b"}}
	for i := range view.MostFaults + 20 {
		g := arena.Played{Faults: []arena.Fault{{Kind: "timeout"}}}
		g.Number, g.Players = int64(i), []int{0, 1}
		j.Games = append(j.Games, g)
	}
	list, all := faultsOf(j, j.Players)
	assert.Equal(t, view.MostFaults+20, all)
	require.Len(t, list, view.MostFaults)
	assert.EqualValues(t, view.MostFaults+19, list[0].Game)
	assert.Equal(t, 1, list[0].Times)
}
