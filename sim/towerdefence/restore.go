package towerdefence

import (
	"cmp"
	"fmt"
	"math"
	"slices"

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
	if p.Round > int(g.maxRounds) {
		return fmt.Errorf("round is %d, expected 0 to %d", p.Round, g.maxRounds)
	}
	for q := range sim.Player(2) {
		if p.Half[q].Health == 0 {
			return fmt.Errorf("player %c: health is 0, expected 1 to %d", 'A'+q, MaxHealth)
		}
	}
	return g.restore(s, p)
}

// restore is Restore also for positions of matches that are over.
func (g *Game) restore(s *State, p *Position) error {
	if p.Round < 0 || p.Round > int(g.maxRounds)+1 {
		return fmt.Errorf("round is %d, expected 0 to %d", p.Round, g.maxRounds)
	}
	g.Reset(s, 0)
	s.Round = int32(p.Round)
	for q := range sim.Player(2) {
		if err := g.restoreHalf(s, q, &p.Half[q]); err != nil {
			return fmt.Errorf("player %c: %w", 'A'+q, err)
		}
	}
	for q := range s.Half {
		s.Half[q].Ledger = ledger(0, g.worth(&s.Half[q]))
	}
	for q := range sim.Player(2) { // the energy spent accounts for the rest of the score
		s.Half[q].Ledger += ledger(p.Half[q].Score-g.Score(s, q), 0)
	}
	return nil
}

// maxPosition bounds energies and hits in a position, so that they and their
// sums fit the state.
const maxPosition = 1_000_000_000

// restoreHalf puts the side of player q on the board.
func (g *Game) restoreHalf(s *State, q sim.Player, p *PositionHalf) error {
	h := &s.Half[q]
	for _, n := range []struct {
		name               string
		value, least, most int
	}{
		{"energy", p.Energy, 0, maxPosition}, {"health", p.Health, 0, MaxHealth}, {"hitsTaken", p.Hits, 0, maxPosition},
		{"score", p.Score, math.MinInt32, math.MaxInt32}, {"activeIronCurtainLifetime", p.Curtain, -maxRound - 1, maxNumber},
		{"the failed commands in a row", p.Failures, 0, 255},
	} {
		if n.value < n.least || n.value > n.most {
			return fmt.Errorf("%s is %d, expected %d to %d", n.name, n.value, n.least, n.most)
		}
	}
	h.Energy, h.Base = int32(p.Energy), int64(p.Health)<<32|int64(p.Hits)
	h.Curtain = int16(p.Curtain + int(s.Round) - 1)
	h.Available, h.Failures = p.Available, uint8(p.Failures)
	for cell := range Cells {
		for _, m := range []struct {
			count  int
			planes *[MaxStack]uint64
		}{{p.Own[cell], &h.Own}, {p.Far[cell], &h.Far}} {
			if m.count < 0 || m.count > MaxStack {
				return fmt.Errorf("%d missiles of one owner on a cell, expected 0 to %d", m.count, MaxStack)
			}
			for i := range m.count {
				m.planes[i] |= 1 << cell
			}
		}
	}
	for i := range p.Sites {
		if err := g.restoreSite(s, q, &p.Sites[i]); err != nil {
			return fmt.Errorf("the building on its x %d, y %d: %w", p.Sites[i].Cell%Width, p.Sites[i].Cell/Width, err)
		}
	}
	return g.restoreTowers(s, q, p.Sites)
}

// restoreSite puts a building of player q on the board.
func (g *Game) restoreSite(s *State, q sim.Player, b *Site) error {
	h := &s.Half[q]
	if b.Cell < 0 || b.Cell >= Cells || h.Occupied>>(b.Cell&63)&1 != 0 {
		return fmt.Errorf("cell %d is taken or none, expected one building a cell", b.Cell)
	}
	if b.Kind >= Kind(len(textLetters)) || textLetters[b.Kind] == 0 {
		return fmt.Errorf("no building has kind %d", b.Kind)
	}
	rules := &g.rules.Buildings[b.Kind]
	round := int(s.Round)
	placed := round + b.BuildTime - rules.ConstructionTime
	if placed < 0 || placed >= round {
		return fmt.Errorf("constructionTimeLeft is %d, expected %d to %d: it was placed in a round before %d", b.BuildTime, rules.ConstructionTime-round, rules.ConstructionTime-1, round)
	}
	lost := rules.Health - b.Health
	if b.BuildTime > 0 && lost != 0 {
		return fmt.Errorf("health is %d, expected %d of an unfinished building", b.Health, rules.Health)
	}
	if lost < 0 || b.Health < 1 || lost%g.damage != 0 {
		return fmt.Errorf("health is %d, expected %d less the %d of each missile, and 1 at least", b.Health, rules.Health, g.damage)
	}
	bit := uint64(1) << b.Cell
	h.Occupied |= bit
	if b.Kind == Tesla {
		h.Type2, h.Type1 = h.Type2|bit, h.Type1|bit
	} else {
		buy := &g.cheap[placed&3][b.Kind+1]
		h.Type2 |= bit & buy.type2
		h.Type1 |= bit & buy.type1
		h.Type0 |= bit & buy.type0
	}
	h.setBorn(bit, placed)
	if b.BuildTime <= 0 {
		extra := g.extraHits[b.Kind] - lost/g.damage
		h.Live |= bit
		h.Extra0 |= bit & -uint64(extra&1)
		h.Extra1 |= bit & -uint64(extra>>1&1)
	} else if g.regular && b.Kind == Defense { // Half.Wait0
		h.Wait0 |= bit & -uint64(b.BuildTime>>1)
		h.Wait1 |= bit & -uint64(b.BuildTime&1)
	}
	least, most := 0, 0 // a tower waits for energy, too
	if b.Kind == Tesla && b.BuildTime <= 0 {
		most = rules.Cooldown
	} else if b.Kind == Attack {
		least = g.Cooldown(s, q, b.Cell)
		most = least
	}
	if b.Cooldown < least || b.Cooldown > most {
		return fmt.Errorf("weaponCooldownTimeLeft is %d, expected %d to %d by its age", b.Cooldown, least, most)
	}
	return nil
}

// restoreTowers fills in the list of the tesla towers of player q, the oldest first.
func (g *Game) restoreTowers(s *State, q sim.Player, sites []Site) error {
	var towers []Site
	for _, b := range sites {
		if b.Kind == Tesla {
			towers = append(towers, b)
		}
	}
	slices.SortFunc(towers, func(a, b Site) int { return cmp.Compare(a.BuildTime, b.BuildTime) })
	switch {
	case len(towers) > MaxTeslas:
		return fmt.Errorf("a third tesla tower of its player, expected %d at most", MaxTeslas)
	case len(towers) == 2 && towers[0].BuildTime == towers[1].BuildTime:
		return fmt.Errorf("two tesla towers with the same constructionTimeLeft: a player places one building per round")
	}
	h := &s.Half[q]
	for i, b := range towers {
		tower := &h.Tesla[i]
		*tower = Tower{Ready: int16(int(s.Round) + max(0, b.BuildTime) + b.Cooldown), Due: never, Cell: uint16(b.Cell)}
		if b.BuildTime > 0 {
			tower.Due = int16(int(s.Round) + b.BuildTime - 1)
		}
	}
	h.Teslas = uint16(len(towers))
	h.scheduleTeslas()
	return nil
}
