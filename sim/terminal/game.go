// Package terminal plays C1 Terminal as its official engine does, by the rules of any season.
// RULES.md beside this file numbers the rules and gives their sources. Game.Step follows the
// turn order of that page.
package terminal

import (
	"math"

	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// Game holds tables made from the rules and, between Deploy and Restore, the mobile units. It
// is not safe for concurrent use: each goroutine should have its own.
type Game struct {
	rules  Rules
	info   sim.Info
	record *Record
	keep   float32 // fraction of the unspent bits that decay leaves each turn
	gives  bool    // some structure gives bits or cores
	mobile int     // Rules.MaxMobile
	action actionPhase
	due    [2 * HalfCells]aged // scratch memory of removals
}

// New returns the game with these rules. It fails if Rules.Validate fails.
func New(r Rules) (*Game, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	g := &Game{rules: r, keep: 1 - r.BitDecay, mobile: r.MaxMobile()}
	for f := range forms {
		u := r.Structure(Kind(f%Structures), f >= Structures)
		g.gives = g.gives || u.GivesBits != 0 || u.GivesCores != 0
	}
	g.info = sim.Info{
		Name:      "terminal",
		Rules:     RulesVersion,
		Config:    string(r.AppendText(nil)),
		Players:   2,
		MaxTurns:  int(r.MaxTurns),
		MaxOrders: r.MaxOrders(),
	}
	g.action.make(&g.rules)
	return g, nil
}

// Info describes the game.
func (g *Game) Info() sim.Info { return g.info }

// Rules returns the rule values.
func (g *Game) Rules() Rules { return g.rules }

// Record makes the game append the events of every action frame and restore to
// r, until Record(nil).
func (g *Game) Record(r *Record) { g.record, g.action.record = r, r }

// Reset sets s to the start of a match. The game has no randomness, so the seed has no effect.
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

// Outcome returns the result and the score of seat p (RULES.md, 5). The player with more health
// wins; health below 0 counts as 0. If the health is equal, the player with the shorter thinking
// time wins; if the times are equal, too, player 1 under FirstWins. The score is the health that
// the other player has lost.
func (g *Game) Outcome(s *State, p sim.Player) sim.Outcome {
	own, enemy := max(s.Health[p], 0), max(s.Health[p^1], 0)
	o := sim.Outcome{Score: float64(g.rules.StartHealth - s.Health[p^1])}
	switch {
	case own > enemy, own == enemy && s.Time[p] < s.Time[p^1]:
		o.Result = 1
	case own < enemy, own == enemy && s.Time[p] > s.Time[p^1]:
		o.Result = -1
	case g.rules.FirstWins:
		o.Result = 1 - 2*float32(p)
	}
	return o
}

// Hash returns a digest of everything that influences play. Of ids it uses only the order
// within each player.
func (g *Game) Hash(s *State) uint64 {
	h := prng.Digest(s.Turn)
	two := func(a, b float32) uint64 { return uint64(math.Float32bits(a))<<32 | uint64(math.Float32bits(b)) }
	for p := range sim.Player(2) {
		h.Add(two(s.Health[p], s.Cores[p]))
		h.Add(two(s.Bits[p], 0) | uint64(s.Time[p]))
		s.byAge(p, func(cell int) {
			c := s.Cells[cell]
			h.Add(uint64(math.Float32bits(c.Health))<<32 | uint64(cell)<<8 | uint64(c.Mark&^markID))
		})
	}
	return h.Sum()
}
