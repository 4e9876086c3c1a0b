// Package towerdefence plays the Entelect Challenge 2018 "Tower Defence" as its
// official engine, release 3.0.2, does. RULES.md beside this file has the
// numbered rules and their sources; Game.Step follows its turn order. Package
// batch plays eight games at once.
package towerdefence

import (
	"math/bits"

	"moonfarm/sim"
	"moonfarm/sim/prng"
)

// Game holds the rules in the form that the step needs. It is immutable after
// New, but like every sim.Game each goroutine should have its own.
type Game struct {
	rules Rules
	info  sim.Info

	cheap   [4][4]purchase // by round modulo 4 and Op: nothing, defense, attack, energy
	price   [8]int32       // by Op
	entry   [8]int64       // by Op: added to Half.Ledger by the command
	exposed [4]int         // total score for destroying a building of Kinds[i]

	damage      int    // of a missile
	blow        int64  // of a missile, added to Half.Base
	extraHits   [5]int // by Kind: hits beyond the first that a building withstands
	shotPrice   int32
	shotEntry   int64 // added to Half.Ledger by a shot of a tesla tower
	energyWorth int32 // points for each energy of income
	income      int32
	perEnergy   int32
	maxRounds   int32
	resets      [8]uint64 // bit set of the rounds that make the curtain available
	maxFails    uint8
	refund      int32
	refundEntry int64 // subtracted from Half.Ledger by the refund

	curtainRounds int16
	regular       bool // construction and firing keep the rhythm that the boards are made for
}

// purchase holds the price and the bits of a cheap building placed in a certain
// round.
type purchase struct {
	price               int32
	nothing             uint8  // 1 for the order that builds nothing, which cannot be refused
	entry               int64  // added to Half.Ledger
	allow               uint64 // all ones, or 0 for the order that builds nothing
	type2, type1, type0 uint64 // all ones where the kind (or the phase of an attack) has the bit
}

// New returns the game with these rules. It fails if Rules.Validate does.
func New(r Rules) (*Game, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	g := &Game{
		rules:       r,
		damage:      r.Buildings[Attack].Damage,
		blow:        Blow(r.Buildings[Attack].Damage),
		shotPrice:   int32(r.TeslaEnergyPerShot),
		shotEntry:   r.spent(r.TeslaEnergyPerShot, 0),
		energyWorth: int32(r.EnergyScoreMultiplier),
		income:      int32(r.RoundIncome),
		perEnergy:   int32(r.Buildings[Energy].EnergyPerTurn),
		maxRounds:   int32(r.MaxRounds),
		maxFails:    uint8(r.MaxDoNothings),
		refund:      int32(r.DeconstructionRefund),
		refundEntry: r.spent(r.DeconstructionRefund, 0),

		curtainRounds: int16(r.CurtainActiveRounds),
	}
	for n := r.CurtainResetPeriod; n <= r.MaxRounds; n += r.CurtainResetPeriod {
		g.resets[n/64] |= 1 << (n % 64)
	}
	for _, k := range Kinds {
		g.extraHits[k] = r.hits(k) - 1
	}
	for i, k := range Kinds {
		b := &r.Buildings[k]
		g.price[k+1] = int32(b.Price)
		g.exposed[i] = b.Health * b.DestroyMultiplier
		g.entry[k+1] = r.spent(b.Price, b.ConstructionScore) + int64(g.exposed[i])
	}
	g.price[OpCurtain] = int32(r.CurtainPrice)
	g.entry[OpCurtain] = r.spent(r.CurtainPrice, r.CurtainConstructionScore)
	for phase := range g.cheap {
		all := ^uint64(0)
		defense := purchase{price: g.price[OpDefense], entry: g.entry[OpDefense], allow: all, type2: all}
		attack := purchase{price: g.price[OpAttack], entry: g.entry[OpAttack], allow: all,
			type1: -uint64((phase + 1) >> 1 & 1), type0: -uint64((phase + 1) & 1)}
		energy := purchase{price: g.price[OpEnergy], entry: g.entry[OpEnergy], allow: all, type2: all, type0: all}
		g.cheap[phase] = [4]purchase{{nothing: 1}, defense, attack, energy}
	}
	g.regular = r.regular()
	g.info = sim.Info{
		Name:      "towerdefence",
		Rules:     r.Version(),
		Config:    string(r.AppendText(nil)),
		Players:   2,
		MaxTurns:  r.MaxRounds + 1,
		MaxOrders: 1,
	}
	return g, nil
}

// Info describes the game.
func (g *Game) Info() sim.Info { return g.info }

// Rules returns the rule values.
func (g *Game) Rules() Rules { return g.rules }

// Regular reports whether the rules keep the rhythm of release 3.0.2: attack
// buildings shoot every fourth round, construction takes three rounds for a
// defense and else one, and a defense withstands four hits, other buildings
// one.
func (g *Game) Regular() bool { return g.regular }

// Reset sets s to the start of a match. The game has no randomness: the seed
// has no effect.
func (g *Game) Reset(s *State, _ uint64) {
	*s = State{}
	for p := range s.Half {
		h := &s.Half[p]
		h.Curtain = -1
		h.Tesla = [MaxTeslas]Tower{noTower, noTower}
		h.scheduleTeslas()
		energy, health := g.rules.Start(sim.Player(p))
		g.SetStart(s, sim.Player(p), energy, health)
	}
}

// SetStart gives seat p of a state fresh from Reset another start energy (0 …
// MaxEnergy) and base health (1 … MaxHealth), as in handicaps and some
// recordings.
func (g *Game) SetStart(s *State, p sim.Player, energy, health int) {
	h := &s.Half[p]
	h.Energy = int32(energy)
	h.Base = int64(health) << 32
	h.Ledger = g.rules.spent(-energy, 0) + int64(g.rules.HealthScoreMultiplier*health)
}

// Step plays one round.
func (g *Game) Step(s *State, t *sim.Turn) sim.Status {
	a, b := firstOrders(t)
	return g.Play(s, a, b)
}

// firstOrders returns the order of each player, 0 for a player without orders.
func firstOrders(t *sim.Turn) (a, b sim.Order) {
	if o := t.Orders(0); len(o) > 0 {
		a = o[0]
	}
	if o := t.Orders(1); len(o) > 0 {
		b = o[0]
	}
	return a, b
}

// Play plays one round with the orders of A and B; a player has one order per
// round. It takes the steps of RULES.md, section 3, each for both players. Rare
// cases are in functions of their own, so that the rest stays in registers.
func (g *Game) Play(s *State, orderA, orderB sim.Order) sim.Status {
	a, b, r := &s.Half[0], &s.Half[1], int(s.Round)
	if (orderA|orderB)&orderAbort != 0 {
		return sim.Cut
	}

	// Commands (3.1).
	var placedA, placedB uint64
	if cheapPlacement(a, orderA) {
		placedA = g.place(a, orderA, r)
	} else {
		placedA = g.execute(a, orderA&orderUsed, r)
	}
	if cheapPlacement(b, orderB) {
		placedB = g.place(b, orderB, r)
	} else {
		placedB = g.execute(b, orderB&orderUsed, r)
	}

	// Curtains (3.4). Construction needs no step: see settle.
	g.resetCurtain(a, b, r)
	if !g.regular {
		g.anyRhythm(a, b, r)
		return g.end(s)
	}

	// Tesla towers (3.7). Attack buildings (3.14) fire first here, because
	// lightning does not keep them from shooting.
	shotsA, shotsB := fire(a, r), fire(b, r)
	if g.mayStrike(a, r)&g.mayStrike(b, r) >= 0 {
		g.strike(a, b, r)
	}

	// Missiles (3.15).
	var leftA, leftB health
	if stacked(a, shotsA) == 0 {
		leftB = g.fly(a, b, shotsA, r)
	} else {
		leftB = g.flyPairs(a, b, shotsA, r)
	}
	if stacked(b, shotsB) == 0 {
		leftA = g.fly(b, a, shotsB, r)
	} else {
		leftA = g.flyPairs(b, a, shotsB, r)
	}

	// Removal (3.21), income (3.22), and the end of construction (3.2).
	payA, deadA := a.settle(leftA, placedA)
	payB, deadB := b.settle(leftB, placedB)
	ruins := deadA&a.Type2&a.Type1 | deadB&b.Type2&b.Type1 // of tesla towers
	a.vacate(deadA)
	b.vacate(deadB)
	g.earn(a, payA)
	g.earn(b, payB)
	if ruins != 0 || int(min(a.Due, b.Due)) <= r {
		a.reviewTeslas(r)
		b.reviewTeslas(r)
	}
	return g.end(s)
}

// end moves on to the next round and reports whether the match goes on.
func (g *Game) end(s *State) sim.Status {
	s.Round++
	if invariants {
		g.check(s)
	}
	a, b := &s.Half[0], &s.Half[1]
	if s.Round > g.maxRounds || a.dead() || b.dead() || a.Failures >= g.maxFails || b.Failures >= g.maxFails {
		return sim.Over
	}
	return sim.Running
}

// Outcome returns how seat p stands: a dead base loses against a living one,
// else the higher score wins.
func (g *Game) Outcome(s *State, p sim.Player) sim.Outcome {
	own, enemy := g.Score(s, p), g.Score(s, p^1)
	deadOwn, deadEnemy := s.Half[p].dead(), s.Half[p^1].dead()
	o := sim.Outcome{Score: float64(own)}
	switch {
	case deadOwn != deadEnemy && deadEnemy, deadOwn == deadEnemy && own > enemy:
		o.Result = 1
	case deadOwn != deadEnemy && deadOwn, deadOwn == deadEnemy && own < enemy:
		o.Result = -1
	}
	return o
}

// Hash returns a digest of everything in s that influences play: the score but
// not its parts, and, in the rhythm of release 3.0.2, not the ages of
// buildings.
func (g *Game) Hash(s *State) uint64 {
	x := prng.Mix(uint64(s.Round) + 1)
	mix := func(v uint64) { x = prng.Mix(x ^ v) }
	for p := range s.Half {
		h := &s.Half[p]
		mix(h.Occupied)
		mix(h.Live)
		mix(h.Extra0)
		mix(h.Extra1)
		mix(h.Type2)
		if g.regular {
			mix(h.Type1)
			mix(h.Type0)
		} else { // the phase of an attack building follows from its age, which other rhythms depend on
			mix(h.Type1 & h.Type2)
			mix(h.Type0 & h.Type2)
			for cells := h.Occupied; cells != 0; cells &= cells - 1 {
				mix(uint64(h.PlacedIn(bits.TrailingZeros64(cells))))
			}
		}
		mix(h.Wait0)
		mix(h.Wait1)
		for i := range h.Own {
			mix(h.Own[i])
			mix(h.Far[i])
		}
		mix(uint64(uint32(h.Energy)))
		mix(uint64(g.Score(s, sim.Player(p))))
		mix(uint64(h.Base))
		curtain := max(int32(h.Curtain), s.Round-1) // a curtain that has run out is like any other
		mix(uint64(uint16(curtain))<<16 | uint64(h.Failures)<<8 | b2u(h.Available))
		for _, t := range h.Tesla {
			ready := max(int32(t.Ready), s.Round) // a tower that waits for energy is like one that is ready now
			mix(uint64(ready)<<32 | uint64(uint16(t.Due))<<16 | uint64(t.Cell))
		}
	}
	return x
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
