package bench

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// searchBench measures playouts within searches of some positions of a game.
type searchBench struct {
	game    string
	sims    int    // simulations of a search, each with one playout
	options string // further options of mcts
	script  string // policy that plays the game to the positions
	every   int    // turns from one position to the next
}

// searchPositions is the number of searched positions. In each one seat is searched.
const searchPositions = 8

// figures lists the playouts per second within a search, and from the same positions
// without a search.
func (s searchBench) figures() []measure {
	note := fmt.Sprintf("mcts(sims=%d,%s) in %d positions of %s, one every %d turns", s.sims, s.options, searchPositions, s.script, s.every)
	setup := func(play func(*searchedRows) uint64) func(*Options) (pass, int, error) {
		return func(*Options) (pass, int, error) {
			r, err := s.positions()
			if err != nil {
				return nil, 0, err
			}
			return func() (uint64, error) { return play(r), nil }, len(r.rows) * r.sims, nil
		}
	}
	return []measure{
		{what: "search", unit: "playouts/s", setup: setup((*searchedRows).search), note: note},
		{what: "search-playouts", unit: "playouts/s", setup: setup((*searchedRows).playouts), note: "as many from each of the positions of search, without a tree"},
	}
}

// playoutSearcher is a search that can also play playouts without a tree.
type playoutSearcher interface {
	rollout.Searcher
	Playouts(v env.Vector, row int32, n int, seed uint64) float64
}

// searchedRows are the rows of the positions in which a seat has at least two moves.
type searchedRows struct {
	vector env.Vector
	batch  *env.Batch
	policy playoutSearcher
	rows   []int32
	sims   int
}

// positions plays the games to the positions.
func (s searchBench) positions() (*searchedRows, error) {
	v, err := vectorOf(s.game, searchPositions)
	if err != nil {
		return nil, err
	}
	mcts, err := playerOf(v, fmt.Sprintf("mcts(sims=%d,%s)", s.sims, s.options))
	if err != nil {
		return nil, err
	}
	script, err := playerOf(v, s.script)
	if err != nil {
		return nil, err
	}
	searches, ok := mcts.(playoutSearcher)
	if !ok {
		return nil, errors.New("the policy plays no playouts")
	}
	r := &searchedRows{vector: v, batch: env.NewBatch(v.Spec(), searchPositions, searches.Wants()|script.Wants()), policy: searches, sims: s.sims}
	players := v.Spec().Info.Players
	kept := make([][]byte, searchPositions)
	all := make([]int32, r.batch.Rows)
	for row := range all {
		all[row] = int32(row)
	}
	for turn := range searchPositions * s.every {
		v.Observe(r.batch)
		if i := turn / s.every; turn%s.every == 0 && r.batch.Status[i] == sim.Running {
			kept[i] = v.AppendSnapshot(nil, i)
		}
		script.Act(v, r.batch, all)
		v.Step(r.batch)
	}
	for i, saved := range kept {
		if saved == nil {
			continue
		}
		if err := v.Restore(i, saved); err != nil {
			return nil, err
		}
		r.rows = append(r.rows, int32(i*players+i%players))
	}
	v.Observe(r.batch)
	r.policy.Act(v, r.batch, r.rows)
	r.rows = slices.DeleteFunc(r.rows, func(row int32) bool { return len(searches.SearchResult(row).Shares) < 2 })
	if len(r.rows) == 0 {
		return nil, errors.New("there is nothing to choose in any position")
	}
	return r, nil
}

// search searches all positions.
func (s *searchedRows) search() (sum uint64) {
	s.policy.Act(s.vector, s.batch, s.rows)
	for _, row := range s.rows {
		found := s.policy.SearchResult(row)
		sum = prng.Mix(sum ^ math.Float64bits(found.Value))
		for _, share := range found.Shares {
			sum = prng.Mix(sum ^ uint64(math.Float32bits(share)))
		}
	}
	return sum
}

// playouts plays the same number of playouts as search, without a tree.
func (s *searchedRows) playouts() (sum uint64) {
	for _, row := range s.rows {
		sum = prng.Mix(sum ^ math.Float64bits(s.policy.Playouts(s.vector, row, s.sims, s.batch.RowSeed[row])))
	}
	return sum
}
