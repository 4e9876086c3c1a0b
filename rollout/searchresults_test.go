package rollout_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"moonfarm/env"
	"moonfarm/features/featuretest"
	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/simtest"
)

// seeker is a Searcher of toys. Its result follows from the row's seed: up to four
// moves, each with up to `orders` orders, some of which no choice encodes.
type seeker struct {
	orders int
	rows   []int32
	found  []*rollout.SearchResult // per row of rows
	spare  []*rollout.SearchResult
}

func (*seeker) Name() string    { return "seeker" }
func (*seeker) Wants() env.Want { return env.WantRowSeed }

func (p *seeker) Act(_ env.Vector, b *env.Batch, rows []int32) {
	p.rows, p.found = append(p.rows[:0], rows...), p.found[:0]
	for len(p.spare) < len(rows) {
		p.spare = append(p.spare, new(rollout.SearchResult))
	}
	for i, row := range rows {
		s := p.spare[i]
		p.seek(s, b.RowSeed[row])
		b.OrderLen[row] = 0
		if len(s.Shares) == 0 {
			p.found = append(p.found, nil)
			continue
		}
		p.found = append(p.found, s)
		b.OrderLen[row] = int32(copy(b.Orders[int(row)*p.orders:][:p.orders], s.OrdersOf(0)))
	}
}

// seek writes the result for a seed.
func (p *seeker) seek(s *rollout.SearchResult, seed uint64) {
	moves := int(seed % 5)
	s.Value = float64(int8(seed>>8)) / 128
	s.Shares, s.Orders, s.Ends = s.Shares[:0], s.Orders[:0], s.Ends[:0]
	for range moves {
		seed = seed*6364136223846793005 + 1442695040888963407
		s.Shares = append(s.Shares, 1/float32(moves))
		for i := range int(seed>>60) % (p.orders + 1) {
			s.Orders = append(s.Orders, sim.Order(1+seed>>(32+4*i)%(simtest.ToyHeaps+1))) // the last is no choice
		}
		s.Ends = append(s.Ends, int32(len(s.Orders)))
	}
}

func (p *seeker) SearchResult(row int32) *rollout.SearchResult {
	if i := slices.Index(p.rows, row); i >= 0 {
		return p.found[i]
	}
	return nil
}

// foundIn plays toys in which all seats but the first search, with one policy.
func foundIn(t *testing.T, g simtest.Toy, games int, sink rollout.Sink) {
	t.Helper()
	v := newToy(t, g, env.Settings{N: games})
	seats := newSeats(t, v, "random")
	for p, one := 1, new(seeker); p < len(seats); p++ {
		one.orders = g.Orders
		seats[p] = one
	}
	require.NoError(t, rollout.Shard(context.Background(), v, seats, 4, 0, 60, sink))
}

// Episodes hold the results of Searchers, with the moves encoded as actions.
func TestEpisodesTellWhatWasFound(t *testing.T) {
	for _, g := range toys {
		one := newToy(t, g, env.Settings{N: 1})
		b := env.NewBatch(one.Spec(), 1, env.WantRowSeed)
		kit, p := featuretest.ToyKit(g), seeker{orders: g.Orders}
		var want rollout.SearchResult
		moves, unsaid := 0, 0
		foundIn(t, g, 7, sinkFunc(func(e *rollout.Episode) error {
			f := &e.Searches
			n := e.Turns * e.Players
			require.Truef(t, len(f.Value) == n && len(f.Ends) == n, "%d values and %d ends for %d rows", len(f.Value), len(f.Ends), n)
			choices, counts, move := f.Choices, f.Counts, 0
			ends := f.AppendChoiceEnds(nil)
			r, _ := rollout.NewReplayer(one)
			if err := r.Start(e); err != nil {
				return err
			}
			for row := 0; r.More(); {
				if err := r.Step(b); err != nil {
					return err
				}
				for seat := range e.Players {
					p.seek(&want, b.RowSeed[seat])
					if seat == 0 || len(want.Shares) == 0 {
						if !math.IsNaN(float64(f.Value[row])) || int(f.Ends[row]) != move {
							t.Fatalf("row %d: value %v and %d moves, though nobody searched", row, f.Value[row], int(f.Ends[row])-move)
						}
						row++
						continue
					}
					if got := f.Shares[move:f.Ends[row]]; float64(f.Value[row]) != want.Value || !slices.Equal(got, want.Shares) {
						t.Fatalf("row %d: value %v, shares %v; want %v, %v", row, f.Value[row], got, want.Value, want.Shares)
					}
					for k := range want.Shares {
						action := make([]int32, g.Orders)
						kit.Actions.Action(action, want.OrdersOf(k), nil, 0)
						var numbers []int32
						for h, c := range action {
							if c < 0 {
								numbers = append(numbers, int32(-1-h))
								unsaid++
							} else if c > 0 || g.Orders == 1 {
								numbers = append(numbers, int32(h*(simtest.ToyHeaps+1))+c)
							}
						}
						n := 1
						if g.Orders > 1 {
							n, counts = int(counts[0]), counts[1:]
						}
						if !slices.Equal(choices[:n], numbers) {
							t.Fatalf("row %d, move %d: choices %v, want %v", row, k, choices[:n], numbers)
						}
						choices = choices[n:]
						moves, move = moves+1, move+1
					}
					if before := len(f.Choices) - len(choices); int(ends[row]) != before {
						t.Fatalf("row %d: %d choices up to here, AppendChoiceEnds has %d", row, before, ends[row])
					}
					row++
				}
			}
			require.Truef(t, len(choices)+len(counts) == 0 && move == len(f.Shares), "%d choices, %d counts and %d moves belong to no row", len(choices), len(counts), len(f.Shares)-move)
			return nil
		}))
		assert.Truef(t, moves >= 500 && unsaid >= 50, "%v: %d moves, %d heads without a choice: too few to tell", g, moves, unsaid)
	}
}

// Search results do not depend on the number of games that are played at once.
func TestFoundIsPure(t *testing.T) {
	for _, g := range toys {
		var one, many tape
		foundIn(t, g, 1, &one)
		foundIn(t, g, 13, &many)
		assert.Truef(t, bytes.Equal(one.Bytes(), many.Bytes()), "%v: 13 games at once find other things than one", g)
	}
	found := 0
	v := newToy(t, toys[0], env.Settings{N: 3})
	sink := sinkFunc(func(e *rollout.Episode) error { found += len(e.Searches.Value) + len(e.Searches.Ends); return nil })
	err := rollout.Shard(context.Background(), v, newSeats(t, v, "random"), 4, 0, 10, sink)
	require.NoErrorf(t, err, "%d rows have search results though no seat searches", found)
	assert.Zerof(t, found, "%d rows have search results though no seat searches", found)
}

// Recording search results allocates nothing once the buffers have grown.
func TestFoundAllocatesNothing(t *testing.T) {
	g := toys[1]
	v := newToy(t, g, env.Settings{N: 4})
	seats := newSeats(t, v, "random")
	seats[1], seats[3] = &seeker{orders: g.Orders}, &seeker{orders: g.Orders}
	games, err := rollout.NewGames(v, rollout.Cast{Seats: makersOf(seats)})
	require.NoError(t, err)
	play := func() {
		require.NoError(t, games.Play(context.Background(), 7, 0, 40, sinkFunc(func(*rollout.Episode) error { return nil })))
	}
	for range 5 { // until every buffer has met the largest episode
		play()
	}
	n := testing.AllocsPerRun(3, play)
	assert.LessOrEqualf(t, n, float64(0), "%v allocations in 40 episodes", n)
}

// TestMoves: the moves of each row, with one choice each and with several.
func TestMoves(t *testing.T) {
	one := rollout.SearchResults{Ends: []int32{2, 2, 3}, Shares: []float32{0.5, 0.25, 1}, Choices: []int32{7, 8, 9}}
	several := one
	several.Counts, several.Choices = []int32{2, 0, 1}, []int32{7, 8, 9}
	for row, want := range [][]rollout.Move{{{Share: 0.5, Choices: []int32{7}}, {Share: 0.25, Choices: []int32{8}}}, nil, {{Share: 1, Choices: []int32{9}}}} {
		require.Equal(t, want, one.Moves(row))
	}
	for row, want := range [][]rollout.Move{{{Share: 0.5, Choices: []int32{7, 8}}, {Share: 0.25, Choices: []int32{}}}, nil, {{Share: 1, Choices: []int32{9}}}} {
		require.Equal(t, want, several.Moves(row))
	}
	require.Nil(t, one.Moves(-1))
	require.Nil(t, one.Moves(3))
}
