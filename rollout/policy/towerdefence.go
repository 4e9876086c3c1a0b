package policy

import (
	"fmt"
	"math/bits"

	"moonfarm/env"
	"moonfarm/rollout"
	"moonfarm/sim"
	"moonfarm/sim/bitboard"
	"moonfarm/sim/prng"
	"moonfarm/sim/towerdefence"
)

// towerdefencePolicies are the scripted policies of Tower Defence.
var towerdefencePolicies = []entry{
	{Entry{"playout", "any affordable kind, nothing or the curtain, then any free cell; never deconstructs (as the recordings of that name)"},
		tower("playout", (*towerSeat).playout)},
	{Entry{"econ", "energy first, then attack towers massed in the enemy's weakest rows, walls where it shoots"},
		tower("econ", (*towerSeat).econ)},
	{Entry{"turtle", "walls before every row that is shot at, energy behind them, counter-attacks there"},
		tower("turtle", (*towerSeat).turtle)},
	{Entry{"rush", "attack towers from the start in one row after the other, hardly any energy, no walls"},
		tower("rush", (*towerSeat).rush)},
	{Entry{"tesla", "saves for two tesla towers at the front, behind a few walls, and keeps them fed"},
		tower("tesla", (*towerSeat).tesla)},
}

// towerPolicy plays by a rule that looks at the state from one seat. It has no
// memory: where the rule leaves a choice, the row's key decides.
type towerPolicy struct {
	name string
	rule func(c *towerSeat) sim.Order
	seat towerSeat // scratch
}

// tower makes a towerPolicy.
func tower(name string, rule func(c *towerSeat) sim.Order) rollout.Maker {
	return func(s env.Spec) (rollout.Policy, error) {
		if s.Info.Name != "towerdefence" {
			return nil, fmt.Errorf("%s plays towerdefence, not %s", name, s.Info.Name)
		}
		return &towerPolicy{name: name, rule: rule}, nil
	}
}

func (t *towerPolicy) Name() string { return t.name }

func (t *towerPolicy) Wants() env.Want { return env.WantKey }

func (t *towerPolicy) Act(v env.Vector, b *env.Batch, rows []int32) {
	states, ok := env.States[towerdefence.State](v)
	rules, _ := env.Rules[towerdefence.State](v)
	game, same := rules.(*towerdefence.Game)
	if !ok || !same {
		panic("policy: " + t.name + " plays no " + v.Spec().Info.Name)
	}
	c := &t.seat
	if c.game != game {
		c.game, c.rules = game, game.Rules()
	}
	for _, row := range rows {
		c.look(&states[row/2], sim.Player(row&1), b.Key[row])
		b.Orders[row], b.OrderLen[row] = t.rule(c), 1
	}
}

// towerSeat is a state as a scripted policy sees it from one seat. Boards are
// those of towerdefence.Half: bit y*8 + x in the coordinates of the owner of
// the half, x = 7 at the front.
type towerSeat struct {
	game   *towerdefence.Game
	rules  towerdefence.Rules
	state  *towerdefence.State
	player sim.Player
	me     *towerdefence.Half
	foe    *towerdefence.Half
	legal  towerdefence.Legal
	random prng.Rand
	rows   [towerdefence.Height]towerRow // see survey
}

// towerRow sums up one row of the board.
type towerRow struct {
	attack, walls       int // own attack towers and walls, finished or not
	foeAttack, foeWalls int // the enemy's
	foeTesla            int // its tesla towers
	foeOther            int // its other buildings
}

// Columns of a half by what the scripts use them for.
const (
	backColumns  = 0x0303030303030303 // x 0 and 1: energy
	midColumns   = 0x7c7c7c7c7c7c7c7c // x 2 … 6: attack
	frontColumns = 0xc0c0c0c0c0c0c0c0 // x 6 and 7: walls
	frontColumn  = 0x8080808080808080 // x 7
	towerRowMask = 0xff               // of row 0; row y is shifted by 8·y
)

// look turns the seat to a state.
func (c *towerSeat) look(s *towerdefence.State, p sim.Player, key uint64) {
	c.state, c.player = s, p
	c.me, c.foe = &s.Half[p], &s.Half[p^1]
	c.random = prng.New(key)
}

// survey sums up the rows and finds what is legal.
func (c *towerSeat) survey() {
	c.game.Legal(&c.legal, c.state, c.player)
	foeAttack, foeWalls := c.foe.Standing(towerdefence.Attack), c.foe.Standing(towerdefence.Defense)
	foeTesla := c.foe.Standing(towerdefence.Tesla)
	foeOther := c.foe.Occupied &^ foeAttack &^ foeWalls &^ foeTesla
	counts := [...]uint64{
		bitboard.RowCounts(c.me.Standing(towerdefence.Attack)), bitboard.RowCounts(c.me.Standing(towerdefence.Defense)),
		bitboard.RowCounts(foeAttack), bitboard.RowCounts(foeWalls), bitboard.RowCounts(foeTesla), bitboard.RowCounts(foeOther),
	}
	for y := range c.rows {
		at := func(i int) int { return int(counts[i] >> (8 * y) & 0xff) }
		c.rows[y] = towerRow{
			attack: at(0), walls: at(1),
			foeAttack: at(2), foeWalls: at(3), foeTesla: at(4), foeOther: at(5),
		}
	}
}

// standing counts the own buildings of kind k.
func (c *towerSeat) standing(k towerdefence.Kind) int {
	return bits.OnesCount64(c.me.Standing(k))
}

// affords tells whether kind k may be placed anywhere.
func (c *towerSeat) affords(k towerdefence.Kind) bool { return c.legal.Build(k) != 0 }

// place is the order to place kind k on one of the cells, drawn uniformly.
func (c *towerSeat) place(k towerdefence.Kind, cells uint64) (sim.Order, bool) {
	cells &= c.legal.Build(k)
	if cells == 0 {
		return towerdefence.Nothing, false
	}
	cell := bitboard.Select(cells, c.random.IntN(bits.OnesCount64(cells)))
	return towerdefence.Build(k, cell%towerdefence.Width, cell/towerdefence.Width), true
}

// front is place on the cells of one row that are nearest to the enemy.
func (c *towerSeat) front(k towerdefence.Kind, y int, columns uint64) (sim.Order, bool) {
	cells := columns & (towerRowMask << (8 * y)) & c.legal.Build(k)
	if cells == 0 {
		return towerdefence.Nothing, false
	}
	return c.place(k, 1<<(bits.Len64(cells)-1))
}

// least draws one of the rows that rank lowest by rank, of those with a cell
// free in columns; −1 if there is none.
func (c *towerSeat) least(columns uint64, rank func(r *towerRow) int) int {
	best, low, ties := -1, 0, 0
	for y := range c.rows {
		if columns>>(8*y)&towerRowMask&^(c.me.Occupied>>(8*y)) == 0 {
			continue
		}
		switch n := rank(&c.rows[y]); {
		case best < 0 || n < low:
			best, low, ties = y, n, 1
		case n == low:
			ties++
			if c.random.IntN(ties) == 0 {
				best = y
			}
		}
	}
	return best
}

// playout plays as the recordings of that name: see towerdefence.Game.Playout.
func (c *towerSeat) playout() sim.Order {
	return c.game.Playout(c.state, c.player, &c.random)
}
