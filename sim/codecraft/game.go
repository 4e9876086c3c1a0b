// Package codecraft plays CodeCraft 2020 (Russian AI Cup 2020) as its official runner does, as
// far as the runner's behaviour is known. RULES.md beside this file numbers the rules and gives
// their sources; Game.Step follows its turn order.
package codecraft

import (
	"encoding/binary"

	"moonfarm/sim"
	"moonfarm/sim/codecraft/internal/path"
	"moonfarm/sim/prng"
)

// Game holds the rules and the scratch memory of Step. As with every sim.Game, each goroutine
// needs its own.
type Game struct {
	rules   Rules
	info    sim.Info
	record  *Record
	sights  sights
	rebuilt *rebuilt // scratch memory of the invariants
	plan
	phases
	noise
}

// phases holds the results that later phases of a tick need.
type phases struct {
	next    [MaxUnits]uint16 // the next cell of each unit, or noCell
	acted   [MaxUnits]bool   // has attacked, built or repaired
	order   [MaxUnits]uint16 // scratch: the units that take part in a phase
	dead    []uint16         // units that have lost all health
	gone    []uint16         // cells of resources that are used up
	waiters [Cells]uint16    // by cell: 1 + the last unit that waits for the cell; 0 between ticks
	waiting [MaxUnits]uint16 // by unit: 1 + the unit before it in the list of waiters
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
	if invariants {
		g.rebuilt = newRebuilt()
	}
	g.dead, g.gone = make([]uint16, 0, MaxUnits), make([]uint16, 0, MaxUnits)
	g.paths.finder = path.New(int(r.MaxNodes))
	g.prepareSight()
	return g, nil
}

// Info describes the game.
func (g *Game) Info() sim.Info { return g.info }

// Rules returns the rule values.
func (g *Game) Rules() Rules { return g.rules }

// startCorner has the lowest corner of each start entity in its owner's frame, and the largest
// size that has room there. No player can start with a type whose size here is 0.
var startCorner = [Types]struct{ x, y, size uint8 }{
	BuilderBase: {5, 5, 5},
	BuilderUnit: {4, 4, 1},
	MeleeBase:   {5, 15, 5},
	MeleeUnit:   {4, 14, 1},
	RangedBase:  {15, 5, 5},
	RangedUnit:  {14, 4, 1},
	Turret:      {15, 15, 2},
}

// StartPlace returns the lowest corner of the start entity of type t of player p. For a type
// that cannot be in Rules.Start it returns (0, 0) in the frame of p.
func (r *Rules) StartPlace(t Type, p sim.Player) (x, y int) {
	c := startCorner[t]
	return TurnBack(p, int(c.x), int(c.y), int(r.Types[t].Size))
}

// Reset sets s to the first state of the game with that seed: the map and the start
// entities (RULES.md, 2.5–2.8).
func (g *Game) Reset(s *State, seed uint64) {
	*s = State{Seed: seed, NextID: 1 + uint32(g.rules.Players)}
	for p := range sim.Player(g.rules.Players) {
		for _, t := range g.rules.Start.All() {
			x, y := g.rules.StartPlace(t, p)
			g.add(s, Unit{
				ID: s.NextID, Health: int16(g.rules.Types[t].MaxHealth),
				X: uint8(x), Y: uint8(y), Type: t, Owner: p, Active: true,
			})
			s.NextID++
		}
	}
	g.generate(s)
	s.FirstID = s.NextID
	s.SetVeins()
	s.NextID += uint32(s.Resources.Count())
}

// Step plays one tick with the orders of all seats.
func (g *Game) Step(s *State, t *sim.Turn) sim.Status {
	g.command(s, t)
	return g.Tick(s)
}

// Tick plays one tick with the stored actions.
func (g *Game) Tick(s *State) sim.Status {
	g.dead, g.gone = g.dead[:0], g.gone[:0]
	if g.record != nil {
		g.record.clear()
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

// status returns whether the game is over (RULES.md, 5). At the end it adds the bonus.
func (g *Game) status(s *State) sim.Status {
	left, last := g.left(s)
	if !g.Over(s) {
		return sim.Running
	}
	if left == 1 && g.rules.Bonus {
		for p, score := range s.Score[:g.rules.Players] {
			if p != last {
				s.Score[last] = max(s.Score[last], score+g.rules.BonusOver)
			}
		}
	}
	return sim.Over
}

// Over reports whether the game is over in s. The last tick has then returned sim.Over and added
// the bonus.
func (g *Game) Over(s *State) bool {
	left, _ := g.left(s)
	solo := g.rules.Players == 1 && !g.rules.SoloEnds
	return s.Tick >= g.rules.MaxTurns || left <= 1 && !solo
}

// left returns the number of players left, and the last of them.
func (g *Game) left(s *State) (n, last int) {
	for p := range int(g.rules.Players) {
		if g.Lives(s, sim.Player(p)) {
			n, last = n+1, p
		}
	}
	return n, last
}

// Lives reports whether player p has entities that keep the player in the game.
func (g *Game) Lives(s *State, p sim.Player) bool {
	n := int16(0)
	for t, c := range s.Count[p] {
		if !g.rules.WallsDoNotLive || Type(t) != Wall && Type(t) != House {
			n += c
		}
	}
	return n > 0
}

// Outcome returns the score of seat p, and its place among all players by score; equal scores
// share a place.
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

// Hash returns a digest of everything that influences play.
func (g *Game) Hash(s *State) uint64 {
	h := prng.Digest(s.Seed ^ uint64(s.Tick)<<32 ^ uint64(s.NextID))
	for p := range int(g.rules.Players) {
		h.Add(uint64(s.Score[p])<<32 | uint64(uint32(s.Resource[p])))
	}
	for i := range s.Units[:s.N] {
		u, a := &s.Units[i], &s.Acts[i]
		active := uint64(0)
		if u.Active {
			active = 1
		}
		h.Add(uint64(u.ID)<<32 | uint64(uint16(u.Health))<<16 | uint64(u.X)<<8 | uint64(u.Y))
		h.Add(uint64(u.Type)<<56 | uint64(u.Owner)<<52 | active<<48 | uint64(a.Parts)<<32 | uint64(a.Target))
		h.Add(uint64(a.Repair)<<32 | uint64(a.Valid)<<16 | uint64(a.Range))
		h.Add(uint64(a.MoveX)<<32 | uint64(a.MoveY)<<24 | uint64(a.BuildType)<<16 | uint64(a.BuildX)<<8 | uint64(a.BuildY))
	}
	for i := 0; i < Cells; i += 8 {
		if w := binary.LittleEndian.Uint64(s.Health[i:]); w != 0 {
			h.Add(w ^ uint64(i)<<48)
		}
	}
	return h.Sum()
}

// Record has the events of one tick. Each tick clears and fills the Record that was given to
// Game.Record.
type Record struct {
	Attacks []Hit    // in the order of their processing, including wasted attacks
	Dealt   []int32  // by attack: the damage, 0 for a wasted attack
	Builds  []Work   // that succeeded, in the order of their processing
	Repairs []Work   // in the order of their processing
	Died    []uint32 // ids of removed entities: units, then resources, each ascending
}

// Hit is an attack.
type Hit struct{ Attacker, Victim uint32 }

// Work is a build or a repair. Health is the health that the target gets.
type Work struct {
	Worker, Target uint32
	Health         int32
}

func (r *Record) clear() {
	*r = Record{r.Attacks[:0], r.Dealt[:0], r.Builds[:0], r.Repairs[:0], r.Died[:0]}
}

// Record makes Step record the events of every tick in r, until Record(nil).
func (g *Game) Record(r *Record) { g.record = r }
