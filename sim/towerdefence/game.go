// Package towerdefence plays the Entelect Challenge 2018 "Tower Defence" as its
// official engine, release 3.0.2, does. RULES.md beside this file numbers the
// rules and says where they come from; Game.Step follows its turn order.
package towerdefence

import (
	"math/bits"

	"moonfarm/sim"
)

// Game holds the rules in the shape the step wants them. It is immutable after
// New, but like every sim.Game each goroutine should have its own.
type Game struct {
	rules Rules
	info  sim.Info

	cheap   [4]purchase // by Op: nothing, defense, attack, energy
	tesla   purchase
	curtain purchase

	damage    int    // of a missile
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

// purchase is what placing a building costs and sets.
type purchase struct {
	price, spent, exposed int32
	keep                  uint32 // all ones: the count of failures stays as it is (no command)
	allow                 uint64 // all ones, or 0 for the order that builds nothing
	type2, type0          uint64 // all ones where the kind has the bit
	phased                uint64 // all ones for attack, whose type bits hold the phase
}

// New returns the game with these rules; it fails if Rules.Validate does.
func New(r Rules) (*Game, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	g := &Game{
		rules:     r,
		damage:    r.Buildings[Attack].Damage,
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
	g.cheap[OpNothing] = purchase{keep: ^uint32(0)}
	g.cheap[OpDefense] = g.purchase(Defense)
	g.cheap[OpDefense].type2 = ^uint64(0)
	g.cheap[OpAttack] = g.purchase(Attack)
	g.cheap[OpAttack].phased = ^uint64(0)
	g.cheap[OpEnergy] = g.purchase(Energy)
	g.cheap[OpEnergy].type2 = ^uint64(0)
	g.cheap[OpEnergy].type0 = ^uint64(0)
	g.tesla = g.purchase(Tesla)
	g.curtain = purchase{price: int32(r.CurtainPrice), spent: int32(r.CurtainPrice + r.CurtainConstructionScore)}
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

// purchase is the part of placing a building that all kinds share.
func (g *Game) purchase(k Kind) purchase {
	b := g.rules.Buildings[k]
	return purchase{
		price:   int32(b.Price),
		spent:   int32(b.Price + b.ConstructionScore),
		exposed: int32(b.Health * b.DestroyMultiplier),
		allow:   ^uint64(0),
	}
}

// Info describes the game.
func (g *Game) Info() sim.Info { return g.info }

// Rules returns the rule values.
func (g *Game) Rules() Rules { return g.rules }

// Reset makes s the start of a match. There is no chance in the game: the seed
// has no effect.
func (g *Game) Reset(s *State, _ uint64) {
	*s = State{}
	for p := range s.Half {
		h := &s.Half[p]
		h.Curtain, h.Ready, h.Due = -1, never, never
		g.SetStart(s, sim.Player(p), g.rules.StartEnergy, g.rules.StartHealth)
	}
}

// SetStart gives seat p of a state fresh from Reset another start energy
// (0 … MaxEnergy) and base health (1 … MaxHealth), as handicaps and some
// recordings have them.
func (g *Game) SetStart(s *State, p sim.Player, energy, health int) {
	h := &s.Half[p]
	h.Energy, h.Spent = int32(energy), -int32(energy)
	h.Health = int16(health)
	h.Exposed = int32(g.rules.HealthScoreMultiplier * health)
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
// game can hold.
func (g *Game) Play(s *State, orderA, orderB sim.Order) sim.Status {
	if (orderA|orderB)&orderAbort != 0 {
		return sim.Cut
	}
	a, b, r := &s.Half[0], &s.Half[1], s.Round
	placedA := g.command(a, orderA, r)
	placedB := g.command(b, orderB, r)
	g.resetCurtain(a, b, r)
	shotsA, shotsB := g.fire(a, r), g.fire(b, r)
	liveA, liveB := a.Live, b.Live
	g.strike(a, b, r)
	g.strike(b, a, r)
	g.fly(a, b, shotsA, r)
	g.fly(b, a, shotsB, r)
	g.remove(a, liveA)
	g.remove(b, liveB)
	g.earn(a)
	g.earn(b)
	g.finish(a, placedA, r)
	g.finish(b, placedB, r)
	return g.end(s)
}

// end moves on to the next round and tells whether there is one.
func (g *Game) end(s *State) sim.Status {
	s.Round++
	a, b := &s.Half[0], &s.Half[1]
	if s.Round > g.maxRounds || a.Health <= 0 || b.Health <= 0 || a.Failures >= g.maxFails || b.Failures >= g.maxFails {
		return sim.Over
	}
	return sim.Running
}

// Outcome tells how seat p stands: a dead base loses against a living one,
// else the higher score wins.
func (g *Game) Outcome(s *State, p sim.Player) sim.Outcome {
	own, enemy := g.Score(s, p), g.Score(s, p^1)
	deadOwn, deadEnemy := s.Half[p].Health <= 0, s.Half[p^1].Health <= 0
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
func (g *Game) resetCurtain(a, b *Half, r int32) {
	if g.resets[r>>6&7]>>(r&63)&1 == 0 {
		return
	}
	a.Available, b.Available = true, true
	a.Curtain = max(a.Curtain, int16(r-1))
	b.Curtain = max(b.Curtain, int16(r-1))
}

// earn pays the income of the round.
func (g *Game) earn(h *Half) {
	h.Energy += g.income + g.perEnergy*int32(bits.OnesCount64(h.Live&h.Type2&h.Type0))
}
