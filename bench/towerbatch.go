package bench

import (
	"errors"

	"moonfarm/sim"
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
		var o batch.Orders
		var s towerdefence.State
		for range towerRounds / batch.Games {
			game.Playout(&o, b, &random)
			over, _ := game.Play(b, &o)
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

// towerPlace is the place of a match in a block.
type towerPlace struct {
	match int            // index of its last state
	rest  [][2]sim.Order // orders that are still to be played
}

// towerBlock plays matches in a block, each place one after the other.
type towerBlock struct {
	scalar  *towerdefence.Game
	game    *batch.Game
	block   *batch.Block
	matches []towerMatch
	places  [batch.Games]towerPlace
	next    int                  // the first match that has no place yet
	last    []towerdefence.State // of the matches, as often as they are played
}

// setupTowerBatchStep plays the matches of setupTowerStep. The checksum is the same.
func setupTowerBatchStep(o *Options) (pass, int, error) {
	t, rounds, err := newTowerBlock(o)
	if err != nil {
		return nil, 0, err
	}
	pass := func() (uint64, error) {
		t.play()
		sum := uint64(0)
		for i := range t.last {
			sum = towerDigest(sum, t.scalar, &t.last[i])
		}
		return sum, nil
	}
	return pass, rounds, nil
}

// newTowerBlock reads the matches, and returns the rounds of a pass.
func newTowerBlock(o *Options) (t *towerBlock, rounds int, err error) {
	t = new(towerBlock)
	if t.scalar, err = newTower(); err != nil {
		return nil, 0, err
	}
	t.game = batch.New(t.scalar)
	t.block = t.game.NewBlock()
	if t.matches, err = towerMatches(t.scalar, o.Recordings); err != nil {
		return nil, 0, err
	}
	for _, m := range t.matches {
		rounds += len(m.orders)
	}
	if rounds == 0 {
		return nil, 0, errors.New("the recordings hold no match")
	}
	repeat := max(1, towerRounds/rounds)
	t.last = make([]towerdefence.State, repeat*len(t.matches))
	return t, repeat * rounds, nil
}

// play plays all matches to their last commands.
func (t *towerBlock) play() {
	t.next = 0
	left := 0
	for i := range t.places {
		t.places[i] = towerPlace{}
		if t.begin(i) {
			left++
		}
	}
	var o batch.Orders
	for left > 0 {
		for i := range t.places {
			if p := &t.places[i]; len(p.rest) > 0 {
				o[0][i], o[1][i] = p.rest[0][0], p.rest[0][1]
				p.rest = p.rest[1:]
			}
		}
		t.game.Play(t.block, &o)
		for i := range t.places {
			if p := &t.places[i]; len(p.rest) == 0 && p.match >= 0 {
				t.game.Save(&t.last[p.match], t.block, i)
				o[0][i], o[1][i] = towerdefence.Nothing, towerdefence.Nothing
				if !t.begin(i) {
					left--
				}
			}
		}
	}
}

// begin starts the next match in place i, if there is one left.
func (t *towerBlock) begin(i int) bool {
	p := &t.places[i]
	var s towerdefence.State
	for ; t.next < len(t.last); t.next++ {
		m := &t.matches[t.next%len(t.matches)]
		t.scalar.Reset(&s, 0)
		t.scalar.SetStart(&s, 0, m.energy[0], m.health[0])
		t.scalar.SetStart(&s, 1, m.energy[1], m.health[1])
		if len(m.orders) > 0 {
			t.game.Load(t.block, i, &s)
			*p = towerPlace{t.next, m.orders}
			t.next++
			return true
		}
		t.last[t.next] = s
	}
	p.match = -1
	return false
}
