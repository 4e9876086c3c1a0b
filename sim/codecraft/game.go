// Package codecraft plays CodeCraft 2020 (Russian AI Cup 2020) as its official
// runner does, as far as that is known. RULES.md beside this file numbers the
// rules and says where they come from; Game.Step follows its turn order.
package codecraft

import (
	"moonfarm/sim"
)

// Game holds the rules in the shape the step wants them, and its scratch
// memory. Like every sim.Game each goroutine should have its own.
type Game struct {
	rules  Rules
	info   sim.Info
	record *Record
	sights sights
	plan
	phases
	ground
}

// phases is what the phases of a tick tell each other.
type phases struct {
	next    [MaxUnits]uint16 // next cells; noCell: none
	acted   [MaxUnits]bool   // has attacked, built or repaired
	order   [MaxUnits]uint16 // scratch: who takes part in a phase
	dead    []uint16         // units that have lost all health
	gone    []uint16         // cells of resources that are used up
	waiters [Cells]uint16    // by cell: 1 + the last unit that waits for it; 0 between ticks
	waiting [MaxUnits]uint16 // by unit: 1 + the one before it in the list
}

// New returns the game with these rules; it fails if Rules.Validate does.
func New(r Rules) (*Game, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	g := &Game{rules: r}
	g.info = sim.Info{
		Name:      "codecraft",
		Rules:     RulesVersion,
		Config:    string(r.AppendText(nil)),
		Players:   int(r.Players),
		MaxTurns:  int(r.MaxTurns),
		MaxOrders: PartsOfAction * MaxUnits,
	}
	g.dead, g.gone = make([]uint16, 0, MaxUnits), make([]uint16, 0, MaxUnits)
	g.prepare()
	g.prepareSight()
	return g, nil
}

// Info describes the game.
func (g *Game) Info() sim.Info { return g.info }

// Rules returns the rule values.
func (g *Game) Rules() Rules { return g.rules }

// Step plays one tick with the orders of all seats.
func (g *Game) Step(s *State, t *sim.Turn) sim.Status {
	g.command(s, t)
	return g.Tick(s)
}

// Tick plays one tick with the actions as they are stored.
func (g *Game) Tick(s *State) sim.Status {
	g.dead, g.gone = g.dead[:0], g.gone[:0]
	if g.record != nil {
		g.record.Attacks, g.record.Died = g.record.Attacks[:0], g.record.Died[:0]
	}
	g.Plan(s)
	g.drawNext(s)
	g.attack(s)
	g.build(s)
	g.repair(s)
	g.moves(s)
	g.cleanUp(s)
	s.Tick++
	if invariants {
		g.check(s)
	}
	return g.status(s)
}

// Outcome tells how seat p stands: places go by score, equal scores share a
// place.
func (g *Game) Outcome(s *State, p sim.Player) sim.Outcome {
	o := sim.Outcome{Score: float64(s.Score[p])}
	players := int(g.rules.Players)
	if players < 2 {
		return o
	}
	for q := range players {
		switch {
		case s.Score[q] < s.Score[p]:
			o.Result++
		case s.Score[q] > s.Score[p]:
			o.Result--
		}
	}
	o.Result /= float32(players - 1)
	return o
}
