package towerdefence

import (
	"fmt"
	"math"

	"moonfarm/sim"
)

// Position is a state as the original's displays show it.
type Position struct {
	Round int // the round about to be played
	Half  [2]PositionHalf
}

// PositionHalf is one player's side. Cells are y*8 + x in the coordinates of
// the half's owner, as in Half.
type PositionHalf struct {
	Energy, Health, Hits, Score int
	Curtain                     int  // activeIronCurtainLifetime: see State.CurtainTime
	Available                   bool // the curtain may be raised
	Failures                    int  // failed commands in a row
	Sites                       []Site
	Own, Far                    [Cells]int // this player's missiles on the own half, and on the enemy's half in the enemy's coordinates
}

// Site is a building.
type Site struct {
	Cell      int
	Kind      Kind
	Health    int
	BuildTime int // constructionTimeLeft: see Game.BuildTime
	Cooldown  int // weaponCooldownTimeLeft: see Game.Cooldown
}

// Restore sets s to the position. It fails, naming the value by the original's
// word, if no state of these rules can have it; s then has no meaning. It does
// not check whether play can lead to the position.
func (g *Game) Restore(s *State, p *Position) error {
	if p.Round < 0 || p.Round > int(g.maxRounds) {
		return fmt.Errorf("round is %d, want 0 to %d", p.Round, g.maxRounds)
	}
	r := textReader{game: g}
	g.Reset(&r.state, 0)
	r.state.Round = int32(p.Round)
	for q := range sim.Player(2) {
		if err := r.restoreHalf(q, &p.Half[q]); err != nil {
			return fmt.Errorf("player %c: %w", 'A'+q, err)
		}
	}
	for q := range r.state.Half {
		r.state.Half[q].Ledger = ledger(0, g.worth(&r.state.Half[q]))
	}
	*s = r.state
	for q := range sim.Player(2) { // the energy spent accounts for the rest of the score
		s.Half[q].Ledger += ledger(p.Half[q].Score-g.Score(s, q), 0)
	}
	return nil
}

// restoreHalf puts the side of player q on the board.
func (r *textReader) restoreHalf(q sim.Player, p *PositionHalf) error {
	h := &r.state.Half[q]
	for _, n := range []struct {
		name               string
		value, least, most int
	}{
		{"energy", p.Energy, 0, maxTextNumber}, {"health", p.Health, 1, MaxHealth}, {"hitsTaken", p.Hits, 0, maxTextNumber},
		{"score", p.Score, math.MinInt32, math.MaxInt32}, {"activeIronCurtainLifetime", p.Curtain, -maxRound - 1, maxNumber},
		{"the failed commands in a row", p.Failures, 0, 255},
	} {
		if n.value < n.least || n.value > n.most {
			return fmt.Errorf("%s is %d, want %d to %d", n.name, n.value, n.least, n.most)
		}
	}
	h.Energy, h.Base = int32(p.Energy), int64(p.Health)<<32|int64(p.Hits)
	h.Curtain = int16(p.Curtain + int(r.state.Round) - 1)
	h.Available, h.Failures = p.Available, uint8(p.Failures)
	for cell := range Cells {
		for _, m := range []struct {
			count  int
			planes *[MaxStack]uint64
		}{{p.Own[cell], &h.Own}, {p.Far[cell], &h.Far}} {
			if m.count < 0 || m.count > MaxStack {
				return fmt.Errorf("%d missiles of one owner on a cell, want 0 to %d", m.count, MaxStack)
			}
			for i := range m.count {
				m.planes[i] |= 1 << cell
			}
		}
	}
	for i := range p.Sites {
		if err := r.restoreSite(q, &p.Sites[i]); err != nil {
			return fmt.Errorf("the building on its x %d, y %d: %w", p.Sites[i].Cell%Width, p.Sites[i].Cell/Width, err)
		}
	}
	return r.restoreTowers(q)
}

// restoreSite puts a building of player q on the board.
func (r *textReader) restoreSite(q sim.Player, b *Site) error {
	if b.Cell < 0 || b.Cell >= Cells || r.state.Half[q].Occupied>>(b.Cell&63)&1 != 0 {
		return fmt.Errorf("cell %d is taken or none, want one building a cell", b.Cell)
	}
	if b.Kind >= Kind(len(textLetters)) || textLetters[b.Kind] == 0 {
		return fmt.Errorf("no building has kind %d", b.Kind)
	}
	rules := &r.game.rules.Buildings[b.Kind]
	round := int(r.state.Round)
	t := textTower{cell: b.Cell, placed: round + b.BuildTime - rules.ConstructionTime, building: max(0, b.BuildTime), idle: b.Cooldown}
	if t.placed < 0 || t.placed >= round {
		return fmt.Errorf("constructionTimeLeft is %d, want %d to %d: it was placed in a round before %d", b.BuildTime, rules.ConstructionTime-round, rules.ConstructionTime-1, round)
	}
	taken := rules.Health - b.Health
	if t.building > 0 && taken != 0 {
		return fmt.Errorf("health is %d, want %d of an unfinished building", b.Health, rules.Health)
	}
	if taken < 0 || b.Health < 1 || taken%r.game.damage != 0 {
		return fmt.Errorf("health is %d, want %d less the %d of each missile, and 1 at least", b.Health, rules.Health, r.game.damage)
	}
	if err := r.place(q, b.Kind, t, taken/r.game.damage); err != nil {
		return fmt.Errorf("a third tesla tower of its player, want %d at most", MaxTeslas)
	}
	want, most := 0, 0 // a tower waits for energy, too
	if b.Kind == Tesla && t.building == 0 {
		most = rules.Cooldown
	} else if b.Kind == Attack {
		want = r.game.Cooldown(&r.state, q, b.Cell)
		most = want
	}
	if b.Cooldown < want || b.Cooldown > most {
		return fmt.Errorf("weaponCooldownTimeLeft is %d, want %d to %d by its age", b.Cooldown, want, most)
	}
	return nil
}

// restoreTowers fills in the list of the tesla towers of player q, the oldest first.
func (r *textReader) restoreTowers(q sim.Player) error {
	towers := r.towers[q]
	if len(towers) == 2 && towers[0].placed > towers[1].placed {
		towers[0], towers[1] = towers[1], towers[0]
	}
	if len(towers) == 2 && towers[0].placed == towers[1].placed {
		return fmt.Errorf("two tesla towers with the same constructionTimeLeft: a player places one building per round")
	}
	r.state.Half[q].addTowers(towers, int(r.state.Round))
	return nil
}
