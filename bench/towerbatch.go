package bench

import (
	"math"
	"slices"

	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
	"moonfarm/sim/towerdefence/batch"
)

// towerBatch lists the figures of Tower Defence in blocks of eight games.
func towerBatch() []measure {
	return []measure{
		{what: "batch-step", unit: "turns/s", setup: setupTowerBatchStep, note: "the matches of step, eight at once"},
		{what: "batch-playout", unit: "turns/s", setup: setupTowerBatchPlayout, note: "eight games at once, each with random numbers of its own"},
	}
}

// setupTowerBatchPlayout plays random games in a block, and draws the moves during the pass. The
// checksum has the ends of all games, by place and then by time, and the last states.
func setupTowerBatchPlayout(*Options) (pass, int, error) {
	g, err := newTower()
	if err != nil {
		return nil, 0, err
	}
	game := batch.New(g)
	b := game.NewBlock()
	pass := func() (uint64, error) {
		var random [batch.Games]prng.Rand
		var sums [batch.Games]uint64
		for i := range random {
			random[i] = prng.New(uint64(i))
			game.Reset(b, i)
		}
		var s towerdefence.State
		for round := 0; round < towerRounds/batch.Games; {
			played, over := game.Playouts(b, &random, towerRounds/batch.Games-round)
			round += played
			for i := 0; over != 0; i, over = i+1, over>>1 {
				if over&1 != 0 {
					game.Save(&s, b, i)
					sums[i] = towerDigest(sums[i], g, &s)
					game.Reset(b, i)
				}
			}
		}
		sum := uint64(0)
		for i := range sums {
			game.Save(&s, b, i)
			sum = prng.Mix(sum ^ towerDigest(sums[i], g, &s))
		}
		return sum, nil
	}
	return pass, towerRounds, nil
}

// towerPlan is the order in which a block plays matches: one after the other in each place.
type towerPlan struct {
	orders []batch.Orders // of every round
	turns  []towerTurn    // by round
	last   []towerdefence.State
}

// towerTurn begins and ends matches in a place of a block.
type towerTurn struct {
	round, place int
	ends, begins int // the matches, or −1
}

// setupTowerBatchStep plays the matches of setupTowerStep. The checksum is the same.
func setupTowerBatchStep(o *Options) (pass, int, error) {
	g, matches, rounds, err := towerSteps(o)
	if err != nil {
		return nil, 0, err
	}
	game := batch.New(g)
	b := game.NewBlock()
	plan := planTower(matches)
	repeat := max(1, towerRounds/rounds)
	pass := func() (uint64, error) {
		sum := uint64(0)
		for range repeat {
			plan.play(game, b, matches)
			for i := range plan.last {
				sum = towerDigest(sum, g, &plan.last[i])
			}
		}
		return sum, nil
	}
	return pass, repeat * rounds, nil
}

// planTower gives each match the place that is free first. Matches without orders end as they
// start.
func planTower(matches []towerMatch) *towerPlan {
	t := &towerPlan{}
	for i := range matches {
		t.last = append(t.last, matches[i].start)
	}
	var free, plays [batch.Games]int // by place: the round in which it is free, and the match before that
	for i := range plays {
		plays[i] = -1
	}
	begin := func(match int) {
		place := 0
		for i, round := range free {
			if round < free[place] {
				place = i
			}
		}
		at := free[place]
		t.turns = append(t.turns, towerTurn{at, place, plays[place], match})
		if match < 0 {
			free[place] = math.MaxInt
			return
		}
		plays[place] = match
		for n, o := range matches[match].orders {
			if at+n == len(t.orders) {
				t.orders = append(t.orders, batch.Orders{})
			}
			t.orders[at+n][0][place], t.orders[at+n][1][place] = o[0], o[1]
		}
		free[place] += len(matches[match].orders)
	}
	for i := range matches {
		if len(matches[i].orders) > 0 {
			begin(i)
		}
	}
	for range batch.Games {
		begin(-1)
	}
	slices.SortStableFunc(t.turns, func(a, b towerTurn) int { return a.round - b.round })
	return t
}

// play plays all matches, and leaves their last states in t.last.
func (t *towerPlan) play(g *batch.Game, b *batch.Block, matches []towerMatch) {
	turns := t.turns
	for round := 0; ; round++ {
		for ; len(turns) > 0 && turns[0].round == round; turns = turns[1:] {
			turn := &turns[0]
			if turn.ends >= 0 {
				g.Save(&t.last[turn.ends], b, turn.place)
			}
			if turn.begins >= 0 {
				g.Load(b, turn.place, &matches[turn.begins].start)
			}
		}
		if round == len(t.orders) {
			return
		}
		g.Play(b, &t.orders[round])
	}
}
