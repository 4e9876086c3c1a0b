// Package towerdefence plays the Entelect Challenge 2018 "Tower Defence" as its
// official engine, release 3.0.2, does. RULES.md beside this file numbers the
// rules and says where they come from; Game.Step follows its turn order.
package towerdefence

import "moonfarm/sim"

// Game holds the rules in the shape the step wants them. It is immutable after
// New, but like every sim.Game each goroutine should have its own.
type Game struct {
	rules Rules
	info  sim.Info

	cheap   [4][4]purchase // by round modulo 4 and Op: nothing, defense, attack, energy
	price   [8]int32       // by Op
	entry   [8]int64       // by Op: what it adds to Half.Ledger
	exposed [4]int         // what destroying a building of Kinds[i] scores in all

	damage    int    // of a missile
	blow      int64  // a missile's, on Half.Base
	extraHits [5]int // by Kind: hits a building stands beyond the first
	shotPrice int32
	income    int32
	perEnergy int32
	maxRounds int32
	resets    [8]uint64 // bit set of the rounds that make the curtain available
	maxFails  uint8
	refund    int32

	curtainRounds int16
	regular       bool // construction and firing keep the rhythm the boards are made for
}

// purchase is what placing a cheap building in a certain round costs and sets.
type purchase struct {
	price               int32
	nothing             uint8  // 1 for the order that builds nothing: it cannot be refused
	entry               int64  // added to Half.Ledger
	allow               uint64 // all ones, or 0 for the order that builds nothing
	type2, type1, type0 uint64 // all ones where the kind (or the phase of an attack) has the bit
}

// New returns the game with these rules; it fails if Rules.Validate does.
func New(r Rules) (*Game, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	g := &Game{
		rules:     r,
		damage:    r.Buildings[Attack].Damage,
		blow:      blow(r.Buildings[Attack].Damage),
		shotPrice: int32(r.TeslaEnergyPerShot),
		income:    int32(r.RoundIncome),
		perEnergy: int32(r.Buildings[Energy].EnergyPerTurn),
		maxRounds: int32(r.MaxRounds),
		maxFails:  uint8(r.MaxDoNothings),
		refund:    int32(r.DeconstructionRefund),

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
		g.entry[k+1] = ledger(b.Price+b.ConstructionScore, g.exposed[i])
	}
	g.price[OpCurtain] = int32(r.CurtainPrice)
	g.entry[OpCurtain] = ledger(r.CurtainPrice+r.CurtainConstructionScore, 0)
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
		Rules:     RulesVersion,
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
// buildings shoot every fourth round, construction takes one round, for a
// defense three, and a defense stands four hits, all else one.
func (g *Game) Regular() bool { return g.regular }

// Reset makes s the start of a match. There is no chance in the game: the seed
// has no effect.
func (g *Game) Reset(s *State, _ uint64) {
	*s = State{}
	for p := range s.Half {
		h := &s.Half[p]
		h.Curtain = -1
		h.Tesla = [MaxTeslas]Tower{noTower, noTower}
		h.agenda()
		g.SetStart(s, sim.Player(p), g.rules.StartEnergy, g.rules.StartHealth)
	}
}

// SetStart gives seat p of a state fresh from Reset another start energy
// (0 … MaxEnergy) and base health (1 … MaxHealth), as handicaps and some
// recordings have them.
func (g *Game) SetStart(s *State, p sim.Player, energy, health int) {
	h := &s.Half[p]
	h.Energy = int32(energy)
	h.Base = int64(health) << 32
	h.Ledger = ledger(-energy, g.rules.HealthScoreMultiplier*health)
}

// Step plays one round.
func (g *Game) Step(s *State, t *sim.Turn) sim.Status {
	var order [2]sim.Order
	for p := range order {
		if o := t.Orders(sim.Player(p)); len(o) > 0 {
			order[p] = o[0]
		}
	}
	return g.Play(s, order[0], order[1])
}

// Play plays one round with the orders of A and B, which is all a turn of this
// game can hold. It takes the steps of RULES.md, section 3, each for both
// players; what is seldom needed is in functions of its own, so that the rest
// stays in registers.
func (g *Game) Play(s *State, orderA, orderB sim.Order) sim.Status {
	a, b, r := &s.Half[0], &s.Half[1], int(s.Round)
	if (orderA|orderB)&orderAbort != 0 {
		return sim.Cut
	}

	// Commands (3.1).
	var placedA, placedB uint64
	if ordinary(a, orderA) {
		placedA = g.place(a, orderA, r)
	} else {
		placedA = g.special(a, orderA&orderUsed, r)
	}
	if ordinary(b, orderB) {
		placedB = g.place(b, orderB, r)
	} else {
		placedB = g.special(b, orderB&orderUsed, r)
	}

	// Curtains (3.4). Construction needs no step: see settle.
	g.resetCurtain(a, b, r)
	if !g.regular {
		g.anyRhythm(a, b, r)
		return g.end(s)
	}

	// Tesla towers (3.7); attack buildings (3.14) fire first, as lightning does
	// not keep them from it.
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

	// Removal (3.21), income (3.22), and the construction that is done (3.2).
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

// end moves on to the next round and tells whether there is one.
func (g *Game) end(s *State) sim.Status {
	s.Round++
	if invariants {
		g.check(s)
	}
	a, b := &s.Half[0], &s.Half[1]
	if s.Round > g.maxRounds || a.Base < 1<<32 || b.Base < 1<<32 || a.Failures >= g.maxFails || b.Failures >= g.maxFails {
		return sim.Over
	}
	return sim.Running
}

// Outcome tells how seat p stands: a dead base loses against a living one,
// else the higher score wins.
func (g *Game) Outcome(s *State, p sim.Player) sim.Outcome {
	own, enemy := g.Score(s, p), g.Score(s, p^1)
	deadOwn, deadEnemy := s.Half[p].Health() == 0, s.Half[p^1].Health() == 0
	o := sim.Outcome{Score: float64(own)}
	switch {
	case deadOwn != deadEnemy && deadEnemy, deadOwn == deadEnemy && own > enemy:
		o.Result = 1
	case deadOwn != deadEnemy && deadOwn, deadOwn == deadEnemy && own < enemy:
		o.Result = -1
	}
	return o
}

// resetCurtain makes both curtains available again in the rounds for it, and
// holds the counters of curtains long gone.
func (g *Game) resetCurtain(a, b *Half, r int) {
	if g.resets[r>>6&7]>>(r&63)&1 == 0 {
		return
	}
	a.Available, b.Available = true, true
	a.Curtain = max(a.Curtain, int16(r-1))
	b.Curtain = max(b.Curtain, int16(r-1))
}
