package view_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/env/catalog"
	"moonfarm/features"
	"moonfarm/rollout"
	"moonfarm/rollout/policy"
	"moonfarm/rollout/recordings"
	"moonfarm/rollout/view"
	"moonfarm/sim"
	"moonfarm/sim/terminal"
)

// sinkFunc is a sink of one function.
type sinkFunc func(e *rollout.Episode) error

func (s sinkFunc) Episode(e *rollout.Episode) error { return s(e) }

// vector returns one game of the catalog.
func vector(t testing.TB, game, rules string, turns int) env.Vector {
	t.Helper()
	entry, err := catalog.Find(game)
	require.NoError(t, err)
	v, err := entry.New(rules, env.Settings{N: 1, MaxTurns: turns})
	require.NoError(t, err)
	return v
}

// played returns a list of n games of a policy against itself.
func played(t testing.TB, game, rules, spec string, turns, n int) *view.List {
	t.Helper()
	v := vector(t, game, rules, turns)
	var seats []rollout.Policy
	for range v.Spec().Info.Players {
		m, err := policy.New(game, spec)
		require.NoError(t, err)
		p, err := m(v.Spec())
		require.NoError(t, err)
		seats = append(seats, p)
	}
	var episodes []*rollout.Episode
	l := &view.List{Title: "test"}
	require.NoError(t, rollout.Shard(context.Background(), v, seats, 5, 0, uint64(n), sinkFunc(func(e *rollout.Episode) error {
		c := *e
		c.Orders, c.Ends, c.Policies = slices.Clone(e.Orders), slices.Clone(e.Ends), slices.Clone(e.Policies)
		episodes = append(episodes, &c)
		l.Entries = append(l.Entries, view.EntryOf(e.ID, "", &c))
		return nil
	})))
	l.Open = func(i int) (*view.Film, error) {
		return view.NewFilm(view.Game{ID: episodes[i].ID, Vector: vector(t, game, rules, turns), Episode: episodes[i],
			Orders: func(o []sim.Order) []string { return []string{fmt.Sprint(len(o))} }})
	}
	return l
}

// games are games of the catalog with a policy and a number of turns that end quickly.
var games = []struct {
	game, rules, policy string
	turns               int
	fog                 bool
}{
	{"tron", "", "random", 100, false},
	{"towerdefence", "", "playout", 100, false},
	{"terminal", "", "scatter", 100, false},
	{"codecraft", "round2", "econ", 80, true},
}

// chunk is the JSON of frames.json.
type chunk struct {
	From      int
	Looks     [][]any
	Positions [][]struct {
		T          string
		A, R, E, L []json.RawMessage
		V          [][]any
		S          []*float64
	}
	Inputs [][][]string
}

// plain decodes a difference list to texts of its elements.
func plain(t *testing.T, old []string, list []json.RawMessage) (now []string) {
	t.Helper()
	for _, item := range list {
		var run []any
		require.NoError(t, json.Unmarshal(item, &run))
		if len(run) == 2 {
			from, n := int(run[0].(float64)), int(run[1].(float64))
			now = append(now, old[from:from+n]...)
			continue
		}
		now = append(now, string(item))
	}
	return now
}

// round rounds as the JSON does.
func round(v float32) float64 { return math.Round(float64(v)*1000) / 1000 }

// TestFrames: the chunks of a film have the scenes of a game that is played alongside, for a spectator
// and a seat, in any order of chunks; the numbers of all positions are those of their last scenes.
func TestFrames(t *testing.T) {
	for _, c := range games {
		t.Run(c.game, func(t *testing.T) {
			f, err := played(t, c.game, c.rules, c.policy, c.turns, 1).Film(0)
			require.NoError(t, err)
			assert.Equal(t, c.fog, f.Fog())
			for _, seat := range []int{features.Spectator, 1} {
				want := scenes(t, f, seat)
				require.Len(t, want, f.Turns()+1)
				var starts []int
				for at := 0; at <= f.Turns(); at += view.Chunk {
					starts = append(starts, at)
				}
				g := rand.New(rand.NewPCG(1, 2))
				g.Shuffle(len(starts), func(i, j int) { starts[i], starts[j] = starts[j], starts[i] })
				for _, at := range starts {
					text, err := f.Frames(seat, at)
					require.NoError(t, err)
					requireChunk(t, text, at, want)
				}
			}
			stats, err := f.Stats()
			require.NoError(t, err)
			var table struct{ Turns [][]*float64 }
			require.NoError(t, json.Unmarshal(stats, &table))
			require.Len(t, table.Turns, f.Turns()+1)
			for n, frames := range scenes(t, f, features.Spectator) {
				for i, s := range frames[len(frames)-1].Stats {
					require.Equal(t, s.Value, *table.Turns[n][i], "position %d, %s of seat %d", n, s.Name, s.Seat)
				}
			}
		})
	}
}

// scenes returns the texts of the scenes of each position, one after the other.
func scenes(t *testing.T, f *view.Film, seat int) (all [][]features.Scene) {
	t.Helper()
	all = make([][]features.Scene, f.Turns()+1)
	for n := range all {
		require.NoError(t, f.Moments(seat, n, func(s *features.Scene) { all[n] = append(all[n], s.Clone()) }))
	}
	return all
}

// requireChunk compares a chunk with the scenes of its positions.
func requireChunk(t *testing.T, text []byte, at int, want [][]features.Scene) {
	t.Helper()
	var c chunk
	require.NoError(t, json.Unmarshal(text, &c))
	require.Equal(t, at, c.From)
	require.Len(t, c.Positions, min(view.Chunk, len(want)-at))
	require.Len(t, c.Inputs, min(view.Chunk, len(want)-1-at)+min(at, 1), "with those of the turn before")
	var areas, ranges, entities, lines []string
	for k, frames := range c.Positions {
		require.Len(t, frames, len(want[at+k]), "position %d", at+k)
		for i, got := range frames {
			s := want[at+k][i]
			areas, ranges = plain(t, areas, got.A), plain(t, ranges, got.R)
			entities, lines = plain(t, entities, got.E), plain(t, lines, got.L)
			require.Equal(t, s.Title, got.T)
			require.Len(t, areas, len(s.Areas))
			require.Len(t, ranges, len(s.Ranges))
			require.Len(t, entities, len(s.Entities))
			require.Len(t, lines, len(s.Lines))
			require.Len(t, got.V, len(s.Events))
			for n, text := range entities {
				var e []any
				require.NoError(t, json.Unmarshal([]byte(text), &e))
				x := &s.Entities[n]
				look := c.Looks[int(e[0].(float64))]
				require.Equal(t, []any{x.Kind, float64(x.Owner), round(x.Width), round(x.Height)}, []any{look[0], look[1], round(float32(look[2].(float64))), round(float32(look[3].(float64)))})
				require.Equal(t, x.Letter, look[9])
				sample := c.Looks[int(look[13].(float64))]
				require.Equal(t, []any{x.Kind, -1.0, 0.0, x.Letter}, []any{sample[0], sample[1], sample[4], sample[9]})
				require.Equal(t, []any{round(x.X), round(x.Y), round(x.Health), float64(x.Number), float64(x.ID)}, e[1:6])
			}
			for n, text := range lines {
				var e []any
				require.NoError(t, json.Unmarshal([]byte(text), &e))
				x := &s.Lines[n]
				require.Equal(t, []any{round(x.X1), round(x.Y1), round(x.X2), round(x.Y2), float64(x.Owner)}, e[:5])
				require.Equal(t, []any{x.Kind, x.Note}, e[6:8])
				if dx, dy := float64(x.X2-x.X1), float64(x.Y2-x.Y1); x.Arrow && math.Hypot(dx, dy) > 12 {
					require.InDelta(t, 4, math.Hypot(e[8].(float64)-float64(x.X1), e[9].(float64)-float64(x.Y1)), 0.01, "a long arrow shows its direction")
				} else {
					require.Len(t, e, 8)
				}
			}
			for n, text := range areas {
				var e []float64
				require.NoError(t, json.Unmarshal([]byte(text), &e))
				require.Equal(t, []float64{round(s.Areas[n].X), round(s.Areas[n].Y), round(s.Areas[n].Width), round(s.Areas[n].Height)}, e[:4])
			}
			for n := range got.S {
				if got.S[n] != nil {
					require.True(t, slices.ContainsFunc(s.Stats, func(x features.Stat) bool { return x.Value == *got.S[n] }))
				}
			}
		}
	}
}

// TestSeries: numbers beside those of the scenes come after them, before each turn, and none at the end.
func TestSeries(t *testing.T) {
	e := &rollout.Episode{Players: 2, Turns: 2, Ends: make([]int32, 4), Policies: []string{"a", "b"}}
	nan := float32(math.NaN())
	f, err := view.NewFilm(view.Game{Vector: vector(t, "tron", "", 0), Episode: e, Series: []view.Series{
		{Name: "value", Unit: "result", Values: []float32{0.5, nan, -0.25, 0.125}}, {Name: "other", Unit: "x", Values: []float32{1}}}})
	require.NoError(t, err)
	head, err := f.Head()
	require.NoError(t, err)
	require.Contains(t, string(head), `{"name":"value","unit":"result","seat":0},{"name":"value","unit":"result","seat":1},{"name":"other","unit":"x","seat":0},{"name":"other","unit":"x","seat":1}]`)
	stats, err := f.Stats()
	require.NoError(t, err)
	var table struct{ Turns [][]*float64 }
	require.NoError(t, json.Unmarshal(stats, &table))
	text, err := f.Frames(-1, 0)
	require.NoError(t, err)
	var c chunk
	require.NoError(t, json.Unmarshal(text, &c))
	for n, want := range []string{"[0.5,null,1,null]", "[-0.25,0.125,null,null]", "[null,null,null,null]"} {
		row := table.Turns[n]
		got, err := json.Marshal(row[len(row)-4:])
		require.NoError(t, err)
		assert.Equal(t, want, string(got), "position %d", n)
		frames := c.Positions[n]
		assert.Equal(t, row, frames[len(frames)-1].S, "position %d", n)
	}
}

// TestMoves: a chunk has the moves that a search weighed before each turn; that with the largest share was played.
func TestMoves(t *testing.T) {
	for _, c := range []struct{ game, spec string }{{"towerdefence", "mcts(sims=30)"}, {"terminal", "mcts(sims=8)"}} {
		t.Run(c.game, func(t *testing.T) {
			const turns = 12
			v := vector(t, c.game, "", turns)
			m, err := policy.New(c.game, c.spec)
			require.NoError(t, err)
			p, err := m(v.Spec())
			require.NoError(t, err)
			texts := func(o []sim.Order) []string { return recordings.OrderTexts(c.game, o) }
			require.NoError(t, rollout.Shard(context.Background(), v, []rollout.Policy{p, p}, 5, 0, 1, sinkFunc(func(e *rollout.Episode) error {
				f, err := view.NewFilm(view.Game{Vector: vector(t, c.game, "", turns), Episode: e, Searches: &e.Searches, Orders: texts})
				require.NoError(t, err)
				text, err := f.Frames(-1, 0)
				require.NoError(t, err)
				var k struct{ Moves [][][][6]any }
				require.NoError(t, json.Unmarshal(text, &k))
				require.Len(t, k.Moves, turns+1)
				agree := 0
				for n, seats := range k.Moves[:turns] {
					require.Len(t, seats, 2)
					for p, moves := range seats {
						sum := 0.0
						for _, one := range moves {
							sum += one[0].(float64)
						}
						require.LessOrEqual(t, sum, 1.001)
						played := slices.Sorted(slices.Values(texts(e.OrdersOf(n, sim.Player(p)))))
						for _, one := range moves { // of equal shares any may be the one that was played
							said := slices.Sorted(slices.Values(strings.Split(one[5].(string), ", ")))
							if one[0] == moves[0][0] && (slices.Equal(said, played) || len(played) == 0 && one[5] == "nothing") {
								agree++
								break
							}
						}
					}
				}
				assert.GreaterOrEqual(t, agree, 2*turns*3/4, "a move with the largest share is the one that was played, but for moves that no choices express")
				assert.Empty(t, k.Moves[turns][0])
				return nil
			})))
		})
	}
}

// TestDesk: the page's questions are answered, and wrong ones get errors.
func TestDesk(t *testing.T) {
	d := view.NewResponder(played(t, "tron", "", "random", 100, 6))
	var list struct {
		Total int
		Games []view.Entry
	}
	ask := func(question string) []byte {
		t.Helper()
		text, err := d.Answer(question)
		require.NoError(t, err, question)
		return text
	}
	require.JSONEq(t, `{"title":"test","kind":"games","total":6,"policies":["random"],"live":false}`, string(ask("list.json")))
	require.NoError(t, json.Unmarshal(ask("games.json?from=1&count=2&sort=-turns"), &list))
	require.Equal(t, 6, list.Total)
	require.Len(t, list.Games, 2)
	assert.GreaterOrEqual(t, list.Games[0].Turns, list.Games[1].Turns)
	require.NoError(t, json.Unmarshal(ask("games.json?policy=nobody"), &list))
	require.Zero(t, list.Total)
	won := 0
	for _, o := range []string{"A", "B", "draw", "cut"} {
		require.NoError(t, json.Unmarshal(ask("games.json?outcome="+o), &list))
		won += list.Total
	}
	require.Equal(t, 6, won, "each game has one outcome")
	for id := range 6 {
		ask(fmt.Sprintf("film.json?game=%d", id))
	}
	ask("frames.json?game=5&seat=0&from=0")
	for _, wrong := range []string{
		"", "x.json", "http://example.org/list.json", "//example.org/list.json", "%zz", "film.json", "film.json?game=-1", "film.json?game=99", "frames.json?game=1&seat=2",
		"frames.json?game=1&from=-1", "frames.json?game=1&from=99999999999999999999", "frames.json?game=1&from=500", "games.json?count=0", "games.json?count=5000",
		"games.json?sort=size", "games.json?outcome=E",
	} {
		_, err := d.Answer(wrong)
		assert.Error(t, err, wrong)
	}
	all, err := d.Everything(1 << 20)
	require.NoError(t, err)
	for question, text := range all {
		require.True(t, json.Valid(text), question)
	}
	require.Contains(t, all, "frames.json?game=5&seat=-1&from=0")
	require.NotContains(t, all, "frames.json?game=5&seat=0&from=0", "without fog all see the same")
	_, err = d.Everything(1000)
	assert.ErrorContains(t, err, "choose fewer games")
}

// TestWrongEpisode: an episode of other rules gets an error.
func TestWrongEpisode(t *testing.T) {
	e := &rollout.Episode{Players: 2, Turns: 200, Ends: make([]int32, 400), Policies: []string{"a", "b"}}
	f, err := view.NewFilm(view.Game{Vector: vector(t, "tron", "", 0), Episode: e})
	require.NoError(t, err)
	_, err = f.Frames(-1, 192)
	assert.ErrorContains(t, err, "over before its last turn")
	e.Players = 3
	_, err = view.NewFilm(view.Game{Vector: vector(t, "tron", "", 0), Episode: e})
	assert.ErrorContains(t, err, "tron has 2 seats")
}

// TestPaths: ways of units lead over free cells, to the edge of the other half unless they stop.
func TestPaths(t *testing.T) {
	f, err := played(t, "terminal", "", "maze", 40, 1).Film(0)
	require.NoError(t, err)
	ways, stops := walked(t, f)
	assert.True(t, ways > 1000 && stops == 0, "%d ways, %d stop", ways, stops)

	// The start (13, 0) is walled in after the first turn.
	walls := []sim.Order{terminal.Place(terminal.Wall, 13, 1), terminal.Place(terminal.Wall, 14, 0)}
	f, err = view.NewFilm(view.Game{Vector: vector(t, "terminal", "", 0), Episode: &rollout.Episode{
		Players: 2, Turns: 1, Orders: walls, Ends: []int32{2, 2}, Policies: []string{"a", "b"}}})
	require.NoError(t, err)
	_, stops = walked(t, f)
	assert.Equal(t, 1, stops)
	_, err = f.Paths(f.Turns() + 1)
	require.Error(t, err)

	f, err = view.NewFilm(view.Game{Vector: vector(t, "tron", "", 0), Episode: &rollout.Episode{Players: 2, Policies: []string{"a", "b"}}})
	require.NoError(t, err)
	_, err = f.Paths(0)
	require.Error(t, err)
}

// walked follows the ways in all positions. It returns their number, and how many stop.
func walked(t *testing.T, f *view.Film) (ways, stops int) {
	t.Helper()
	for from := 0; from <= f.Turns(); from += view.Chunk {
		text, err := f.Paths(from)
		require.NoError(t, err)
		var got struct {
			From      int
			Positions [][][]any
		}
		require.NoError(t, json.Unmarshal(text, &got))
		require.Equal(t, from, got.From)
		require.Len(t, got.Positions, min(view.Chunk, f.Turns()+1-from))
		for i, list := range got.Positions {
			built := map[[2]float64]bool{}
			require.NoError(t, f.Moments(features.Spectator, from+i, func(s *features.Scene) {
				clear(built)
				for _, e := range s.Entities {
					built[[2]float64{float64(e.X), float64(e.Y)}] = true
				}
			}))
			for _, w := range list {
				at := [2]float64{w[1].(float64), w[2].(float64)}
				require.Equal(t, at[1] > 13, w[0].(float64) == 1, "the half of the start")
				for _, step := range w[4].(string) {
					require.False(t, built[at], "a way over a structure at %v", at)
					d := map[rune][2]float64{'r': {1, 0}, 'l': {-1, 0}, 'u': {0, 1}, 'd': {0, -1}}[step]
					at[0], at[1] = at[0]+d[0], at[1]+d[1]
				}
				rows := min(at[1], 27-at[1])
				arrived := (at[0] == 13-rows || at[0] == 14+rows) && (at[1] > 13) == (w[0].(float64) == 0)
				require.Equal(t, arrived, w[3].(float64) == 0, "%v ends at %v", w, at)
				ways++
				stops += int(w[3].(float64))
			}
		}
	}
	return ways, stops
}
