package schedule

import (
	"cmp"
	"fmt"

	"moonfarm/rollout/arena/sprt"
)

// Duel is a match of two players until a sequential test is decided: see package sprt. On each seed
// both play two games with the seats exchanged.
//
// The test receives the results in the order of the seeds, up to the first incomplete seed, so the
// decision does not depend on how many games are played at once. It ignores results after that seed
// and after its own end.
type Duel struct {
	A, B int // players; the test is about the strength of A
	Test sprt.Test
	Most int // number of seeds after which the duel ends undecided
	// Ahead is the largest number of seeds played at once, 1 or more. It affects only the number of
	// games played in vain when the test ends. At first fewer are played at once, which suffices
	// for players of very different strength.
	Ahead int
}

// firstAhead is the number of seeds played at once at first; later, the number played so far.
const firstAhead = 16

// Next returns the games without results of the next seeds, and none once the test is decided: see
// Schedule.
func (d Duel) Next(results []Placing) ([]Fixture, error) {
	have, state, complete, err := d.run(results)
	if err != nil || state.Decision() != sprt.Continue {
		return nil, err
	}
	var games []Fixture
	ahead := min(d.Ahead, max(firstAhead, complete))
	for e := complete; e < min(d.Most, complete+ahead); e++ {
		games = append(games, d.games(e)...)
	}
	return have.missing(games)
}

// State returns the test after the results so far.
func (d Duel) State(results []Placing) (*sprt.State, error) {
	_, state, _, err := d.run(results)
	return state, err
}

// run feeds the results of the complete seeds to the test.
func (d Duel) run(results []Placing) (have byNumber, state *sprt.State, complete int, err error) {
	have, err = index(results)
	if err = cmp.Or(d.check(), err); err != nil {
		return nil, nil, 0, err
	}
	if state, err = sprt.New(d.Test); err != nil {
		return nil, nil, 0, err
	}
	for ; complete < d.Most && state.Decision() == sprt.Continue; complete++ {
		points := 0
		for _, g := range d.games(complete) {
			r, err := have.find(&g)
			if err != nil {
				return nil, nil, 0, err
			}
			if r == nil {
				return have, state, complete, nil
			}
			points += d.points(r)
		}
		if err := state.Add(points); err != nil {
			return nil, nil, 0, err
		}
	}
	return have, state, complete, nil
}

func (d Duel) check() error {
	if d.A == d.B || d.A < 0 || d.B < 0 {
		return fmt.Errorf("schedule: a duel of player %d against player %d", d.A, d.B)
	}
	return cmp.Or(
		checkRange("seeds at most", d.Most, 0, maxShell),
		checkRange("seeds at once", d.Ahead, 1, maxGames/2),
	)
}

func (d Duel) games(seed int) []Fixture {
	n := int64(2 * seed)
	return []Fixture{{Number: n, Players: []int{d.A, d.B}, Seed: seed}, {Number: n + 1, Players: []int{d.B, d.A}, Seed: seed}}
}

func (d Duel) points(r *Placing) int {
	a, b := r.Places[0], r.Places[1]
	if r.Players[0] != d.A {
		a, b = b, a
	}
	switch {
	case a < b:
		return 2
	case a > b:
		return 0
	}
	return 1
}
