// Package terminal plays C1 Terminal as its official engine does, by the rules
// of any season. RULES.md beside this file numbers the rules and says where
// they come from; Game.Step follows its turn order.
package terminal

import (
	"math"

	"moonfarm/sim"
	"moonfarm/sim/bitboard"
)

// Game holds the rules in the shape the step wants them and, between Deploy
// and Restore, the mobile units. Like every sim.Game each goroutine should
// have its own.
type Game struct {
	rules Rules
	info  sim.Info
	rec   *Record

	keep      float32                // of the bits left, each turn: 1 − BitDecay
	gain      [Structures][2]float32 // health that an upgrade adds, [1]: 1 if there is one
	maxOrders int
	tables
	phase
}

// New returns the game with these rules; it fails if Rules.Validate does.
func New(r Rules) (*Game, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	mobile := r.MaxMobile()
	g := &Game{
		rules:     r,
		keep:      1 - r.BitDecay,
		maxOrders: r.MaxOrders(),
	}
	for k := range Structures {
		if r.Upgradable[k] {
			g.gain[k] = [2]float32{r.Upgraded[k].Health - r.Units[k].Health, 1}
		}
	}
	g.info = sim.Info{
		Name:      "terminal",
		Rules:     RulesVersion,
		Config:    string(r.AppendText(nil)),
		Players:   2,
		MaxTurns:  int(r.MaxTurns),
		MaxOrders: g.maxOrders,
	}
	g.tables.make(&r)
	g.phase.make(mobile, &g.tables)
	return g, nil
}

// Info describes the game.
func (g *Game) Info() sim.Info { return g.info }

// Rules returns the rule values.
func (g *Game) Rules() Rules { return g.rules }

// Record makes the game append the events of every action frame and restore to
// r, until Record(nil).
func (g *Game) Record(r *Record) { g.rec = r }

// Reset makes s the start of a match. There is no chance in the game: the seed
// has no effect.
func (g *Game) Reset(s *State, _ uint64) {
	*s = State{NextID: 1}
	for p := range 2 {
		s.Health[p], s.Cores[p], s.Bits[p] = g.rules.StartHealth, g.rules.StartCores, g.rules.StartBits
	}
}

// Step plays one turn: deployment, the action phase and the restore after it.
func (g *Game) Step(s *State, t *sim.Turn) sim.Status {
	g.Deploy(s, t)
	g.Action(s)
	return g.Restore(s)
}

// Outcome tells how seat p stands: a player whose health is used up loses
// against one with health left, else the higher health wins if both have some;
// what is equal (both used up, however deep) the shorter time of thinking
// decides (RULES.md, 5). The score is the health taken from the other player.
func (g *Game) Outcome(s *State, p sim.Player) sim.Outcome {
	own, enemy := max(s.Health[p], 0), max(s.Health[p^1], 0)
	o := sim.Outcome{Score: float64(g.rules.StartHealth - s.Health[p^1])}
	switch {
	case own > enemy, own == enemy && s.Time[p] < s.Time[p^1]:
		o.Result = 1
	case own < enemy, own == enemy && s.Time[p] > s.Time[p^1]:
		o.Result = -1
	}
	return o
}

// tenths rounds an amount of cores or bits to tenths as the original does, half
// up, every operation in float32. The amount is not negative.
func tenths(v float32) float32 {
	scaled := float32(v * 10)
	up := scaled + 0.5
	if up < 1<<24 { // beyond, a float32 is whole
		up = float32(int32(up))
	}
	return up / 10
}

// Hash digests what influences play: all but the absolute values of ids, of
// which only the order within a player matters.
func (g *Game) Hash(s *State) uint64 {
	h := uint64(s.Turn)
	mix := func(x uint64) {
		h = (h ^ x) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	two := func(a, b float32) uint64 { return uint64(math.Float32bits(a))<<32 | uint64(math.Float32bits(b)) }
	for p := range sim.Player(2) {
		mix(two(s.Health[p], s.Cores[p]))
		mix(two(s.Bits[p], 0) | uint64(s.Time[p]))
		s.byAge(p, func(cell int) {
			c := s.Cells[cell]
			mix(uint64(math.Float32bits(c.Health))<<32 | uint64(cell)<<8 | uint64(c.Mark&(1<<markIDShift-1)))
		})
	}
	return h ^ h>>32
}

// boards adds or removes what a structure of the kind means on the boards.
func (s *State) add(cell int, p sim.Player, k Kind, c Cell) {
	s.Cells[cell] = c
	s.Own[p].Add(cell)
	switch k {
	case Support:
		s.Supports.Add(cell)
	case Turret:
		s.Turrets.Add(cell)
	}
	list := &s.Ages[p][k]
	list.Cell[list.N] = localOf[cell]
	list.N++
}

// drop takes the structure on a cell away.
func (s *State) drop(cell int) {
	c := s.Cells[cell]
	s.forget(cell, c)
	s.Cells[cell] = Cell{}
	s.Own[c.Player()].Drop(cell)
	s.Supports.Drop(cell)
	s.Turrets.Drop(cell)
	s.Upgraded.Drop(cell)
	s.Marked.Drop(cell)
}

// forget takes a structure off the list of its kind.
func (s *State) forget(cell int, c Cell) {
	list := &s.Ages[c.Player()][c.Kind()]
	i, local := 0, localOf[cell]
	for list.Cell[i] != local {
		i++
	}
	list.N--
	copy(list.Cell[i:list.N], list.Cell[i+1:])
	list.Cell[list.N] = 0 // equal positions are equal states
}

// localOf is Local by cell.
var localOf = func() (t [bitboard.DiamondSpan]uint8) {
	for y := range Side {
		for x := range Side {
			if cell, ok := bitboard.DiamondCell(x, y); ok {
				t[cell] = uint8(Local(x, y))
			}
		}
	}
	return t
}()

// cellAt is bitboard.DiamondCell by y<<5 | x, the bits 8–17 of an order.
var cellAt = func() (t [1024]uint16) {
	for y := range Side {
		for x := range Side {
			cell, _ := bitboard.DiamondCell(x, y)
			t[y<<5|x] = uint16(cell)
		}
	}
	return t
}()
